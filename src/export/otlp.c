/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenTelemetry's traces as TracesData in protocol buffers (github.com/open-telemetry/opentelemetry-proto, trace/v1, by the public numbers
 * of its fields): each execution of a recorded span is a span of its process, and each wait in it a child. Spans come in batches of a process.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "events.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/open_executions.h"
#include "export/proto.h"
#include "export/stack_words.h"
#include "query/trace_states.h"
#include "spans/execution.h"
#include "spans/execution_log.h"
#include "spans/span.h"

enum { BATCH_BYTES = 64 << 10, ID_BYTES = 8 };

enum { TRACES_RESOURCE_SPANS = 1 };

enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPES = 2, RESOURCE_ATTRIBUTES = 1 };

enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPANS = 2, SCOPE_NAME = 1, SCOPE_VERSION = 2 };

enum span_field {
	SPAN_TRACE = 1,
	SPAN_ID = 2,
	SPAN_PARENT = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_BEGIN = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
};

enum { KIND_INTERNAL = 1 };

enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2, VALUE_STRING = 1, VALUE_NUMBER = 3 };

/* Spans of a process that wait for others. */
struct batch {
	const struct export_thread *of; /* any thread of it */
	struct text spans;              /* as fields of ScopeSpans */
};

struct otlp {
	struct export_out *out;
	const struct trace_states *all;
	struct open_executions *open;
	struct stack_words *stacks;
	struct batch *batches;
	size_t count, capacity;
	struct table *by_process; /* places in batches, plus 1 */
	uint64_t seed;            /* of ids, from the trace */
	uint64_t offset_ns;       /* of the time of day */
	uint64_t wait_count;
	struct text span, attribute, value, words; /* what is being made */
};

/* --- Fields ----------------------------------------------------------------------------------- */

static void put_id(struct text *id, uint64_t value)
{
	for (int shift = 64 - 8; shift >= 0; shift -= 8)
		text_put_bytes(id, &(char){ value >> shift }, 1);
}

static void put_value(struct otlp *otlp, struct text *message, uint32_t field, const char *key)
{
	otlp->attribute.length = 0;
	proto_put_string(&otlp->attribute, ATTRIBUTE_KEY, key);
	proto_put_message(&otlp->attribute, ATTRIBUTE_VALUE, &otlp->value);
	proto_put_message(message, field, &otlp->attribute);
}

static void put_words(struct otlp *otlp, struct text *message, uint32_t field, const char *key, const char *words)
{
	otlp->words.length = otlp->value.length = 0;
	text_put(&otlp->words, "");
	text_put_escaped(&otlp->words, words);
	proto_put_string(&otlp->value, VALUE_STRING, otlp->words.bytes);
	put_value(otlp, message, field, key);
}

static void put_number(struct otlp *otlp, struct text *message, uint32_t field, const char *key, uint64_t number)
{
	otlp->value.length = 0;
	proto_put_uint(&otlp->value, VALUE_NUMBER, number);
	put_value(otlp, message, field, key);
}

/* --- Batches ---------------------------------------------------------------------------------- */

static void put_resource(struct otlp *otlp, struct text *resource, const struct export_thread *thread)
{
	put_words(otlp, resource, RESOURCE_ATTRIBUTES, "service.name", thread->process);
	put_number(otlp, resource, RESOURCE_ATTRIBUTES, "process.pid", thread->ns_pid);
	if (thread->host)
		put_words(otlp, resource, RESOURCE_ATTRIBUTES, "host.name", thread->host);
}

static void put_batch(struct otlp *otlp, struct batch *batch)
{
	struct text all = { 0 }, part = { 0 }, scope = { 0 };

	if (!batch->spans.length)
		return;
	put_resource(otlp, &part, batch->of);
	proto_put_message(&all, RESOURCE_SPANS_RESOURCE, &part);
	proto_put_string(&scope, SCOPE_NAME, "pinch");
	proto_put_string(&scope, SCOPE_VERSION, PINCH_VERSION);
	part.length = 0;
	proto_put_message(&part, SCOPE_SPANS_SCOPE, &scope);
	text_put_bytes(&part, batch->spans.bytes, batch->spans.length);
	proto_put_message(&all, RESOURCE_SPANS_SCOPES, &part);
	proto_put_message(&otlp->out->text, TRACES_RESOURCE_SPANS, &all);
	batch->spans.length = 0;
	text_fini(&all);
	text_fini(&part);
	text_fini(&scope);
	export_out_step(otlp->out);
}

static struct batch *batch_of(struct otlp *otlp, const struct export_thread *thread)
{
	uintptr_t place = (uintptr_t)table_find(otlp->by_process, thread->pid);

	if (!place) {
		ARRAY_GROW(otlp->batches, otlp->count, otlp->capacity, 16);
		otlp->batches[otlp->count++] = (struct batch){ .of = thread };
		place = otlp->count;
		table_put(otlp->by_process, thread->pid, (void *)place);
	}
	return &otlp->batches[place - 1];
}

/* --- Spans ------------------------------------------------------------------------------------ */

static uint64_t id_of(const struct otlp *otlp, uint32_t execution)
{
	return hash_u64(otlp->seed ^ (execution + 1));
}

