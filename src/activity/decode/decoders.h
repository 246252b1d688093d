/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The activities of a session, found in one pass by decoders: those built in, and the user's scripts. All of them see the events that the
 * filter and the filters of scripts pass, and no others.
 *
 * Owns: decoders of activities and scripts.
 * Used by: findings/parts, engine, lanes, rows, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"

struct decoders;
struct activity_sums;
struct event_context;
struct ev_header;
struct event_filter;
struct event_kind;
struct hint;
struct named_event;
struct script_tables;
struct script_text;
struct session;
struct text;
struct threads;

struct decoders_options {
	const char *const *scripts; /* paths, borrowed */
	size_t script_count;
	const struct script_text *text; /* one more script, borrowed; NULL: none */
	struct event_filter *filter;    /* borrowed; NULL: all events */
	struct activity_sink sink;      /* gets each activity as it ends; take may be NULL */
	bool only_filters;              /* no decoder runs: decoders_pass() will be asked */
};

/*
 * Subscribes to session, to be opened after threads and before any that forgets threads. 0, or a negative errno after having said what
 * is wrong with a script.
 */
int decoders_open(struct session *session, struct threads *threads, const struct decoders_options *options,
		  struct decoders **out);
void decoders_close(struct decoders *decoders);

/* When the trace begins; before any event. */
void decoders_set_first(struct decoders *decoders, uint64_t first_ns);

/* An event laid out as kind says, by names, for decoders_pass(). */
struct named_event decoders_name(const struct decoders *decoders, const struct event_kind *kind,
				 const struct ev_header *stored, size_t stored_bytes);

/* Whether filter and scripts pass it. */
bool decoders_pass(struct decoders *decoders, const struct named_event *event);

/* There are no more events. May be called again: it does nothing then. */
void decoders_finish(struct decoders *decoders);

/* The same for statistics of scripts alone, of what there is so far: events may follow, and activities are not made. */
void decoders_look(struct decoders *decoders);

/* Statistics, once decoders_finish() or decoders_look() was called; valid until that is called again. */
const struct script_tables *decoders_tables(const struct decoders *decoders);

const struct activity_sums *decoders_sums(const struct decoders *decoders);

/* What is unusual among the events of programs' own so far: how many, at most HINTS_MAX (hints.h). */
size_t decoders_hints(const struct decoders *decoders, struct hint *out);

/* Who and where events are from. */
const struct event_context *decoders_context(const struct decoders *decoders);

/* The note numbered i, from 0 on, of what the user has to know; not escaped. False: there is none. */
bool decoders_put_note(const struct decoders *decoders, size_t i, struct text *note);

/* As options had it. */
const struct event_filter *decoders_filter(const struct decoders *decoders);

bool decoders_has_script_filters(const struct decoders *decoders);

/* How many scripts have failed. */
size_t decoders_failed_scripts(const struct decoders *decoders);
