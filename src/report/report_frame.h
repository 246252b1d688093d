/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame of a call path with its names, as reports show it. frame.def says what is in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#include "report/forms/declare.def"
#include "report/frame.def"
#include "report/forms/undef.def"
/* clang-format on */
