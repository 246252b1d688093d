/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_traces.h"

#include <assert.h>
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
#include "engine/carried_names.h"
#include "engine/trace_open.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

struct merge {
	struct merge_source sources[MERGE_SOURCES_MAX];
	size_t count; /* opened or not */
	struct space_numbers *written;
	struct merge_hosts *hosts;
	struct text info; /* of the first one */
};

static int open_all(struct merge *merge, const struct merge_input *inputs, const struct clock_readings *clocks)
{
	int err = 0;

	merge->written = space_numbers_new();
	for (size_t i = 0; !err && i < merge->count; i++)
		err = merge_source_open(&merge->sources[i], inputs[i].path, inputs[i].name, merge->written);
	if (!err)
		err = merge_hosts_new(merge->sources, merge->count, clocks, &merge->hosts);
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
	free(merge);
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
	merge_events_all(events, UINT64_MAX);
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
			warn("%s: %s", source->name, left_out.bytes);
		text_fini(&left_out);
		if (source->err)
			err = fail(source->err, "cannot read %s", source->name);
		else if (source->damaged_count || trace_reader_extent(source->reader)->unread_bytes)
			err = fail_plain(-EBADMSG,
					 "%s is damaged: the unreadable parts are left out; pinch check lists them",
					 source->name);
	}
	return err;
}

static int write_all(struct merge *merge, const char *path)
{
	struct trace_writer *writer;
	int err = derived_open(path, &merge->info, &writer);

	if (err)
		return err;
	put_all(merge, writer);
	return derived_close(writer, path);
}

int merge_traces(const struct merge_input *inputs, size_t count, const struct clock_readings *clocks, const char *path,
		 bool *is_written)
{
	struct merge *merge = xcalloc(1, sizeof(*merge));
	int err;

	assert(count <= MERGE_SOURCES_MAX);
	merge->count = count;
	err = open_all(merge, inputs, clocks);
	if (!err)
		err = write_all(merge, path);
	*is_written = !err;
	if (!err)
		err = report_damage(merge);
	close_all(merge);
	return err;
}
