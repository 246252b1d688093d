/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread of a profile of Firefox Profiler as JSON: an array for each column of its samples and markers. */
#pragma once

#include <stdint.h>

struct export_out;
struct firefox_thread;
struct spill;

/* string_count: of the strings before those of wake-ups. Times are ms since first_ns. */
struct firefox_writing {
	struct export_out *out;
	struct spill *spill;
	uint64_t first_ns;
	uint32_t string_count;
};

void firefox_thread_put(const struct firefox_writing *writing, const struct firefox_thread *thread);
