/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/live_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "derive/merge_ends.h"
#include "derive/merge_events.h"
#include "derive/merge_hosts.h"
#include "derive/merge_peers.h"
#include "derive/merge_source.h"
#include "derive/merge_switch.h"
#include "engine/carried_names.h"
#include "trace/trace_format.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

/* A source whose threads do not go on anywhere has ended when it was silent for so long after its end. */
static const uint64_t one_end_ns = 1000000000;

struct live_merge {
	struct trace_writer *writer;
	struct merge_source sources[MERGE_SOURCES_MAX];
	struct {
		bool is_over;  /* all of it is there */
		bool is_named; /* its names are written */
	} states[MERGE_SOURCES_MAX];
	size_t count;
	struct merge_hosts *hosts;   /* NULL: there is no source yet */
	struct merge_events *events; /* the same */
	struct space_numbers *written;
	struct table *notes;
	bool has_begun;
};

struct live_merge *live_merge_new(struct trace_writer *writer)
{
	struct live_merge *merge = xcalloc(1, sizeof(*merge));

	merge->writer = writer;
	merge->written = space_numbers_new();
	merge->notes = table_new();
	return merge;
}

void live_merge_free(struct live_merge *merge)
{
	if (!merge)
		return;
	merge_events_free(merge->events);
	for (size_t i = 0; i < merge->count; i++)
		merge_source_close(&merge->sources[i]);
	merge_hosts_free(merge->hosts);
	space_numbers_free(merge->written);
	table_free(merge->notes);
	free(merge);
}

/* --- Sources come, grow and end ------------------------------------------------------------------------ */

/* What is no trace may become one. */
static bool has_beginning(const char *path)
{
	const struct trace_extent *extent;
	struct trace_reader *reader;
	bool has_beginning;

	if (trace_reader_open(path, &reader))
		return false;
	extent = trace_reader_extent(reader);
	has_beginning = extent->begins_late || extent->is_ended;
	trace_reader_close(reader);
	return has_beginning;
}

static int join(struct live_merge *merge, struct merge_source *source)
{
	int err;

	if (merge->hosts) {
		err = merge_hosts_join(merge->hosts, source);
		if (!err)
			merge_events_join(merge->events);
		return err;
	}
	err = merge_hosts_new(merge->sources, 1, NULL, &merge->hosts);
	if (!err)
		merge->events = merge_events_new(merge->sources, 1, merge->writer, merge->written,
						 merge_hosts_peers(merge->hosts));
	return err;
}

int live_merge_add(struct live_merge *merge, const char *path, const char *name)
{
	struct merge_source *source = &merge->sources[merge->count];
	int err;

	if (merge->count == MERGE_SOURCES_MAX)
		return fail_plain(-ENOSPC, "%s is left out: at most %d sessions can be merged", name,
				  MERGE_SOURCES_MAX);
	if (!has_beginning(path))
		return -EAGAIN;
	err = merge_source_open(source, path, name, merge->written);
	if (!err)
		err = join(merge, source);
	if (err) {
		merge_source_close(source);
		*source = (struct merge_source){ 0 };
		return err;
	}
	source->is_growing = true;
	return merge->count++;
}

uint64_t live_merge_grow(struct live_merge *merge, int number)
{
	struct merge_source *source = &merge->sources[number];
	const struct trace_place *places;
	size_t count, at;

	trace_reader_grow(source->reader);
	places = trace_reader_places(source->reader, &count);
	at = trace_reader_at(source->reader);
	return at < count && places[at].kind == TRACE_CHUNK_EVENTS ? places[at].offset : 0;
}

void live_merge_end(struct live_merge *merge, int number)
{
	live_merge_grow(merge, number);
	merge->states[number].is_over = true;
}

/* --- What is written -------------------------------------------------------------------------------------- */

static void put_run(struct live_merge *merge)
{
	struct ev_collect_run *run = merged_run(merge->sources, merge->count, merge->hosts);

	if (run)
		trace_writer_event(merge->writer, &run->header);
	free(run);
}

static void put_names(struct live_merge *merge, size_t number)
{
	struct merge_source *source = &merge->sources[number];

	if (!merge->states[number].is_named)
		source->damaged_count += carried_names_copy(source->names, source->reader, merge->writer, merge->notes);
	merge->states[number].is_named = true;
}

/* Whether others go on without it shows after a while. */
static void end_sources(struct live_merge *merge, uint64_t now_ns)
{
	for (size_t i = 0; i < merge->count; i++) {
		struct merge_source *source = &merge->sources[i];

		if (!merge->states[i].is_over || !source->is_growing || source->first ||
		    source->last_ns + one_end_ns >= now_ns)
			continue;
		merge_events_end(merge->events, source, now_ns);
		put_names(merge, i);
	}
}

void live_merge_step(struct live_merge *merge, uint64_t until_ns, uint64_t now_ns)
{
	if (!merge->count || (!merge->has_begun && !merge_events_have(merge->events, until_ns)))
		return;
	if (!merge->has_begun)
		put_run(merge);
	merge->has_begun = true;
	merge_events_until(merge->events, until_ns);
	end_sources(merge, now_ns);
}

/* Of what has no end of its own. */
static struct ev_collect_end *end_with(uint64_t time_ns, const char *note)
{
	size_t text_bytes = strlen(note) + 1;
	struct ev_collect_end *e = xcalloc(1, sizeof(*e) + text_bytes);

	*e = (struct ev_collect_end){
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_END },
		.ended_ns = time_ns,
		.exit_status = UINT32_MAX,
		.text_bytes = text_bytes,
	};
	memcpy(e->notes, note, text_bytes);
	return e;
}

static struct ev_collect_end *end_of_all(struct live_merge *merge, uint64_t end_ns)
{
	struct ev_collect_end *end;

	for (size_t i = 0; i < merge->count; i++) {
		struct merge_source *source = &merge->sources[i];

		if (!source->end)
			source->end =
				end_with(source->last_ns, "a session ended without the end of its trace: it has no "
							  "names, and its losses are unknown");
		source->end->late += source->late_count;
	}
	end = merged_end(merge->sources, merge->count, merge->hosts,
			 merge_peers_count(merge_hosts_peers(merge->hosts)));
	if (end->ended_ns > end_ns)
		end->ended_ns = end->header.time_ns = end_ns;
	return end;
}

static void put_rest(struct live_merge *merge, uint64_t end_ns, uint64_t now_ns)
{
	if (!merge->has_begun)
		put_run(merge);
	merge->has_begun = true;
	for (size_t i = 0; i < merge->count; i++)
		merge_events_end(merge->events, &merge->sources[i], now_ns);
	merge_events_all(merge->events, end_ns);
}

void live_merge_finish(struct live_merge *merge, uint64_t end_ns, uint64_t now_ns)
{
	struct ev_collect_end *end;

	if (merge->count) {
		if (!merge->has_begun && !merge_events_have(merge->events, end_ns))
			end_ns = UINT64_MAX;
		put_rest(merge, end_ns, now_ns);
		end = end_of_all(merge, end_ns);
	} else {
		end = end_with(
			now_ns,
			"there was no session on this machine: pinch run, attach, record or scope with a target");
	}
	trace_writer_event(merge->writer, &end->header);
	free(end);
	for (size_t i = 0; i < merge->count; i++)
		put_names(merge, i);
}
