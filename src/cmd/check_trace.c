/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/check_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/text.h"
#include "engine/trace_info.h"
#include "engine/trace_open.h"
#include "options/command.h"
#include "symbol/answer/answer_book.h"
#include "trace/trace_reader.h"

enum { DAMAGE_LINES_MAX = 20 };

struct trace_check {
	const char *path;
	struct trace_reader *reader;
	uint64_t events, first_ns, last_ns; /* of those that could be read */
	size_t damaged_count;               /* of chunks */
	uint64_t lost;                      /* records, as collect.GAP has them */
	bool has_end, has_names;
	struct text origin; /* ", by pinch 0.1.0 on HOST, kernel 6.1" */
	struct text damage; /* a line for each chunk, up to DAMAGE_LINES_MAX */
};

static void note_damage(struct trace_check *check, size_t chunk)
{
	static const char *const contents[TRACE_CHUNK_KINDS] = {
		[TRACE_CHUNK_INFO] = "information", [TRACE_CHUNK_FORMS] = "forms", [TRACE_CHUNK_EVENTS] = "events",
		[TRACE_CHUNK_INDEX] = "the index",  [TRACE_CHUNK_NAMES] = "names",
	};
	size_t count;
	const struct trace_place *place = &trace_reader_places(check->reader, &count)[chunk];
	const char *content = place->kind < TRACE_CHUNK_KINDS ? contents[place->kind] : NULL;

	if (check->damaged_count++ >= DAMAGE_LINES_MAX)
		return;
	text_printf(&check->damage, "  at byte %" PRIu64 ": ", place->offset);
	if (place->kind == TRACE_CHUNK_LOST)
		text_put(&check->damage, "data is missing here\n");
	else
		text_printf(&check->damage, "a chunk of %s is damaged\n", content ? content : "an unknown kind");
}

static void take_origin(struct trace_check *check, const char *info, size_t size_bytes)
{
	static const struct {
		const char *key, *words;
	} members[] = { { "pinch", ", by pinch " }, { "host", " on " }, { "kernel", ", kernel " } };

	check->origin.length = 0;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		text_put(&check->origin, members[i].words);
		if (!trace_info_find(info, size_bytes, members[i].key, &check->origin))
			text_put(&check->origin, "(unknown)");
	}
}

static bool are_names(const void *content, size_t size_bytes)
{
	struct answer_book *book = answer_book_new();
	int err = answer_book_add(book, content, size_bytes);

	answer_book_free(book);
	return !err;
}

/* The content of a chunk without events. 0, or a negative errno when it cannot be read at all. */
static int check_chunk(struct trace_check *check, size_t chunk, uint32_t kind)
{
	const void *content;
	size_t size_bytes;
	int err = trace_reader_content(check->reader, chunk, &content, &size_bytes);

	if (err && err != -EBADMSG)
		return err;
	if (err || (kind == TRACE_CHUNK_NAMES && !are_names(content, size_bytes)))
		note_damage(check, chunk);
	else if (kind == TRACE_CHUNK_INFO && size_bytes)
		take_origin(check, content, size_bytes);
	check->has_names |= kind == TRACE_CHUNK_NAMES;
	return 0;
}

static int check_chunks(struct trace_check *check)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(check->reader, &count);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		if (places[i].kind != TRACE_CHUNK_EVENTS && places[i].kind != TRACE_CHUNK_LOST)
			err = check_chunk(check, i, places[i].kind);
	return err;
}

static void take_event(struct trace_check *check, const struct ev_header *header)
{
	if (!check->events++ || header->time_ns < check->first_ns)
		check->first_ns = header->time_ns;
	if (header->time_ns > check->last_ns)
		check->last_ns = header->time_ns;
	if (header->subsys == TRACE_SUBSYS_COLLECT && header->event == TRACE_EVENT_COLLECT_GAP)
		check->lost += ((const struct ev_collect_gap *)header)->lost;
	check->has_end |= header->subsys == TRACE_SUBSYS_COLLECT && header->event == TRACE_EVENT_COLLECT_END;
}

