/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/prologue/prologue.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/event_kinds.h"
#include "trace/prologue/prologue_facts_internal.h"
#include "trace/prologue/prologue_spaces.h"
#include "trace/prologue/prologue_threads.h"
#include "values.h"

struct prologue {
	struct ev_collect_run *run;            /* NULL: the stream has not said yet */
	struct ev_span_name *spans[SPANS_MAX]; /* NULL: there is none */
	struct prologue_threads *threads;
	struct prologue_spaces *spaces;
	struct prologue_facts *facts;
};

struct prologue *prologue_new(void)
{
	struct prologue *prologue = xcalloc(1, sizeof(*prologue));

	prologue->threads = prologue_threads_new();
	prologue->spaces = prologue_spaces_new();
	prologue->facts = prologue_facts_new();
	return prologue;
}

void prologue_free(struct prologue *prologue)
{
	if (!prologue)
		return;
	free(prologue->run);
	for (size_t i = 0; i < SPANS_MAX; i++)
		free(prologue->spans[i]);
	prologue_threads_free(prologue->threads);
	prologue_spaces_free(prologue->spaces);
	prologue_facts_free(prologue->facts);
	free(prologue);
}

static void keep_run(struct prologue *prologue, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	free(prologue->run);
	prologue->run = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void keep_span(struct prologue *prologue, const struct ev_header *header)
{
	uint32_t span = ((const struct ev_span_name *)header)->span;
	size_t size_bytes = event_bytes(header);

	if (span < SPANS_MAX && !prologue->spans[span])
		prologue->spans[span] = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static uint32_t pid_of(const struct prologue *prologue, uint32_t number)
{
	const struct prologue_thread *thread = number ? prologue_threads_find(prologue->threads, number) : NULL;

	return thread ? thread->found.pid : 0;
}

void prologue_follow(struct prologue *prologue, const struct ev_header *header, bool is_written)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_SCHED:
		prologue_threads_follow(prologue->threads, header);
		return;
	case TRACE_SUBSYS_COLLECT:
		if (header->event == TRACE_EVENT_COLLECT_RUN)
			keep_run(prologue, header);
		break;
	case TRACE_SUBSYS_SPAN:
		if (header->event == TRACE_EVENT_SPAN_NAME)
			keep_span(prologue, header);
		return;
	case TRACE_SUBSYS_SPACE:
	case TRACE_SUBSYS_USER:
		prologue_spaces_follow(prologue->spaces, header);
		break;
	}
	prologue_threads_follow(prologue->threads, header);
	prologue_facts_follow(prologue->facts, header, pid_of(prologue, header->thread), is_written);
}

static void emit_run(struct prologue *prologue, uint64_t time_ns, const struct prologue_out *out)
{
	struct ev_collect_run *run = prologue->run;

	if (!run)
		return;
	run->realtime_ns += time_ns - run->header.time_ns;
	run->header.time_ns = time_ns;
	out->emit(out->data, &run->header);
}

static void emit_spans(struct prologue *prologue, uint64_t time_ns, const struct prologue_out *out)
{
	for (size_t i = 0; i < SPANS_MAX; i++)
		if (prologue->spans[i]) {
			prologue->spans[i]->header.time_ns = time_ns;
			out->emit(out->data, &prologue->spans[i]->header);
		}
}

struct emission {
	struct prologue_facts *facts;
	const struct prologue_out *out;
};

static void emit_chosen(void *data, const struct ev_header *header)
{
	const struct emission *emission = data;
	const struct prologue_out *out = emission->out;

	if (out->is_chosen && !out->is_chosen(out->data, header))
		return;
	prologue_facts_refer(emission->facts, header, 0, out);
	out->emit(out->data, header);
}

void prologue_begin(struct prologue *prologue, uint64_t time_ns, const struct prologue_out *out)
{
	struct emission emission = { prologue->facts, out };
	const struct prologue_out chosen = { emit_chosen, &emission, NULL };

	prologue_facts_begin(prologue->facts);
	emit_run(prologue, time_ns, out);
	emit_spans(prologue, time_ns, out);
	prologue_spaces_begin(prologue->spaces, time_ns, &chosen);
	prologue_threads_begin(prologue->threads, time_ns, &chosen);
}

static void refer_threads(struct prologue *prologue, const struct ev_header *header, const struct prologue_out *out)
{
	uint32_t other;

	if (header->thread)
		prologue_threads_refer(prologue->threads, header->thread, header->time_ns, out);
	other = event_other_thread(header);
	if (other && other != header->thread)
		prologue_threads_refer(prologue->threads, other, header->time_ns, out);
}

void prologue_refer(struct prologue *prologue, const struct ev_header *header, const struct prologue_out *out)
{
	uint32_t pid = header->subsys == TRACE_SUBSYS_STACK ? pid_of(prologue, header->thread) : 0;

	refer_threads(prologue, header, out);
	prologue_facts_refer(prologue->facts, header, pid, out);
}

bool prologue_is_fact(const struct ev_header *header)
{
	enum fact_kind kind;
	uint64_t key;

	return prologue_facts_emit(header, &kind, &key);
}

bool prologue_is_wanted(const struct prologue *prologue, const struct ev_header *header)
{
	return prologue_facts_want(prologue->facts, header);
}

const struct ev_thread_found *prologue_thread(const struct prologue *prologue, uint32_t number)
{
	const struct prologue_thread *thread = number ? prologue_threads_find(prologue->threads, number) : NULL;

	return thread && thread->is_described ? &thread->found : NULL;
}

void prologue_emit_mappings(struct prologue *prologue, uint32_t pid, uint64_t time_ns, const struct prologue_out *out)
{
	prologue_spaces_emit(prologue->spaces, pid, time_ns, out);
}
