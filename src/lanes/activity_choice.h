/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which activities a choice of parts chooses: those with a chosen part of what their threads, where they begin and where they end, did while
 * they lasted. To find that out takes a look at the states of that time; what was found out for the last few choices is kept in the store.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lanes/activity_store.h"
#include "lanes/part_filter.h"

struct part_choice;

/* Those whose verdicts the store has, the last used one first; of a store of its own. Begins zeroed. */
struct activity_choices {
	struct part_filter filters[ACTIVITY_JUDGES];
	uint8_t judges[ACTIVITY_JUDGES]; /* by the place above: which verdicts + 1; 0: none yet */
};

/* For one answer. */
struct activity_chooser {
	struct activity_store *store;
	struct part_choice *choice; /* NULL: all are chosen */
	uint64_t deadline_ns;
	uint8_t judge;
	bool is_late; /* there was no time for some: they count as not chosen, and somebody has to ask again */
};

/* choice: borrowed, NULL: all. budget_ns: how long to look at states at most, but for one activity more. */
struct activity_chooser activity_choices_begin(struct activity_choices *choices, struct activity_store *store,
					       struct part_choice *choice, uint64_t budget_ns);

/* Whether the activity at that place of the store's list is chosen. */
bool activity_chooser_has(struct activity_chooser *chooser, size_t at);

/* The history has grown, or is another one: nothing is known. */
void activity_choices_forget(struct activity_choices *choices, struct activity_store *store);
