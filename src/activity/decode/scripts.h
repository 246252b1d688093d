/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripts that a user has given: each a filter, a decoder, a handler of activities, or several of these. One that fails is disabled, alone,
 * and a note says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "activity/activity.h"

struct event_context;
struct named_event;
struct script_tables;
struct script_text;
struct scripts;

/*
 * Opens so many files, SCRIPTS_MAX at most, in their order; paths are borrowed. Activities go to sink; context, borrowed, says who their threads
 * are. 0, or a negative errno after having said which script is wrong, and where.
 * text: one more, in the last place, or NULL; borrowed. If that one is wrong it is disabled, and a note says why.
 */
int scripts_open(const char *const *paths, size_t count, const struct script_text *text, struct activity_sink sink,
		 const struct event_context *context, struct scripts **out);
void scripts_close(struct scripts *scripts);

/* Whether all filters pass the event. */
bool scripts_pass(struct scripts *scripts, const struct named_event *event);

/* Gives an event to the decoders that want it. */
void scripts_on_event(struct scripts *scripts, const struct named_event *event);

/* Gives an activity to the handlers of all scripts but the one that makes it. */
void scripts_on_activity(struct scripts *scripts, const struct activity *activity);

/* There are no more events. The tables are those of all scripts then. */
void scripts_finish(struct scripts *scripts);

/* There are no more events so far: tables are made as by scripts_finish(), and no activities. */
void scripts_look(struct scripts *scripts);

const struct script_tables *scripts_tables(const struct scripts *scripts);

bool scripts_have_filters(const struct scripts *scripts);

/* How many have failed. */
size_t scripts_failed(const struct scripts *scripts);

/* What the user has to know: failures, and what scripts print. NULL: there is no note numbered i, from 0 on. Not escaped. */
const char *scripts_note(const struct scripts *scripts, size_t i);
