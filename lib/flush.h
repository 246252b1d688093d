/* SPDX-License-Identifier: BSD-2-Clause */
/* When events are flushed by themselves: PINCHTRACE_FLUSH_AT. */
#pragma once

#include <stdint.h>

struct pinchtrace_ring;

/* Flushes if so much of the ring was not flushed before as the environment says. Async-signal-safe. */
void pinchtrace_flush_if_full(const struct pinchtrace_ring *ring);
