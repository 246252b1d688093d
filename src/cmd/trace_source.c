/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/trace_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "options/settings.h"
#include "scope/address.h"
#include "scope/receiver.h"
#include "scope/spool.h"

static struct receiver_options options_of(const struct settings *settings, const char *address)
{
	return (struct receiver_options){
		.address = address,
		.ca = settings->stream.tls_ca,
		.token = settings->stream.token,
		.duration_ns = settings->duration_ns,
		.is_quiet = settings->is_quiet,
	};
}

int trace_source_open(const struct settings *settings, const char *argument, struct trace_source *out)
{
	struct receiver_options options = options_of(settings, argument);

	bool is_input = !strcmp(argument, "-"), is_stream = address_is_stream(argument);
	int err = 0;

	*out = (struct trace_source){ .path = argument };
	if (is_stream)
		err = spool_open(&options, &out->spool);
	else if (is_input)
		err = spool_open_fd(STDIN_FILENO, &out->spool);
	if (out->spool)
		out->path = spool_path(out->spool);
	if (is_stream || err)
		return err;
	if (options.token || options.ca || options.duration_ns)
		return fail_plain(-EINVAL,
				  "--duration, --token and --tls-ca are for the trace of a scope, such as "
				  "tcp:127.0.0.1:7466, not for %s",
				  argument);
	return 0;
}

void trace_source_close(struct trace_source *source)
{
	spool_close(source->spool);
}

static int fail_to_write(const char *path, int err)
{
	if (err == -EBUSY)
		return fail_plain(err, "another pinch is writing %s: give another file to -o", path);
	return fail(err, "cannot write the trace %s%s", path, out_file_advice(err));
}

/* What came is kept, however it ended. */
static int receive(const struct receiver_options *options, const char *path, struct out_file *file)
{
	int err = out_file_begin(file), commit_err;

	if (err)
		return fail_to_write(path, err);
	if (out_file_is_stream(file) && isatty(out_file_fd(file)))
		return fail_plain(-EINVAL, "a trace cannot go to a terminal: give a file to -o, or use a pipe");
	err = receiver_run(options, out_file_fd(file));
	if (err == -EBADMSG || err == -EINVAL)
		return err;
	commit_err = out_file_commit(file);
	return commit_err ? fail_to_write(path, commit_err) : err;
}

int trace_source_record(const struct settings *settings, const char *argument)
{
	struct receiver_options options = options_of(settings, argument);
	const char *path = settings->trace_path;
	struct out_file *file;
	int err = out_file_open(path, OUT_FILE_LOCKED | OUT_FILE_SHOWN, &file), close_err;

	if (err) {
		fail_to_write(path, err);
		return EXIT_FAILED;
	}
	err = receive(&options, path, file);
	close_err = out_file_close(file);
	if (!err && close_err)
		err = fail_to_write(path, close_err);
	if (!err && !settings->is_quiet && strcmp(path, "-"))
		fprintf(stderr, "pinch: wrote %s; see pinch report %s\n", path, path);
	return !err ? 0 : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}
