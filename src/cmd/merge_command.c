/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "derive/derived_trace.h"
#include "derive/merge_ends.h"
#include "derive/merge_events.h"
#include "derive/merge_hosts.h"
#include "derive/merge_peers.h"
#include "derive/merge_source.h"
#include "derive/merge_switch.h"
#include "engine/carried_names.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

struct merge {
	struct merge_source sources[MERGE_SOURCES_MAX];
	const char *paths[MERGE_SOURCES_MAX];
	size_t count;
	struct space_numbers *written;
	struct merge_hosts *hosts;
	struct text info; /* of the first one */
};

static int open_all(struct merge *merge)
{
	int err = 0;

	merge->written = space_numbers_new();
	for (size_t i = 0; !err && i < merge->count; i++)
		err = merge_source_open(&merge->sources[i], merge->paths[i], merge->written);
	if (!err)
		err = merge_hosts_new(merge->sources, merge->count, &merge->hosts);
	if (!err)
		derived_info(merge->sources[0].reader, &merge->info);
	return err;
}

static void close_all(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++)
		merge_source_close(&merge->sources[i]);
	space_numbers_free(merge->written);
	merge_hosts_free(merge->hosts);
	text_fini(&merge->info);
}

static void put_all(struct merge *merge, struct trace_writer *writer)
{
	struct merge_events *events =
		merge_events_new(merge->sources, merge->count, writer, merge->written, merge_hosts_peers(merge->hosts));
	struct ev_collect_run *run = merged_run(merge->sources, merge->count, merge->hosts);
	struct ev_collect_end *end;
	struct table *notes = table_new();

	if (run)
		trace_writer_event(writer, &run->header);
	merge_hosts_put(merge->hosts, run ? run->header.time_ns : 0, writer);
	merge_events_all(events);
	end = merged_end(merge->sources, merge->count, merge->hosts,
			 merge_peers_count(merge_hosts_peers(merge->hosts)));
	if (end)
		trace_writer_event(writer, &end->header);
	for (size_t i = 0; i < merge->count; i++)
		merge->sources[i].damaged_count +=
			carried_names_copy(merge->sources[i].names, merge->sources[i].reader, writer, notes);
	merge_events_free(events);
	table_free(notes);
	free(run);
	free(end);
}

static int report_damage(const struct merge *merge)
{
	int err = 0;

	for (size_t i = 0; i < merge->count; i++) {
		const struct merge_source *source = &merge->sources[i];
		struct text left_out = { 0 };

		if (trace_put_left_out(source->reader, &left_out))
			warn("%s: %s", source->path, left_out.bytes);
		text_fini(&left_out);
		if (source->err)
			err = fail(source->err, "cannot read %s", source->path);
		else if (source->damaged_count || trace_reader_extent(source->reader)->unread_bytes)
			err = fail_plain(-EBADMSG,
					 "%s is damaged: the unreadable parts are left out; pinch check lists them",
					 source->path);
	}
	return err;
}

static int merge_into(struct merge *merge, const char *path)
{
	struct trace_writer *writer;
	int err = open_all(merge);

	if (!err)
		err = derived_open(path, &merge->info, &writer);
	if (err)
		return err;
	put_all(merge, writer);
	err = derived_close(writer, path);
	return err ? err : report_damage(merge);
}

static int merge_traces(const struct settings *settings, int argc, char **argv, int rest)
{
	struct merge *merge;
	int err;

	if (rest >= argc || !settings->trace_path) {
		fail_plain(-EINVAL, "no traces, or no -o OUT, given: pinch merge -o OUT FILE...");
		return EXIT_USAGE;
	}
	if (argc - rest > MERGE_SOURCES_MAX) {
		fail_plain(-EINVAL, "at most %d traces can be merged at once", MERGE_SOURCES_MAX);
		return EXIT_USAGE;
	}
	merge = xcalloc(1, sizeof(*merge));
	for (; rest < argc; rest++)
		merge->paths[merge->count++] = argv[rest];
	err = merge_into(merge, settings->trace_path);
	close_all(merge);
	free(merge);
	return err ? EXIT_FAILED : 0;
}

static int merge_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &merge_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&merge_command);
		else
			status = merge_traces(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = {
	made_trace_options,
	common_options,
	NULL,
};

const struct command merge_command = {
	.name = "merge",
	.usage = "-o OUT FILE...",
	.summary = "Merge several traces, of one host or of several, into one",
	.description = "OUT is what one pinch would have recorded that traced all of them. The FILEs may overlap\n"
		       "in time or follow each other. Of several hosts, clocks are needed: pinch record --clock.",
	.options = options,
	.run = merge_run,
};
