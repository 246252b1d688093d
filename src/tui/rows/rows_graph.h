/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for what is made when it is wanted. */
#pragma once

#include "tui/rows/graphs.h"

struct rows;

/* In its place, while it is made or when it could not be. */
void rows_add_making(struct rows *rows, enum graphs_part part);
