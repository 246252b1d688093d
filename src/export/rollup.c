/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of states, a line of JSON each, for stores that add up those of many traces and hosts. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/rollup_sums.h"
#include "export/stack_words.h"
#include "engine/run_events.h"
#include "query/trace_states.h"

struct rollup {
	struct export_out *out;
	struct rollup_sums *sums;
	struct stack_words *stacks;
	const struct trace_states *all;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: of all states; UINT64_MAX and 0: there are none */
	struct text words[4];      /* parts of the key that is being made */
};

static const char *escaped(struct text *out, const char *string)
{
	out->length = 0;
	text_put_escaped(out, string ? string : "");
	text_put(out, "");
	return out->bytes;
}

static const char *group_of(struct rollup *rollup, const char *thread)
{
	struct text name = { 0 };
	const char *group;

	text_put_without_numbers(&name, thread);
	group = escaped(&rollup->words[2], name.bytes);
	text_fini(&name);
	return group;
}

static void take_slice(void *data, const struct export_slice *slice)
{
	struct rollup *rollup = data;
	const struct export_thread *thread = slice->thread;

	if (slice->begin_ns < rollup->begin_ns)
		rollup->begin_ns = slice->begin_ns;
	if (slice->end_ns > rollup->end_ns)
		rollup->end_ns = slice->end_ns;
	rollup_sums_add(rollup->sums,
			&(struct rollup_key){
				.host = escaped(&rollup->words[0], thread->host),
				.process = escaped(&rollup->words[1], thread->process),
				.group = group_of(rollup, thread->name),
				.state = slice->state,
				.object = escaped(&rollup->words[3], slice->object),
				.path = slice->frame_count
						? stack_words_of(rollup->stacks, slice->frames, slice->frame_count)
						: "",
			},
			slice->end_ns - slice->begin_ns, slice->cmetric_ns);
}

static void put_lengths(struct json *json, const struct rollup_row *row)
{
	json_key(json, "lengths");
	json_begin_array(json);
	for (size_t i = 0; i < LENGTHS; i++) {
		if (!row->lengths[i])
			continue;
		json_begin_array(json);
		json_uint(json, length_limit_ns(i));
		json_uint(json, row->lengths[i]);
		json_end_array(json);
	}
	json_end_array(json);
}

static void put_text(struct json *json, const char *name, const char *value)
{
	json_key(json, name);
	json_string(json, value);
}

static void put_number(struct json *json, const char *name, uint64_t value)
{
	json_key(json, name);
	json_uint(json, value);
}

static void put_row(struct text *out, const struct rollup_row *row)
{
	struct json json;

	json_init(&json, out);
	json_on_one_line(&json);
	json_begin_object(&json);
	put_text(&json, "host", row->key.host);
	put_text(&json, "process", row->key.process);
	put_text(&json, "threads", row->key.group);
	put_text(&json, "state", row->key.state);
	put_text(&json, "object", row->key.object);
	put_text(&json, "path", row->key.path);
	put_number(&json, "ns", row->ns);
	put_number(&json, "cmetric_ns", row->cmetric_ns);
	put_number(&json, "count", row->count);
	put_number(&json, "max_ns", row->max_ns);
	put_lengths(&json, row);
	json_end_object(&json);
	json_fini(&json);
}

/* What was watched, and what that took. */
static void put_window(struct rollup *rollup, size_t row_count)
{
	const struct ev_collect_run *run = rollup->all->run;
	const struct ev_collect_end *end = rollup->all->end;
	bool is_empty = rollup->end_ns <= rollup->begin_ns;
	const char *strings = run ? run_event_strings(run) : NULL;
	struct json json;

	json_init(&json, &rollup->out->text);
	json_on_one_line(&json);
	json_begin_object(&json);
	put_number(&json, "rollup", 1);
	put_text(&json, "host", strings ? escaped(&rollup->words[0], strings + strlen(strings) + 1) : "");
	put_number(&json, "begin_ns", run && !is_empty ? run->realtime_ns + rollup->begin_ns - run->header.time_ns : 0);
	put_number(&json, "watched_ns", is_empty ? 0 : rollup->end_ns - rollup->begin_ns);
	put_number(&json, "cpus", run ? run->cpu_count : 0);
	put_number(&json, "rows", row_count);
	put_number(&json, "events", end ? end->events : 0);
	put_number(&json, "collector_cpu_ns", end ? end->collector_cpu_ns : 0);
	put_number(&json, "bpf_ns", end ? end->bpf_ns : 0);
	json_end_object(&json);
	json_fini(&json);
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct rollup *rollup = xcalloc(1, sizeof(*rollup));

	rollup->all = all;
	rollup->begin_ns = UINT64_MAX;
	rollup->out = out;
	rollup->sums = rollup_sums_new();
	rollup->stacks = stack_words_new();
	return rollup;
}

static void end(void *data)
{
	struct rollup *rollup = data;
	size_t count;
	const struct rollup_row *const *rows = rollup_sums_rows(rollup->sums, &count);

	put_window(rollup, count);
	for (size_t i = 0; i < count; i++) {
		put_row(&rollup->out->text, rows[i]);
		export_out_step(rollup->out);
	}
	for (size_t i = 0; i < sizeof(rollup->words) / sizeof(*rollup->words); i++)
		text_fini(&rollup->words[i]);
	stack_words_free(rollup->stacks);
	rollup_sums_free(rollup->sums);
	free(rollup);
}

const struct export_format rollup_format = {
	.name = "rollup",
	.help = "sums by threads, state, object and path, with lengths, to be added up over traces",
	.lacks = "times, wake-ups, samples, events and activities",
	.begin = begin,
	.slice = take_slice,
	.end = end,
};
