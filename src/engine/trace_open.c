/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/trace_open.h"

#include <errno.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "symbol/symbol.h"
#include "trace/trace_reader.h"

int trace_open_as(const char *path, const char *name, struct trace_reader **out)
{
	int err = trace_reader_open(path, out);

	switch (err) {
	case 0:
		out_file_keep(path);
		return 0;
	case -EBADMSG:
		return fail_plain(err, "%s is not a pinch trace", name);
	case -ENOTSUP:
		return fail_plain(err, "%s was written by another version of pinch: use that version to read it", name);
	case -EINVAL:
		return fail_plain(err, "%s is not a regular file", name);
	}
	return fail(err, "cannot read %s", name);
}

int trace_open(const char *path, struct trace_reader **out)
{
	return trace_open_as(path, path, out);
}

/* one, many: what stands behind the number. */
static void put_count(struct text *out, uint64_t count, const char *one, const char *many)
{
	if (count)
		text_printf(out, "%s%llu %s", out->length ? "; " : "", (unsigned long long)count,
			    count == 1 ? one : many);
}

bool trace_put_left_out(const struct trace_reader *trace, struct text *out)
{
	const struct bad_times *bad = trace_reader_bad_times(trace);
	size_t length = out->length;

	put_count(out, bad->left_out, "event was left out: outside the time of the trace",
		  "events were left out: outside the time of the trace");
	put_count(out, bad->changed, "event had impossible times, which were corrected",
		  "events had impossible times, which were corrected");
	put_count(out, trace_reader_crowded_out(trace), "event was left out because there are too many threads",
		  "events were left out because there are too many threads");
	put_count(out, trace_reader_unknown(trace),
		  "event was skipped: this version of pinch does not know its kind. pinch dump prints it",
		  "events were skipped: this version of pinch does not know their kinds. pinch dump prints them");
	return out->length != length;
}

size_t trace_take_names(struct trace_reader *trace, struct symbols *symbols, size_t *damaged_count)
{
	size_t count, size_bytes, parts = 0, damaged = 0;
	const struct trace_place *places = trace_reader_places(trace, &count);
	const void *names;

	for (size_t i = 0; i < count; i++) {
		if (places[i].kind != TRACE_CHUNK_NAMES)
			continue;
		parts++;
		if (trace_reader_content(trace, i, &names, &size_bytes) ||
		    symbols_add_answers(symbols, names, size_bytes))
			damaged++;
	}
	if (damaged_count)
		*damaged_count = damaged;
	return parts;
}
