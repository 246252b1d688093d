/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of all events. */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t clock_ns(void);
