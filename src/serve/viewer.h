/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for the page of the viewer: answers its requests. While the history of states is made, it says how far that is.
 * Answers may be asked for by several threads; one at a time looks at the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reply;
struct request;
struct states_waiter;
struct viewer;

struct viewer_options {
	const char *path;           /* of the trace */
	const char *name;           /* how the user calls it */
	bool opens_files;           /* a trace without names has those of the files that it names */
	const char *const *scripts; /* paths, borrowed: their decoders find activities */
	size_t script_count;
};

/* Nothing is read yet. Strings are borrowed. */
struct viewer *viewer_new(const struct viewer_options *options);
void viewer_free(struct viewer *viewer);

/* Reads the trace, and makes its history of states if there is none yet. 0; -ECANCELED; or another negative errno, after a message. */
int viewer_load(struct viewer *viewer, struct states_waiter *waiter);

/* data: the viewer. */
void viewer_answer(void *data, const struct request *request, struct reply *reply);
