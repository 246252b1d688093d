/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/trace_open.h"

#include <errno.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "symbol/symbol.h"
#include "trace/trace_reader.h"

int trace_open(const char *path, struct trace_reader **out)
{
	int err = trace_reader_open(path, out);

	switch (err) {
	case 0:
		out_file_keep(path);
		return 0;
	case -EBADMSG:
		return fail_plain(err, "%s is not a pinch trace", path);
	case -ENOTSUP:
		return fail_plain(err, "%s was written by another version of pinch: read it with that one", path);
	case -EINVAL:
		return fail_plain(err, "%s is no regular file", path);
	}
	return fail(err, "cannot read %s", path);
}

bool trace_put_left_out(const struct trace_reader *trace, struct text *out)
{
	const struct bad_times *bad = trace_reader_bad_times(trace);
	uint64_t crowded_out = trace_reader_crowded_out(trace);

	if (bad->left_out)
		text_printf(out, "%llu event%s left out whose time is not in the trace",
			    (unsigned long long)bad->left_out, bad->left_out == 1 ? " was" : "s were");
	if (bad->left_out && bad->changed)
		text_put(out, "; ");
	if (bad->changed)
		text_printf(out, "%llu event%s of times that cannot be, which were put right",
			    (unsigned long long)bad->changed, bad->changed == 1 ? " told" : "s told");
	if (crowded_out && (bad->left_out || bad->changed))
		text_put(out, "; ");
	if (crowded_out)
		text_printf(out, "%llu event%s left out because there are too many threads",
			    (unsigned long long)crowded_out, crowded_out == 1 ? " was" : "s were");
	return bad->left_out || bad->changed || crowded_out;
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
