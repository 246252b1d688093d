/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a run would have been, had something in it been shorter, or had there been more CPUs: a replay of
 * it with that, by the replay of it as it was.
 *
 * Owns: runs replayed with something changed.
 * Used by: compare, view/trace, options, query, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/critical_path.h"
#include "whatif/code_runs.h"
#include "whatif/element.h"
#include "whatif/holds.h"

struct whatif {
	const struct lives *lives;
	uint64_t recorded_ns; /* from the first thread's beginning to the end of the last one that is awaited */
	uint64_t replay_ns;   /* the same, replayed as it was */
	uint64_t free_ns;     /* the same, with locks in the order in which threads come to them */
	uint32_t cpu_count;   /* on how many threads ran */
	uint64_t *since_ns[HOLD_GUESSES];
	struct code_runs runs;
	char more_cpus[16]; /* one more, as text */
};

/* lives and code must live as long. The caller ends it with whatif_fini(). */
void whatif_init(struct whatif *whatif, const struct lives *lives, const struct run_code *code);
void whatif_fini(struct whatif *whatif);

struct whatif_change {
	const struct element_choice *choice; /* NULL: none */
	double scale;                        /* of the lengths: 0 to 1 */
	uint32_t cpu_count;
};

struct whatif_answer {
	uint64_t predicted_ns;
	uint64_t least_ns, most_ns; /* as far as the recording leaves it open; of code: two standard errors */
	struct code_count samples;  /* of the code */
	struct critical_path path;  /* of the replay that is predicted: for critical_path_fini() */
};

void whatif_predict(const struct whatif *whatif, const struct whatif_change *change, struct whatif_answer *out);

struct replay;

/* The replay that is predicted, for replay_fini(). */
void whatif_replay(const struct whatif *whatif, const struct whatif_change *change, struct replay *out);

/* How much of the run's time is gained; negative: it takes longer. */
double whatif_gain(const struct whatif *whatif, uint64_t predicted_ns);

struct whatif_rank {
	struct element element;
	uint64_t predicted_ns;
	double error; /* of the running time of code, two standard errors, as a part of it */
};

/* With one more CPU, too. Those of which most is gained, the best first; at most capacity. Returns how many. */
size_t whatif_rank(const struct whatif *whatif, struct graph_labels *labels, double scale, struct whatif_rank *ranks,
		   size_t capacity);
