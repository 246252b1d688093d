/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/prologue/retold.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/event_kinds.h"
#include "trace/prologue/retold_facts.h"
#include "trace/prologue/retold_spaces.h"
#include "trace/prologue/retold_threads.h"
#include "values.h"

struct retold {
	struct ev_collect_run *run;	/* NULL: the stream has not told yet */
	struct ev_span_name *spans[SPANS_MAX];	/* NULL: there is none */
	struct retold_threads *threads;
	struct retold_spaces *spaces;
	struct retold_facts *facts;
};

struct retold *retold_new(void)
{
	struct retold *retold = xcalloc(1, sizeof(*retold));

	retold->threads = retold_threads_new();
	retold->spaces = retold_spaces_new();
	retold->facts = retold_facts_new();
	return retold;
}

void retold_free(struct retold *retold)
{
	if (!retold)
		return;
	free(retold->run);
	for (size_t i = 0; i < SPANS_MAX; i++)
		free(retold->spans[i]);
	retold_threads_free(retold->threads);
	retold_spaces_free(retold->spaces);
	retold_facts_free(retold->facts);
	free(retold);
}

static void keep_run(struct retold *retold, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	free(retold->run);
	retold->run = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void keep_span(struct retold *retold, const struct ev_header *header)
{
	uint32_t span = ((const struct ev_span_name *)header)->span;
	size_t size_bytes = event_bytes(header);

	if (span < SPANS_MAX && !retold->spans[span])
		retold->spans[span] = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static uint32_t pid_of(const struct retold *retold, uint32_t number)
{
	const struct retold_thread *thread =
		number ? retold_threads_find(retold->threads, number) : NULL;

	return thread ? thread->found.pid : 0;
}

void retold_follow(struct retold *retold, const struct ev_header *header, bool is_written)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_SCHED:
		retold_threads_follow(retold->threads, header);
		return;
	case TRACE_SUBSYS_COLLECT:
		if (header->event == TRACE_EVENT_COLLECT_RUN)
			keep_run(retold, header);
		break;
	case TRACE_SUBSYS_SPAN:
		if (header->event == TRACE_EVENT_SPAN_NAME)
			keep_span(retold, header);
		return;
	case TRACE_SUBSYS_SPACE:
		retold_spaces_follow(retold->spaces, header);
		break;
	}
	retold_threads_follow(retold->threads, header);
	retold_facts_follow(retold->facts, header, pid_of(retold, header->thread), is_written);
}

static void tell_run(struct retold *retold, uint64_t time_ns, const struct retold_out *out)
{
	struct ev_collect_run *run = retold->run;

	if (!run)
		return;
	run->realtime_ns += time_ns - run->header.time_ns;
	run->header.time_ns = time_ns;
	out->tell(out->data, &run->header);
}

static void tell_spans(struct retold *retold, uint64_t time_ns, const struct retold_out *out)
{
	for (size_t i = 0; i < SPANS_MAX; i++)
		if (retold->spans[i]) {
			retold->spans[i]->header.time_ns = time_ns;
			out->tell(out->data, &retold->spans[i]->header);
		}
}

struct telling {
	struct retold_facts *facts;
	const struct retold_out *out;
};

static void tell_chosen(void *data, const struct ev_header *header)
{
	const struct telling *telling = data;
	const struct retold_out *out = telling->out;

	if (out->is_chosen && !out->is_chosen(out->data, header))
		return;
	retold_facts_refer(telling->facts, header, 0, out);
	out->tell(out->data, header);
}

void retold_begin(struct retold *retold, uint64_t time_ns, const struct retold_out *out)
{
	struct telling telling = { retold->facts, out };
	const struct retold_out chosen = { tell_chosen, &telling, NULL };

	retold_facts_begin(retold->facts);
	tell_run(retold, time_ns, out);
	tell_spans(retold, time_ns, out);
	retold_spaces_begin(retold->spaces, time_ns, &chosen);
	retold_threads_begin(retold->threads, time_ns, &chosen);
}

static void refer_threads(struct retold *retold, const struct ev_header *header,
			  const struct retold_out *out)
{
	if (header->thread)
		retold_threads_refer(retold->threads, header->thread, header->time_ns, out);
	if (header->subsys != TRACE_SUBSYS_SCHED)
		return;
	if (header->event == TRACE_EVENT_SCHED_WAKE)
		retold_threads_refer(retold->threads, ((const struct ev_sched_wake *)header)->waker,
				     header->time_ns, out);
	else if (header->event == TRACE_EVENT_SCHED_SWITCH)
		retold_threads_refer(retold->threads, ((const struct ev_sched_switch *)header)->next,
				     header->time_ns, out);
}

void retold_refer(struct retold *retold, const struct ev_header *header,
		  const struct retold_out *out)
{
	uint32_t pid = header->subsys == TRACE_SUBSYS_STACK ? pid_of(retold, header->thread) : 0;

	refer_threads(retold, header, out);
	retold_facts_refer(retold->facts, header, pid, out);
}

bool retold_is_wanted(const struct retold *retold, const struct ev_header *header)
{
	return retold_facts_want(retold->facts, header);
}

const struct ev_thread_found *retold_thread(const struct retold *retold, uint32_t number)
{
	const struct retold_thread *thread =
		number ? retold_threads_find(retold->threads, number) : NULL;

	return thread && thread->is_described ? &thread->found : NULL;
}

void retold_tell_mappings(struct retold *retold, uint32_t pid, uint64_t time_ns,
			  const struct retold_out *out)
{
	retold_spaces_tell(retold->spaces, pid, time_ns, out);
}