/* parent: 0: it has none. */
static void begin_span(struct otlp *otlp, uint32_t trace, uint64_t id, uint64_t parent, const char *name)
{
	struct text bytes = { 0 };

	otlp->span.length = 0;
	put_id(&bytes, otlp->seed);
	put_id(&bytes, id_of(otlp, trace));
	proto_put_message(&otlp->span, SPAN_TRACE, &bytes);
	bytes.length = 0;
	put_id(&bytes, id);
	proto_put_message(&otlp->span, SPAN_ID, &bytes);
	bytes.length = 0;
	put_id(&bytes, parent);
	if (parent)
		proto_put_message(&otlp->span, SPAN_PARENT, &bytes);
	text_fini(&bytes);
	otlp->words.length = 0;
	text_put(&otlp->words, "");
	text_put_escaped(&otlp->words, name);
	proto_put_string(&otlp->span, SPAN_NAME, otlp->words.bytes);
	proto_put_uint(&otlp->span, SPAN_KIND, KIND_INTERNAL);
}

static void end_span(struct otlp *otlp, const struct export_thread *thread, uint64_t begin_ns, uint64_t end_ns)
{
	struct batch *batch = batch_of(otlp, thread);

	proto_put_fixed64(&otlp->span, SPAN_BEGIN, begin_ns + otlp->offset_ns);
	proto_put_fixed64(&otlp->span, SPAN_END, end_ns + otlp->offset_ns);
	put_number(otlp, &otlp->span, SPAN_ATTRIBUTES, "thread.id", thread->ns_tid);
	put_words(otlp, &otlp->span, SPAN_ATTRIBUTES, "thread.name", thread->name);
	proto_put_message(&batch->spans, SCOPE_SPANS_SPANS, &otlp->span);
	if (batch->spans.length >= BATCH_BYTES)
		put_batch(otlp, batch);
}

static void put_execution(void *data, const struct export_thread *thread, const struct open_execution *opened)
{
	struct otlp *otlp = data;
	const struct execution *execution = &execution_log_all(otlp->all->executions)->list[opened->number];
	const struct span *span = execution_log_span(otlp->all->executions, execution->span);

	begin_span(otlp, opened->outermost, id_of(otlp, opened->number),
		   opened->has_parent ? id_of(otlp, opened->parent) : 0, span->name);
	put_number(otlp, &otlp->span, SPAN_ATTRIBUTES, "pinch.read_bytes", execution->read_bytes);
	put_number(otlp, &otlp->span, SPAN_ATTRIBUTES, "pinch.written_bytes", execution->written_bytes);
	end_span(otlp, thread, execution->begin_ns, execution->end_ns);
}

static void put_slice(void *data, const struct export_slice *slice)
{
	struct otlp *otlp = data;
	const struct open_execution *in;
	struct text *span = &otlp->span;

	in = open_executions_find(otlp->open, slice->thread, slice->begin_ns, slice->end_ns);
	if (!in || slice->share < SHARE_RUNNABLE)
		return;
	begin_span(otlp, in->outermost, hash_u64(~otlp->seed ^ ++otlp->wait_count), id_of(otlp, in->number),
		   slice->state);
	if (slice->object)
		put_words(otlp, span, SPAN_ATTRIBUTES, "pinch.object", slice->object);
	if (slice->ended_by)
		put_words(otlp, span, SPAN_ATTRIBUTES, "pinch.ended_by", slice->ended_by);
	if (slice->frame_count)
		put_words(otlp, span, SPAN_ATTRIBUTES, "code.stacktrace",
			  stack_words_of(otlp->stacks, slice->frames, slice->frame_count));
	end_span(otlp, slice->thread, slice->begin_ns, slice->end_ns);
}

/* --- All of it -------------------------------------------------------------------------------- */

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct otlp *otlp = xcalloc(1, sizeof(*otlp));
	const struct ev_collect_run *run = all->run;

	*otlp = (struct otlp){
		.out = out,
		.all = all,
		.open = open_executions_new(execution_log_all(all->executions), put_execution, otlp),
		.stacks = stack_words_new(),
		.by_process = table_new(),
		.seed = hash_u64(trace_states_time(all, 0) ^ hash_u64(run ? run->realtime_ns : 0)),
		.offset_ns = run && run->realtime_ns ? run->realtime_ns - run->header.time_ns : 0,
	};
	if (!execution_log_all(all->executions)->count)
		warn("the trace has no executions of spans: record it with --span");
	return otlp;
}

static void end(void *data)
{
	struct otlp *otlp = data;

	for (size_t i = 0; i < otlp->count; i++) {
		put_batch(otlp, &otlp->batches[i]);
		text_fini(&otlp->batches[i].spans);
	}
	open_executions_free(otlp->open);
	stack_words_free(otlp->stacks);
	table_free(otlp->by_process);
	free(otlp->batches);
	text_fini(&otlp->span);
	text_fini(&otlp->attribute);
	text_fini(&otlp->value);
	text_fini(&otlp->words);
	free(otlp);
}

const struct export_format otlp_format = {
	.name = "otlp",
	.help = "executions of spans and their waits as spans of OpenTelemetry",
	.lacks = "states outside of spans, wake-ups, samples, events, activities and counters",
	.is_binary = true,
	.begin = begin,
	.slice = put_slice,
	.end = end,
};
