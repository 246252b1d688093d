/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be asked to be shorter: waits by what they are for, where they are, or why; and code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct code_runs;
struct graph_labels;
struct lives;
struct run_code;

/* Of places where threads ran, not of waits. */
bool element_is_code(enum element_kind kind);

struct element {
	enum element_kind kind;
	const char *name; /* the labels' */
	/* Of its waits, or of its samples and what these stand for; of a function's, with what it calls. */
	uint64_t ns, count;
	uint64_t own_ns;    /* of a function's: of those that are called after it */
	uint64_t others_ns; /* of waits: what threads of the replay did then, but for holding a lock */
};

/* What is to be shorter: of lives->waits, and of the places in the code. */
struct element_choice {
	bool *waits, *places;
	bool *wakeups; /* those of lives->waits */
};

/* The caller ends it with element_choice_fini(). */
void element_choice_init(struct element_choice *choice, const struct lives *lives, const struct run_code *code);
void element_choice_fini(struct element_choice *choice);

/* Sets what is chosen, by a kind below ELEMENT_CPUS. Places have to be named. Returns how many waits or places it is. */
size_t element_choose(const struct code_runs *runs, struct graph_labels *labels, enum element_kind kind,
		      const char *name, struct element_choice *choice);

/*
 * All that threads waited for, and the functions in which they ran, those of most time first. Left out are waits
 * that for the most part are as long as what other threads of the replay do, for their end, at a barrier, for an item
 * or an answer: what these do is code of its own; and functions that wait or run for the most part in others that they
 * call. The caller frees the array.
 */
struct element *elements_of(const struct code_runs *runs, struct graph_labels *labels, size_t *count);
