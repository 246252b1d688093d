/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a rendered report goes: a file (base/out/out_file.h), "-" for standard output, NULL for standard error.
 * A file is put in place only when all of the report was written.
 */
#pragma once

struct text;

/*
 * Whether output_write() is going to be able to write there, as far as can be known, so that
 * nobody traces for an hour without effect. Changes nothing that can be seen, and keeps open what
 * output_write() needs, so that it takes no privilege any more to find it. -errno, after a
 * message, if not.
 */
int output_check(const char *path);

/*
 * Writes it all or says why not, and then leaves an old file as it was. -EPIPE without a
 * message when the reader went away; the caller ignores SIGPIPE.
 */
int output_write(const char *path, const struct text *text);
