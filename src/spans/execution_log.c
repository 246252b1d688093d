/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spans/execution_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "spans/own_spans.h"

enum {
	EXECUTIONS_MAX = 1 << 23,
	STACKS_MAX = 1 << 20, /* threads, each with each span */
	OPEN_MAX = 4096,      /* of one thread and span */
	GAPS_MAX = 1 << 20,
};

/* What a thread has begun of a span, and not ended: the innermost one last. */
struct open_tasks {
	uint32_t thread, span;
	uint32_t count, capacity;
	struct ev_span_begin *list;
};

struct execution_log {
	struct span spans[SPANS_MAX];
	struct executions all;
	struct own_spans *own;
	struct table *stacks; /* struct open_tasks, by thread and span */
	uint64_t *gaps;       /* when they were recorded */
	size_t gap_count, gap_capacity;
};

static uint64_t stack_key(uint32_t thread, uint32_t span)
{
	return (uint64_t)thread * SPANS_MAX + span + 1;
}

/* NULL: there are too many. */
static struct open_tasks *stack_get(struct execution_log *log, uint32_t thread, uint32_t span)
{
	struct open_tasks *stack = table_find(log->stacks, stack_key(thread, span));

	if (stack || table_count(log->stacks) >= STACKS_MAX)
		return stack;
	stack = xcalloc(1, sizeof(*stack));
	stack->thread = thread;
	stack->span = span;
	table_put(log->stacks, stack_key(thread, span), stack);
	return stack;
}

static void push(struct execution_log *log, struct open_tasks *stack, const struct ev_span_begin *begin)
{
	if (stack->count == OPEN_MAX) {
		log->spans[stack->span].dropped++;
		return;
	}
	ARRAY_GROW(stack->list, stack->count, stack->capacity, 2);
	stack->list[stack->count++] = *begin;
}

static void take(struct open_tasks *stack, uint32_t i)
{
	memmove(&stack->list[i], &stack->list[i + 1], (--stack->count - i) * sizeof(*stack->list));
}

/* What has grown since, as far as the trace makes sense. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void add(struct execution_log *log, const struct open_tasks *stack, uint32_t i, const struct ev_span_end *end)
{
	const struct ev_span_begin *begin = &stack->list[i];
	uint64_t begin_ns = begin->header.time_ns, end_ns = end->header.time_ns;
	struct span *span = &log->spans[stack->span];
	struct executions *all = &log->all;

	if (all->count == EXECUTIONS_MAX) {
		span->dropped++;
		return;
	}
	ARRAY_GROW(all->list, all->count, all->capacity, 1024);
	all->list[all->count++] = (struct execution){
		.thread = stack->thread,
		.begin_thread = stack->thread,
		.span = stack->span,
		.begin_ns = begin_ns,
		.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
		.depth = i,
		.transfers = since(begin->transfers, end->transfers),
		.read_bytes = since(begin->read_bytes, end->read_bytes),
		.written_bytes = since(begin->written_bytes, end->written_bytes),
		.faults = since(begin->faults, end->faults),
	};
	span->count++;
}

/* Functions whose frames lie further in: a stack grows downwards. */
static void leave(struct execution_log *log, struct open_tasks *stack, uint64_t below)
{
	while (stack->count && stack->list[stack->count - 1].value < below) {
		stack->count--;
		log->spans[stack->span].left++;
	}
}

/* Where a task with this value is; stack->count: nowhere. */
static uint32_t find(const struct open_tasks *stack, uint64_t value)
{
	for (uint32_t i = stack->count; i > 0; i--)
		if (stack->list[i - 1].value == value)
			return i - 1;
	return stack->count;
}

static void on_begin(void *data, const struct ev_header *header)
{
	const struct ev_span_begin *e = (const struct ev_span_begin *)header;
	struct execution_log *log = data;
	struct open_tasks *stack;
	uint32_t i;

	if (e->span >= SPANS_MAX)
		return;
	stack = stack_get(log, header->thread, e->span);
	if (!stack) {
		log->spans[e->span].dropped++;
		return;
	}
	if (log->spans[e->span].kind == SPAN_OF_FUNCTION) {
		leave(log, stack, e->value + 1);
	} else if ((i = find(stack, e->value)) < stack->count) {
		take(stack, i);
		log->spans[e->span].begun_anew++;
	}
	push(log, stack, e);
}

static void on_end(void *data, const struct ev_header *header)
{
	const struct ev_span_end *e = (const struct ev_span_end *)header;
	struct execution_log *log = data;
	struct open_tasks *stack;
	uint32_t i;

	if (e->span >= SPANS_MAX)
		return;
	stack = table_find(log->stacks, stack_key(header->thread, e->span));
	if (stack && log->spans[e->span].kind == SPAN_OF_FUNCTION)
		leave(log, stack, e->value);
	i = stack ? find(stack, e->value) : 0;
	if (!stack || i == stack->count) {
		log->spans[e->span].ends_alone += !(e->flags & SPAN_JUMPS);
		return;
	}
	add(log, stack, i, e);
	take(stack, i);
}

