/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent has done so far, and how it tells that; what a rollup says of its window. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct text;

struct agent_counts {
	uint64_t windows, triggered, ignored, failed; /* ignored: triggers for which there was no budget */
	uint64_t watched_ns, since_begin_ns;
	uint64_t cpu_ns; /* of all windows and of the agent, in the kernel, too */
	uint64_t rollup_bytes, store_bytes;
};

void agent_counts_put(const struct agent_counts *counts, double budget, bool is_openmetrics, struct text *out);

struct agent_rollup {
	uint64_t watched_ns, bpf_ns, size_bytes;
};

/* Its first line. 0, or a negative errno: it is damaged. Nothing is said. */
int agent_rollup_read(const char *path, struct agent_rollup *rollup);
