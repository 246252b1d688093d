/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record_scopes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "clocks/clock_exchange.h"
#include "derive/merge_traces.h"
#include "options/settings.h"
#include "scope/address.h"
#include "scope/receiver.h"
#include "scope/receivers.h"
#include "scope/spool.h"
#include "trace/trace_reader.h"

struct scopes {
	struct receiver_options options[MERGE_SOURCES_MAX];
	struct received received[MERGE_SOURCES_MAX];
	struct clock_readings clocks;
	size_t count;
};

/* --- What was asked for -------------------------------------------------------------------------------- */

static bool has_tls(char *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (address_is_tls(addresses[i]))
			return true;
	return false;
}

/* The secrets are for those with TLS, of which there must be one. */
static int check_sources(struct scopes *scopes, const struct settings *settings, char *const *addresses)
{
	bool is_mixed = has_tls(addresses, scopes->count);
	int err = 0;

	for (size_t i = 0; !err && i < scopes->count; i++) {
		bool has_secrets = address_is_tls(addresses[i]) || !is_mixed;

		scopes->options[i] = (struct receiver_options){
			.address = addresses[i],
			.ca = has_secrets ? settings->stream.tls_ca : NULL,
			.token = has_secrets ? settings->stream.token : NULL,
			.is_quiet = settings->is_quiet,
		};
		scopes->received[i].options = &scopes->options[i];
		err = receiver_check(&scopes->options[i]);
	}
	return err;
}

/* Before hours of work, rather than behind them. */
static int check_output(const char *path)
{
	struct out_file *file;
	int err = out_file_open(path, OUT_FILE_LOCKED, &file);

	if (err)
		return fail(err, "cannot write the trace %s%s", path, out_file_advice(err));
	out_file_close(file);
	return 0;
}

/* --- What came ------------------------------------------------------------------------------------------- */

static bool is_empty(const struct received *received)
{
	struct stat status;

	return fstat(spool_fd(received->spool), &status) || !status.st_size;
}

/* One that cannot be read at all, who merges it says. */
static bool has_no_end(const struct received *received)
{
	struct trace_reader *reader;
	bool is_ended;

	if (trace_reader_open(spool_path(received->spool), &reader))
		return false;
	is_ended = trace_reader_extent(reader)->is_ended;
	trace_reader_close(reader);
	return !is_ended;
}

static void keep(const struct received *received, const char *path, size_t number)
{
	struct text name = { 0 };
	int err;

	text_printf(&name, "%s.%zu", strcmp(path, "-") ? path : "trace.pinch", number + 1);
	err = spool_keep(received->spool, name.bytes);
	if (err)
		fail(err, "cannot write %s, what came from %s, either", name.bytes, received->options->address);
	else
		warn("what came from %s is in %s", received->options->address, name.bytes);
	text_fini(&name);
}

/* What cannot be merged is kept as it is. */
static int merge(struct scopes *scopes, const char *path)
{
	struct merge_input inputs[MERGE_SOURCES_MAX];
	size_t count = 0;
	bool is_written;
	int err = 0, merge_err;

	for (size_t i = 0; i < scopes->count; i++) {
		const struct received *received = &scopes->received[i];
		const char *address = received->options->address;

		if (received->has_failed)
			err = -EIO;
		if (is_empty(received))
			continue;
		if (has_no_end(received)) {
			warn("%s was cut off: what came until then is used", address);
			err = -EIO;
		}
		inputs[count++] = (struct merge_input){ spool_path(received->spool), address };
	}
	if (!count)
		return err ? err : -EIO;
	merge_err = merge_traces(inputs, count, &scopes->clocks, path, &is_written);
	for (size_t i = 0; !is_written && i < scopes->count; i++)
		if (!is_empty(&scopes->received[i]))
			keep(&scopes->received[i], path, i);
	return merge_err ? merge_err : err;
}

int record_scopes(const struct settings *settings, char *const *addresses, size_t count)
{
	const char *path = settings->trace_path;
	struct scopes scopes = { .count = count };
	int err;

	if (count > MERGE_SOURCES_MAX) {
		fail_plain(-EINVAL, "at most %d scopes can be recorded at once", MERGE_SOURCES_MAX);
		return EXIT_USAGE;
	}
	if (check_sources(&scopes, settings, addresses))
		return EXIT_USAGE;
	err = check_output(path);
	if (!err)
		err = receivers_run(scopes.received, count, settings->duration_ns, &scopes.clocks);
	if (!err)
		err = merge(&scopes, path);
	for (size_t i = 0; i < count; i++)
		spool_close(scopes.received[i].spool);
	free(scopes.clocks.list);
	if (!err && !settings->is_quiet && strcmp(path, "-"))
		fprintf(stderr, "pinch: wrote %s; see pinch report %s\n", path, path);
	return err ? EXIT_FAILED : 0;
}
