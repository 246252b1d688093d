/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracing with the terminal UI: what `pinch run --tui` and `pinch attach --tui` have in common.
 * Makes newer reports as time goes by, at most twice a second and with at most a tenth of a CPU.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "live/tracing.h"

struct live;

struct live_options {
	struct tracing *tracing; /* borrowed, as is all of this */
	const struct settings *settings;
	const struct outcome *outcome; /* its exit status may come later */
	const char *command;           /* what is traced, to be shown */
	bool has_command;              /* one was started for this */
	int output_fd;                 /* what it writes can be read here; -1: nothing */
};

/* Takes the terminal. 0, or a negative errno after a message. */
int live_open(const struct live_options *options, struct live **out);

/* Gives the terminal back. */
void live_close(struct live *live);

/*
 * One step of tracing, or one wait when that is over, and what the user does meanwhile. Returns the
 * number of a signal that the caller has to deal with, too; 0: none.
 */
int live_step(struct live *live, pid_t *sender);

/* The user, or a signal, wants no more tracing. */
bool live_wants_end(const struct live *live);

/* Ends the tracing; the final report is shown then. */
void live_end(struct live *live);
bool live_is_over(const struct live *live);

/* The user wants to leave, or has to. */
bool live_wants_quit(const struct live *live);
