/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the history of states of a trace is kept: beside the trace, if nobody but the user and root can change
 * what is in that directory, or else in the user's own cache. Whoever can write beside a trace could put there
 * what we read, or take away what we write.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct out_file;
struct trace_reader;

enum { STATES_PLACES_MAX = 2 };

struct states_place {
	int directory;          /* nobody else can write there */
	struct text name, path; /* in it; for messages */
	bool is_cache;
};

struct states_places {
	struct states_place list[STATES_PLACES_MAX]; /* the best one first */
	unsigned int count;
};

void states_places_find(const char *trace_path, const struct trace_reader *trace, struct states_places *out);
void states_places_fini(struct states_places *places);

/* What is there, if it is a file that only the user or root can have written; to be closed. -1: nothing. */
int states_place_open(const struct states_place *place);

/* What is there has been used: in a cache, others go first. */
void states_place_use(const struct states_place *place);

/*
 * Opens the file that is to be there. Removes what runs that were killed have left there, and from a cache what has not
 * been used for long, if it is full. 0 or a negative errno; nothing is said.
 */
int states_place_make(const struct states_place *place, struct out_file **out);