static int check_events(struct trace_check *check)
{
	const struct ev_header *header;
	int got;

	while ((got = trace_reader_next(check->reader, &header))) {
		if (got == 1)
			take_event(check, header);
		else if (got == -EBADMSG)
			note_damage(check, trace_reader_at(check->reader));
		else
			return got;
	}
	return 0;
}

/* What is damaged may have had the end in it. */
static bool is_cut_off(const struct trace_check *check)
{
	return !trace_reader_extent(check->reader)->is_ended || (!check->has_end && !check->damaged_count);
}

static const char *verdict_of(const struct trace_check *check)
{
	const struct bad_times *bad = trace_reader_bad_times(check->reader);

	if (check->damaged_count || bad->left_out || bad->changed || trace_reader_crowded_out(check->reader) ||
	    trace_reader_extent(check->reader)->is_header_damaged)
		return "damaged";
	if (trace_reader_extent(check->reader)->unread_bytes)
		return "truncated or damaged";
	if (is_cut_off(check))
		return "truncated";
	return check->has_names ? NULL : "without names";
}

static void put_verdict(const struct trace_check *check, const char *verdict, struct text *out)
{
	const struct trace_extent *extent = trace_reader_extent(check->reader);

	text_printf(out, "%s: %s: ", check->path, verdict ? verdict : "complete");
	text_put_count(out, check->events);
	text_printf(out, " event%s in ", check->events == 1 ? "" : "s");
	text_put_count(out, extent->chunks);
	text_printf(out, " chunk%s, ", extent->chunks == 1 ? "" : "s");
	text_put_duration(out, check->last_ns - check->first_ns);
	text_put(out, ", ");
	text_put_size(out, extent->file_bytes);
	if (check->origin.length)
		text_put_escaped(out, check->origin.bytes);
	text_put(out, "\n");
}

static void put_details(const struct trace_check *check, struct text *out)
{
	const struct trace_extent *extent = trace_reader_extent(check->reader);
	struct text left_out = { 0 };

	if (extent->is_header_damaged)
		text_put(out, "  at byte 0: the header is damaged; it holds only the time of the recording\n");
	if (check->damaged_count)
		text_put(out, check->damage.bytes);
	if (check->damaged_count > DAMAGE_LINES_MAX)
		text_printf(out, "  and %zu more\n", check->damaged_count - DAMAGE_LINES_MAX);
	if (trace_put_left_out(check->reader, &left_out))
		text_printf(out, "  %s\n", left_out.bytes);
	text_fini(&left_out);
	if (extent->has_no_forms)
		text_put(out, "  the event layouts are missing: events are read with the layouts of this version\n");
	if (extent->unread_bytes)
		text_printf(out, "  from byte %" PRIu64 ": an incomplete chunk; %" PRIu64 " bytes were not read\n",
			    extent->file_bytes - extent->unread_bytes, extent->unread_bytes);
	if (extent->begins_late && extent->is_ring)
		text_put(out, "  a flight recording: earlier events were not kept\n");
	else if (extent->begins_late)
		text_put(out, "  from a scope: it begins when its reader connected\n");
	if (check->lost)
		text_printf(out, "  %" PRIu64 " record%s lost when it was made\n", check->lost,
			    check->lost == 1 ? " was" : "s were");
	if (is_cut_off(check))
		text_put(out, "  the end is missing: the writer was killed, or is still writing\n");
	if (!check->has_names)
		text_put(out, "  names are missing: a report has names only on a machine with the program's files, "
			      "with --symbols-from-files\n");
}

int check_trace(const char *path, const char *name)
{
	struct trace_check check = { .path = name };
	struct text text = { 0 };
	const char *verdict;
	int err = trace_open(path, &check.reader);

	if (err)
		return EXIT_FAILED;
	err = check_chunks(&check);
	if (!err)
		err = check_events(&check);
	verdict = verdict_of(&check);
	if (err) {
		fail(err, "cannot read %s", name);
	} else {
		put_verdict(&check, verdict, &text);
		put_details(&check, &text);
		fputs(text.bytes, stdout);
	}
	text_fini(&text);
	text_fini(&check.origin);
	text_fini(&check.damage);
	trace_reader_close(check.reader);
	return err || verdict ? EXIT_FAILED : 0;
}
