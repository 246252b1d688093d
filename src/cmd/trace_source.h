/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that a command was given: a file, standard input (-), or what a scope sends. */
#pragma once

struct settings;
struct spool;

struct trace_source {
	const char *path;    /* to be opened */
	struct spool *spool; /* NULL: it is a file */
};

/* Receives it if need be. 0, -EINVAL: wrong usage; or another negative errno; after a message. */
int trace_source_open(const struct settings *settings, const char *argument, struct trace_source *out);
void trace_source_close(struct trace_source *source);

/* A scope's trace goes to the file that the settings name. Returns an exit status, after a message. */
int trace_source_record(const struct settings *settings, const char *argument);
