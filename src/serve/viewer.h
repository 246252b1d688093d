/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for the page of the viewer: answers its requests. While the history of states is made, it says how far that is.
 * Answers may be asked for by several threads; one at a time looks at the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct reply;
struct request;
struct states_waiter;
struct viewed;
struct viewed_options;
struct viewer;

struct viewer_options {
	const char *path;           /* of the trace */
	const char *name;           /* how the user calls it */
	const char *other_name;     /* of the trace that the page compares it with; NULL: of none */
	const char *what;           /* is recorded there, in words; NULL: it is a file */
	bool opens_files;           /* a trace without names has those of the files that it names */
	const char *const *scripts; /* paths, borrowed: their decoders find activities */
	size_t script_count;
};

/* Nothing is read yet. Strings are borrowed. */
struct viewer *viewer_new(const struct viewer_options *options);
void viewer_free(struct viewer *viewer);

/* The user's own, for folding, before anything else. 0 or a negative errno, after a message. */
int viewer_read_rules(struct viewer *viewer);

/* data: the viewer. */
void viewer_answer(void *data, const struct request *request, struct reply *reply);

/* --- Of a trace that grows (viewer_follow.h), or of which the history does (viewer_load.h) ------------ */

enum { VIEWER_MESSAGE_BYTES = 200 };

struct viewer_progress {
	enum view_phase phase;
	bool was_followed; /* it grew while it was viewed */
	int exit_status;   /* of the command; -1: it has not ended, or there is none */
	uint64_t trace_bytes, budget_bytes, index_bytes;
	char message[VIEWER_MESSAGE_BYTES]; /* what went wrong; "": nothing */
};

/* How what is viewed is to be opened: times go on counting from the first event of what was shown first, which a ring may have overwritten since. */
struct viewed_options viewer_viewed_options(struct viewer *viewer);

/*
 * Shows viewed from here on, and owns it; NULL: shows the same as before. What was shown before is closed before this returns: as soon as
 * nobody has the lock who looks at it, and those who run scripts of it are back (turn.h), which may take seconds.
 */
void viewer_show(struct viewer *viewer, struct viewed *viewed, const struct viewer_progress *progress);

/* What is seen has grown. 0 or a negative errno. */
int viewer_grow(struct viewer *viewer, struct viewed *viewed, const struct viewer_progress *progress);

/* Whether there is anything to see. */
bool viewer_has_any(struct viewer *viewer);

struct viewer_progress viewer_progress(struct viewer *viewer);

/* Whose percent says how far the history is; NULL: it is not being made. */
void viewer_set_waiter(struct viewer *viewer, struct states_waiter *waiter);
