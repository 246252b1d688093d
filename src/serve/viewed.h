/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is known of a trace by its history of states, whole or growing. Who looks at it has the viewer's lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lanes/lanes.h"
#include "query/trace_states.h"
#include "serve/turn.h"
#include "states/states.h"

struct event_list;
struct fair_lock;
struct fold_rules;
struct graph_labels;
struct lane_activities;
struct lane_marks;
struct page_scripts;
struct part_choices;
struct row_lists;
struct states_waiter;

struct viewed {
	const char *trace_path;
	const struct fold_rules *fold;
	struct trace_states all;
	struct lanes lanes;
	uint64_t key; /* lanes_key() */
	struct graph_labels *labels;
	struct event_list *events;
	struct lane_marks *marks;
	struct lane_activities *activities;
	struct page_scripts *scripts; /* of its readers */
	struct row_lists *rows;
	struct part_choices *choices;
	struct turn turn; /* scripts of its readers run away from it, and long answers give way */
	struct states_pause pause;
	bool is_growing;
};

/* What it is of; borrowed. */
struct viewed_options {
	const char *trace_path;
	struct fair_lock *lock; /* the viewer's */
	uint64_t first_ns;      /* since when times count; CLOCK_MONOTONIC, 0: since the first event */
	const struct fold_rules *fold;
	bool opens_files;           /* names are those of the files that the trace names, if it has none itself */
	const char *const *scripts; /* paths: their decoders find activities */
	size_t script_count;
};

/* Makes the history if there is none yet. 0; -ECANCELED; or another negative errno, after a message. */
int viewed_open(const struct viewed_options *options, struct states_waiter *waiter, struct viewed **out);

/* By a history that is being made. 0 or a negative errno. */
int viewed_open_growing(const struct viewed_options *options, const char *states_path, struct viewed **out);

/* Nobody may find it any more; the caller has the lock: waits for those who run scripts of it. Then it may be closed. */
void viewed_leave(struct viewed *viewed);
void viewed_close(struct viewed *viewed);

/* Takes what came since. 0 or a negative errno. */
int viewed_grow(struct viewed *viewed);

/* Whether it begins later than what was shown first: a ring has overwritten what was before. */
bool viewed_begins_later(const struct viewed *viewed);

/* Whether there is anything to show. */
bool viewed_has_begun(const struct viewed *viewed);
