/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that is still being written, for the page of the viewer: what came is shown a moment later. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct states_waiter;
struct viewer;

/* Who writes the trace. */
struct viewer_writer {
	bool (*is_writing)(void *data);
	void *data;
	uint64_t budget_bytes; /* what the trace may take; 0: as much as there is */
};

/*
 * Shows what comes, until the trace has its end or nobody writes it. The waiter takes his pauses. 0; -ECANCELED; -ESTALE: the file has become
 * shorter; -EBADMSG: there is no trace; or another negative errno. Nothing is said, but on the page.
 */
int viewer_follow(struct viewer *viewer, const struct viewer_writer *writer, struct states_waiter *waiter);

/* The command has ended that was traced. */
void viewer_note_exit(struct viewer *viewer, int exit_status);

/* Nothing comes any more: the page says why. */
void viewer_stop(struct viewer *viewer, const char *message);
