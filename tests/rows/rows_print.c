/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of events of a trace, for tests/e2e/rows.py to ask.
 *
 * Usage: rows_print TRACE [KIND=WORD...]. KIND: what pinch dump can filter by, from and to in ns, or search.
 * Answers each line of standard input with JSON: "get ROW COUNT", "at NS" since the first event; "count" counts
 * all.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/trace_states.h"
#include "rows/event_rows.h"

static bool add_word(struct event_rows_options *options, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return false;
	*value++ = '\0';
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		if (!strcmp(word, filter_kind_name(kind)))
			return !event_filter_add(&options->filter, kind, value);
	if (!strcmp(word, "from"))
		options->filter.from_ns = strtoull(value, NULL, 10);
	else if (!strcmp(word, "to"))
		options->filter.to_ns = strtoull(value, NULL, 10);
	else if (!strcmp(word, "search"))
		options->search = value;
	else
		return false;
	return true;
}

static bool answer(struct event_rows *rows, const char *question, struct text *out)
{
	uint64_t row;
	size_t count;
	int64_t time_ns;
	int more;

	if (sscanf(question, "get %" SCNu64 " %zu", &row, &count) == 2) {
		event_rows_put_json(rows, row, count, NULL, out);
	} else if (sscanf(question, "at %" SCNd64, &time_ns) == 1) {
		text_printf(out, "{\"row\": %" PRIu64 "}\n", event_rows_at(rows, time_ns));
	} else if (!strncmp(question, "count", 5)) {
		while ((more = event_rows_step(rows, 1000000)) == 1)
			;
		text_printf(out, "{\"rows\": %" PRIu64 "}\n", event_rows_count(rows));
		return !more;
	} else {
		return false;
	}
	return true;
}

static bool answer_all(struct event_rows *rows)
{
	char question[100];
	bool is_right = true;
	struct text out = { 0 };

	while (is_right && fgets(question, sizeof(question), stdin)) {
		out.length = 0;
		is_right = answer(rows, question, &out);
		is_right = is_right && fwrite(out.bytes, 1, out.length, stdout) == out.length;
	}
	text_fini(&out);
	return is_right;
}

int main(int argc, char **argv)
{
	struct event_rows_options options = { 0 };
	struct trace_states states;
	struct event_rows *rows;
	bool is_right = true;

	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++)
		if (!add_word(&options, argv[i]))
			return 2;
	if (trace_states_open(argv[1], false, NULL, &states))
		return 1;
	options.states = &states;
	if (!event_rows_open(argv[1], &options, &rows)) {
		is_right = answer_all(rows);
		event_rows_close(rows);
	}
	trace_states_close(&states);
	return !is_right;
}
