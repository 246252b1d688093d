/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/derived_trace.h"

#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "engine/trace_info.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

void derived_info(struct trace_reader *reader, struct text *info)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(reader, &count);
	const void *content;

	for (size_t i = 0; i < count; i++) {
		if (places[i].kind != TRACE_CHUNK_INFO || trace_reader_content(reader, i, &content, &size_bytes))
			continue;
		text_put_bytes(info, content, size_bytes);
		return;
	}
}

static int say(const char *path, int err)
{
	if (err == -EBUSY)
		return fail_plain(err, "another pinch is writing %s: give another file to -o", path);
	if (err == -EEXIST)
		return fail_plain(err, "%s is the input: give another file to -o", path);
	return fail(err, "cannot write the trace %s%s", path, out_file_advice(err));
}

int derived_open(const char *path, const struct text *info, struct trace_writer **out)
{
	struct text text = { 0 };
	struct out_file *file;
	int err = out_file_open(path, OUT_FILE_LOCKED, &file);

	if (!err)
		err = trace_writer_begin(file, NULL, out);
	if (err)
		return say(path, err);
	trace_info_put_of(&text, info->length ? info->bytes : "", info->length);
	trace_writer_chunk(*out, TRACE_CHUNK_INFO, text.bytes, text.length, NULL);
	text_fini(&text);
	return 0;
}

int derived_close(struct trace_writer *writer, const char *path)
{
	int err = trace_writer_close(writer);

	return err ? say(path, err) : 0;
}

/* Whether one of the sentences, with a NUL after each, is this one. */
static bool has_sentence(const struct ev_collect_end *e, const char *sentence)
{
	const char *at = e->notes, *end = at + e->text_bytes;

	for (; at < end; at += strlen(at) + 1)
		if (!strcmp(at, sentence))
			return true;
	return false;
}

struct ev_collect_end *derived_end(const struct ev_collect_end *whole, uint64_t ended_ns, bool is_ended)
{
	static const char note[] = "this is a part of a longer trace: the losses are those of the whole trace; the "
				   "cost of tracing the part is unknown";
	size_t text_bytes = whole ? whole->text_bytes : 0;
	size_t note_bytes = whole && has_sentence(whole, note) ? 0 : sizeof(note);
	struct ev_collect_end *e = xcalloc(1, sizeof(*e) + text_bytes + note_bytes);

	*e = (struct ev_collect_end){
		.header = { .time_ns = ended_ns, .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_END },
		.ended_ns = ended_ns,
		.exit_status = UINT32_MAX,
		.text_bytes = text_bytes + note_bytes,
	};
	if (whole) {
		if (is_ended)
			e->exit_status = whole->exit_status;
		e->samples_lost = whole->samples_lost;
		e->mappings_lost = whole->mappings_lost;
		e->hidden = whole->hidden;
		e->malformed = whole->malformed;
		e->late = whole->late;
		e->threads_untracked = whole->threads_untracked;
		memcpy(e->notes, whole->notes, text_bytes);
	}
	memcpy(e->notes + text_bytes, note, note_bytes);
	return e;
}
