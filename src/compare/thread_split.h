/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether two groups of executions differ because other threads did them: each thread has executions of one of the two
 * only, and several of these. Such threads may have different tasks, and then a comparison says what those are and not
 * why some executions are slow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "compare/groups.h"

struct executions;

/* *most: the number of the thread that has most executions of the two groups. */
bool thread_split_find(const struct executions *executions, const struct groups *groups, unsigned int first,
		       unsigned int second, uint32_t *most);