/* The thread's program, and with it its stack, is another one. */
static void on_exec(void *data, const struct ev_header *header)
{
	struct execution_log *log = data;

	for (uint32_t span = 0; span < SPANS_MAX; span++) {
		struct open_tasks *stack = table_find(log->stacks, stack_key(header->thread, span));

		if (stack && log->spans[span].kind == SPAN_OF_FUNCTION)
			leave(log, stack, UINT64_MAX);
	}
}

static void on_gap(void *data, const struct ev_header *header)
{
	struct execution_log *log = data;

	if (log->gap_count == GAPS_MAX)
		return;
	ARRAY_GROW(log->gaps, log->gap_count, log->gap_capacity, 16);
	log->gaps[log->gap_count++] = header->time_ns;
}

static void on_name(void *data, const struct ev_header *header)
{
	const struct ev_span_name *e = (const struct ev_span_name *)header;
	struct execution_log *log = data;
	struct span *span = &log->spans[e->span % SPANS_MAX];

	/* A flight recorder tells it again. */
	if (e->span >= SPANS_MAX || span->name)
		return;
	span->name = xstrdup(e->text);
	span->spec = xstrdup(e->text + strlen(e->text) + 1);
	span->kind = e->kind <= SPAN_OF_EVENTS ? e->kind : SPAN_OF_CALLS;
	if (span->kind == SPAN_OF_EVENTS)
		own_spans_add(log->own, e->span, span->spec);
}

static const struct event_handler handlers[] = {
	{ EV_SPAN_NAME, on_name },   { EV_SPAN_BEGIN, on_begin }, { EV_SPAN_END, on_end },
	{ EV_THREAD_EXEC, on_exec }, { EV_COLLECT_GAP, on_gap },  { 0, NULL },
};

struct execution_log *execution_log_new(struct session *session)
{
	struct execution_log *log = xcalloc(1, sizeof(*log));

	log->stacks = table_new();
	log->own = own_spans_new(&log->all, log->spans);
	session_subscribe(session, handlers, log);
	return log;
}

int execution_log_add(struct execution_log *log, const char *spec)
{
	uint32_t number = 0;

	while (number < SPANS_MAX && log->spans[number].name && strcmp(log->spans[number].name, spec))
		number++;
	if (number == SPANS_MAX)
		return -ENOSPC;
	if (log->spans[number].name)
		return 0;
	log->spans[number].name = xstrdup(spec);
	log->spans[number].spec = xstrdup(spec);
	log->spans[number].kind = SPAN_OF_EVENTS;
	own_spans_add(log->own, number, spec);
	return 0;
}

bool execution_log_wants_own(const struct execution_log *log)
{
	return own_spans_are_wanted(log->own);
}

void execution_log_take_own(struct execution_log *log, const struct ev_header *header)
{
	own_spans_take(log->own, header);
}

void execution_log_free(struct execution_log *log)
{
	struct open_tasks *stack;
	size_t cursor = 0;

	if (!log)
		return;
	own_spans_free(log->own);
	while ((stack = table_next(log->stacks, &cursor))) {
		free(stack->list);
		free(stack);
	}
	table_free(log->stacks);
	for (size_t i = 0; i < SPANS_MAX; i++) {
		free((char *)log->spans[i].name);
		free((char *)log->spans[i].spec);
	}
	free(log->all.list);
	free(log->gaps);
	free(log);
}

static int by_begin(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void execution_log_finish(struct execution_log *log, bool (*lives)(void *data, uint32_t thread), void *data)
{
	struct open_tasks *stack;
	size_t cursor = 0;

	while ((stack = table_next(log->stacks, &cursor))) {
		struct span *span = &log->spans[stack->span];

		if (!stack->count)
			continue;
		*(lives(data, stack->thread) ? &span->unfinished : &span->died) += stack->count;
		stack->count = 0;
	}
	own_spans_finish(log->own, lives, data);
	if (log->all.count)
		qsort(log->all.list, log->all.count, sizeof(*log->all.list), by_begin);
	if (log->gap_count)
		qsort(log->gaps, log->gap_count, sizeof(*log->gaps), by_time);
	for (size_t i = 0; i < log->all.count; i++)
		log->spans[log->all.list[i].span].in_gaps += execution_log_has_gap(log, &log->all.list[i]);
}

const struct executions *execution_log_all(const struct execution_log *log)
{
	return &log->all;
}

const struct span *execution_log_span(const struct execution_log *log, uint32_t number)
{
	return number < SPANS_MAX && log->spans[number].name ? &log->spans[number] : NULL;
}

bool execution_log_has_gap(const struct execution_log *log, const struct execution *execution)
{
	size_t low = BOUND(0, log->gap_count, i, log->gaps[i] < execution->begin_ns);

	return low < log->gap_count && log->gaps[low] <= execution->end_ns;
}
