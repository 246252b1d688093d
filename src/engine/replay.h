/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace through the engine, as if it happened now. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct event_filter;
struct findings;
struct fold_rules;
struct replay;
struct wait_choice;

struct replay_options {
	bool has_critical_slices; /* as in struct engine_options */
	bool keeps_strips;        /* what each thread did when is kept, too */
	bool opens_files;         /* a trace without names has those of the files that it names */
	/* Of activities, as in struct engine_options. */
	const char *const *scripts;
	size_t script_count;
	struct event_filter *filter;
	const struct wait_choice *choice; /* as in struct findings_input; borrowed */
};

/*
 * Reads the trace to its end. 0, or a negative errno after
 * a message: of a trace that is damaged or was cut off, what can be read is taken, and the report
 * says so.
 */
int replay_open(const char *path, const struct replay_options *options, struct replay **out);
void replay_close(struct replay *replay);

/* For the caller to free; valid as long as the replay. */
struct findings *replay_findings(struct replay *replay, size_t path_count_max);

const struct fold_rules *replay_fold_rules(const struct replay *replay);
