/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is written: every trace, report and history of states. It has no name, or one that nobody
 * knows, until it is committed; then it takes the place of what had its name, whatever that was, and is
 * never written by its name. It is the user's own, for nobody else to read, unless it replaces a file of
 * the user's that others may read.
 *
 * What is not a regular file is written as it is: a descriptor of ours, a device, a FIFO of the user's or of
 * root's. So is a file of the user's in a directory that is closed to us, or mounted by itself.
 *
 * Owns: each file that is written, its name, and how it takes its place.
 * Used by: session, trace, symbol, view, engine, query, rows, export, derive, scope, live, agent, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct out_file;

enum out_file_flags {
	OUT_FILE_LOCKED = 1, /* who else wants to write it is refused, and we are if another one does */
	OUT_FILE_SHOWN = 2,  /* one that was not there has its name from the beginning */
};

/*
 * Finds out whether the file can be written and opens what that needs, as long as nobody sees it. "-" is
 * standard output. -EBUSY: somebody else is writing it; -EEXIST: it is kept, see below; or another negative
 * errno. Nothing is said.
 */
int out_file_open(const char *path, unsigned int flags, struct out_file **out);

/*
 * The same for a name in a directory that is open already, and is only borrowed. -ENOTSUP: it has something that is
 * not a regular file; no link is followed.
 */
int out_file_open_at(int directory, const char *name, unsigned int flags, struct out_file **out);

/* Opens what is written. 0 or a negative errno. Waits for who reads, if it is a FIFO that is not to be locked. */
int out_file_begin(struct out_file *file);

/* What is written, once that is begun; the same one until the file is closed. */
int out_file_fd(const struct out_file *file);

/* Whether it has no positions: what is written comes behind what was. */
bool out_file_is_stream(const struct out_file *file);

/* Whether what is written is kept in memory, until it is committed. */
bool out_file_is_staged(const struct out_file *file);

/* Puts it in place; more may be written. 0, or a negative errno: then what was there still is. */
int out_file_commit(struct out_file *file);

/* Closes it; what is not committed is gone. 0, or the negative errno of the closing. Accepts NULL. */
int out_file_close(struct out_file *file);

/* What to do about an error, to come behind a message; or "". */
const char *out_file_advice(int err);

/* From here on no output of ours takes the place of this file, which is read, or has just been written. */
void out_file_keep(const char *path);
void out_file_keep_fd(int fd);
