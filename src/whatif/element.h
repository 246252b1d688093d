/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be asked to be shorter: waits by what they are for, where they are, or why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph_labels;
struct lives;

enum element_kind { ELEMENT_LOCK, ELEMENT_PATH, ELEMENT_CAUSE, ELEMENT_KINDS };

/* "lock", "path", "cause". */
const char *element_kind_name(enum element_kind kind);

struct element {
	enum element_kind kind;
	const char *name;   /* the labels' */
	uint64_t ns, count; /* of its waits; of a path's, with those in functions that it calls */
	uint64_t own_ns;    /* of a path's: of those that are called after it */
};

/* Sets is_chosen of each of lives->waits. Returns how many of these it is. */
size_t element_choose(const struct lives *lives, struct graph_labels *labels, enum element_kind kind, const char *name,
		      bool *is_chosen);

/*
 * All that threads waited for, those that were waited for longest first; not their waits for each other's
 * end, which are as long as all that these did, nor functions that wait for the most part in others that they
 * call. The caller frees the array.
 */
struct element *elements_of(const struct lives *lives, struct graph_labels *labels, size_t *count);
