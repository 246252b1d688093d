/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/out/out_file.h"

enum { WRITTEN_AT_ONCE_BYTES = 256 << 10 };

static int say(const struct export_out *out, int err)
{
	const char *name = strcmp(out->path, "-") ? out->path : "standard output";

	if (out->failed)
		name = out->failed;
	return err == -EPIPE || out->is_said ? err : fail(err, "cannot write to %s%s", name, out_file_advice(err));
}

int export_out_open(const char *path, bool is_binary, struct export_out *out)
{
	int err;

	*out = (struct export_out){ .path = path };
	if (is_binary && !strcmp(path, "-") && isatty(STDOUT_FILENO))
		return fail_plain(-EINVAL,
				  "this format is binary and is not written to a terminal: give a file with -o");
	err = out_file_open(path, 0, &out->file);
	if (!err)
		err = out_file_begin(out->file);
	if (err) {
		out_file_close(out->file);
		out->file = NULL;
		return say(out, err);
	}
	return 0;
}

int export_out_open_directory(const char *path, struct export_out *out)
{
	*out = (struct export_out){ .path = path };
	if (!strcmp(path, "-"))
		return fail_plain(-EINVAL, "this format is a directory: name one that does not exist with -o");
	if (!mkdir(path, 0700))
		return 0;
	return errno == EEXIST ? fail_plain(-EEXIST, "%s exists: name a directory that does not", path)
			       : fail(-errno, "cannot create the directory %s", path);
}

void export_out_fail(struct export_out *out, int err, const char *failed)
{
	out->err = err;
	out->failed = failed;
	out->is_said = !failed;
}

static void write_all(struct export_out *out)
{
	size_t written = 0;

	while (!out->err && written < out->text.length) {
		ssize_t count = write(out_file_fd(out->file), out->text.bytes + written, out->text.length - written);

		if (count >= 0)
			written += count;
		else if (errno != EINTR)
			out->err = -errno;
	}
	out->text.length = 0;
}

void export_out_step(struct export_out *out)
{
	if (out->text.length >= WRITTEN_AT_ONCE_BYTES)
		write_all(out);
}

int export_out_close(struct export_out *out, bool is_whole)
{
	int err, closed;

	write_all(out);
	text_fini(&out->text);
	err = out->err;
	if (!err && is_whole && out->file)
		err = out_file_commit(out->file);
	closed = out_file_close(out->file);
	if (!err)
		err = closed;
	return err ? say(out, err) : 0;
}
