/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where to begin to look: the stretch of time in which one thread lost most. doc/metrics.md, "States, graphs and
 * critical paths", says what is lost in a history of states.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct files;
struct states;

struct lost_stretch {
	uint32_t thread;
	uint64_t begin_ns, end_ns;
	uint64_t lost_ns; /* at most its length */
};

/*
 * Of all stretches of the threads' lives in [from_ns, to_ns) that consist of whole states, the one with most lost time
 * after a ninth of the time in it that was not lost has been taken off: so a tenth of what is at either end is lost.
 * Of equal ones that of the first thread. files: NULL: none is known. False: none of the threads lost any.
 */
bool lost_most_find(struct states *states, const struct files *files, const uint32_t *threads, size_t count,
		    uint64_t from_ns, uint64_t to_ns, struct lost_stretch *out);
