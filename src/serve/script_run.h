/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script of a reader as it is run over the trace: over all events, or over those that a filter chooses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/script_language.h"
#include "base/text.h"
#include "serve/asked_filter.h"

struct json;
struct lane_activities;
struct lane_activities_options;
struct lanes;
struct turn;

enum { SCRIPT_NAME_BYTES = 64 };

struct script_run {
	char name[SCRIPT_NAME_BYTES];
	struct script_text text; /* its own copy */
	struct asked_filter asked;
	struct lane_activities *activities;
	bool is_forgotten; /* while it is busy: who is busy with it frees it */
};

/*
 * Copies name and text. options: how activities are found without it. asked: which events; taken over; NULL: all. NULL after a message: the
 * trace cannot be read.
 */
struct script_run *script_run_open(const struct lane_activities_options *options, const struct lanes *lanes,
				   const struct script_text *text, struct asked_filter *asked);

/* NULL is none. Nobody may look for it any more. */
void script_run_forget(struct script_run *run);

/* Goes on with it for a moment, away from the lock, unless too many do so. False: it was forgotten meanwhile. Not while it is busy. */
bool script_run_step(struct script_run *run, struct turn *turn);

/* Whether the trace cannot be read. Not while it is busy, as the following. */
bool script_run_has_no_trace(const struct script_run *run);

/* Puts the members is_complete, until_ns (since first_ns), has_failed, has_filter and notes. */
void script_run_put_state(const struct script_run *run, uint64_t first_ns, struct json *json);

/* Puts the member tables: statistics. */
void script_run_put_tables(const struct script_run *run, struct json *json);

/* How many tables of statistics there are. */
size_t script_run_tables(const struct script_run *run);
