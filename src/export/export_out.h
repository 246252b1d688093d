/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an export is written to, piece by piece. Errors are kept: what comes after one is not written. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct out_file;

struct export_out {
	struct text text;      /* what is to be written: formats put more behind it */
	struct out_file *file; /* NULL: a directory, which the format fills */
	const char *path;
	const char *failed; /* what err is of, if not of path; NULL: it is of path */
	bool is_said;       /* there was a message about err */
	int err;
};

/* path: "-" is standard output. 0 or a negative errno, after a message: so for a terminal if what comes is binary. */
int export_out_open(const char *path, bool is_binary, struct export_out *out);

/* Makes a directory, for its owner alone, that is not there yet. 0 or a negative errno, after a message. */
int export_out_open_directory(const char *path, struct export_out *out);

/* Keeps an error: failed is what could not be written, and lives as long; NULL: there was a message. */
void export_out_fail(struct export_out *out, int err, const char *failed);

/* Writes what there is, if it is much. */
void export_out_step(struct export_out *out);

/* Writes the rest; the file takes its place unless there was an error before. 0 or a negative errno, after a message unless -EPIPE. */
int export_out_close(struct export_out *out, bool is_whole);
