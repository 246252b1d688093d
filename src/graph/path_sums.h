/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a critical path is made of: its parts by who, why and where. */
#pragma once

#include "graph/critical_path.h"

struct graph_labels;

struct path_sum {
	struct path_part part; /* one of them */
	uint64_t ns, count, max_ns;
};

/*
 * Parts are one whose threads, kinds and waits are called alike. By time, most first; the sums add up to
 * the path. The caller frees the array.
 */
struct path_sum *path_sums(const struct critical_path *path, struct graph_labels *labels, size_t *count);

/* Who does what, or waits for what: "worker-1 (tid 4711)", "running". */
const char *path_part_who(struct graph_labels *labels, const struct path_part *part);
const char *path_part_what(struct graph_labels *labels, const struct path_part *part);

/* What ends the wait that the part is: "disk", "sshd (tid 5, not traced)"; NULL: it is not a wait. */
const char *path_part_end(struct graph_labels *labels, const struct path_part *part);
