/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a switch or a wake-up looks like of which only one side is traced, bpf/sched.bpf.c says; here the
 * same is made of those of which both were.
 */
#include "derive/cut_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "query/thread_words.h"
#include "session/event_kinds.h"
#include "session/external_threads.h"
#include "trace/prologue/prologue.h"
#include "values.h"

enum {
	TURNS_RECORDED_MAX = 256, /* as in bpf/sched.bpf.c */
	OTHERS_MAX = 65536,
};

struct cut_threads {
	struct table *numbers, *pids;
	struct table *others;    /* by tid: as what each of them was written last */
	struct table *processes; /* by pid: how the first thread is called */
	struct arena *arena;
	uint16_t turns_left[CPUS_MAX];
	union {
		struct ev_sched_switch change;
		struct ev_sched_wake wake;
	} changed;
	struct ev_header *copy; /* with space for copy_capacity bytes */
	size_t copy_capacity;
	struct ev_sched_switch of_target;
};

int cut_threads_new(struct trace_reader *reader, const char *path, const char *const *words, size_t count,
		    struct cut_threads **out)
{
	struct cut_threads *threads = xcalloc(1, sizeof(*threads));
	int err;

	threads->numbers = table_new();
	threads->pids = table_new();
	threads->others = table_new();
	threads->processes = table_new();
	threads->arena = arena_new();
	err = thread_words_find(reader, path, words, count, threads->numbers, threads->pids);
	if (err)
		cut_threads_free(threads);
	else
		*out = threads;
	return err;
}

void cut_threads_free(struct cut_threads *threads)
{
	if (!threads)
		return;
	table_free(threads->numbers);
	table_free(threads->pids);
	table_free(threads->others);
	table_free(threads->processes);
	arena_free(threads->arena);
	free(threads->copy);
	free(threads);
}

static bool has(const struct cut_threads *threads, uint32_t number)
{
	return number && table_find(threads->numbers, number);
}

static bool has_pid(const struct cut_threads *threads, uint32_t pid)
{
	return table_find(threads->pids, pid);
}

bool cut_threads_have(const struct cut_threads *threads, const struct ev_header *header)
{
	if (header->subsys == TRACE_SUBSYS_SPACE)
		return has_pid(threads, event_process(header));
	return !header->thread || has(threads, header->thread);
}

bool cut_threads_is_orphan(const struct cut_threads *threads, const struct ev_header *header)
{
	const struct ev_space_fork *e = (const void *)header;

	return header->subsys == TRACE_SUBSYS_SPACE && header->event == TRACE_EVENT_SPACE_FORK &&
	       has_pid(threads, e->pid) && !has_pid(threads, e->parent_pid);
}

/* --- The others --------------------------------------------------------------------------------- */

/* What is kept of one; NULL: there are too many. */
static char *name_at(struct cut_threads *threads, struct table *names, uint32_t key)
{
	char *name = table_find(names, key);

	if (name || table_count(names) >= OTHERS_MAX)
		return name;
	name = arena_alloc(threads->arena, sizeof(((struct ev_thread_found *)0)->name));
	table_put(names, key, name);
	return name;
}

static void note_process(struct cut_threads *threads, const struct ev_thread_found *thread)
{
	char *name = thread->tid == thread->pid ? name_at(threads, threads->processes, thread->pid) : NULL;

	if (name)
		memcpy(name, thread->name, sizeof(thread->name));
}

/* As bpf/thread.bpf.h does: once, and again when it is called otherwise. */
static void emit_other(struct cut_threads *threads, const struct ev_thread_found *thread, uint64_t time_ns,
		       const struct prologue_out *out)
{
	const char *process = table_find(threads->processes, thread->pid);
	char *recorded = name_at(threads, threads->others, thread->tid);
	struct ev_thread_other e = {
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_THREAD, .event = TRACE_EVENT_THREAD_OTHER },
		.tid = thread->tid,
		.pid = thread->pid,
		.start_ns = thread->start_ns,
	};

	if (!recorded || (*recorded && !memcmp(recorded, thread->name, sizeof(thread->name))))
		return;
	memcpy(recorded, thread->name, sizeof(thread->name));
	memcpy(e.name, thread->name, sizeof(e.name));
	memcpy(e.process, process ? process : thread->name, sizeof(e.process));
	out->emit(out->data, &e.header);
}

/* The id of a traced thread, written as one that is not; 0: it is unknown. */
static uint32_t become_other(struct cut_threads *threads, const struct prologue *prologue, uint32_t number,
			     uint64_t time_ns, const struct prologue_out *out)
{
	const struct ev_thread_found *thread = prologue_thread(prologue, number);

	if (!thread)
		return 0;
	note_process(threads, thread);
	emit_other(threads, thread, time_ns, out);
	return thread->tid;
}

/* --- Switches ------------------------------------------------------------------------------------- */

static const struct ev_header *leave(struct cut_threads *threads, const struct prologue *prologue,
				     const struct ev_sched_switch *e, const struct prologue_out *out)
{
	struct ev_sched_switch *changed = &threads->changed.change;
	bool is_recorded = e->state == SWITCH_RUNNABLE;

	*changed = *e;
	changed->next = 0;
	if (e->next && is_recorded)
		changed->value = become_other(threads, prologue, e->next, e->header.time_ns, out);
	threads->turns_left[e->cpu] = is_recorded && changed->value ? TURNS_RECORDED_MAX : 0;
	return &changed->header;
}

static const struct ev_header *enter(struct cut_threads *threads, const struct prologue *prologue,
				     const struct ev_sched_switch *e, const struct prologue_out *out)
{
	struct ev_sched_switch *changed = &threads->changed.change;
	uint32_t number = e->header.thread;

	threads->turns_left[e->cpu] = 0;
	if (!number)
		return &e->header;
	*changed = (struct ev_sched_switch){
		.header = e->header,
		.next = e->next,
		.cpu = e->cpu,
		.syscall = SYSCALL_NONE,
		.flags = e->flags & SWITCH_AFTER_HIDDEN,
		.value = become_other(threads, prologue, number, e->header.time_ns, out),
	};
	changed->header.thread = 0;
	return &changed->header;
}

/* Neither is theirs, but one of them may want the CPU. Whom one that blocks makes way for is not recorded. */
static const struct ev_header *take_turns(struct cut_threads *threads, const struct prologue *prologue,
					  const struct ev_sched_switch *e, const struct prologue_out *out)
{
	struct ev_sched_switch *changed = &threads->changed.change;
	uint16_t *turns_left = &threads->turns_left[e->cpu];
	const struct ev_thread_found *next = prologue_thread(prologue, e->next);
	bool is_next_known = e->next || !e->header.thread || e->state == SWITCH_RUNNABLE;

	if (!*turns_left)
		return NULL;
	*changed = (struct ev_sched_switch){
		.header = e->header,
		.cpu = e->cpu,
		.syscall = SYSCALL_NONE,
		.value = e->value,
	};
	changed->header.thread = 0;
	if (next)
		changed->object = next->tid;
	else if (is_next_known)
		changed->object = e->header.thread ? e->value : e->object;
	if (e->header.thread)
		changed->value = become_other(threads, prologue, e->header.thread, e->header.time_ns, out);
	*turns_left = changed->object || !is_next_known ? *turns_left - 1 : 0;
	return &changed->header;
}

static const struct ev_header *change_switch(struct cut_threads *threads, const struct prologue *prologue,
					     const struct ev_sched_switch *e, const struct prologue_out *out)
{
	bool has_prev = has(threads, e->header.thread), has_next = has(threads, e->next);

	if (!(has_prev && thread_is_external(e->header.thread)) && !(has_next && thread_is_external(e->next)))
		e = switch_of_target(e, &threads->of_target);
	if (has_prev && has_next) {
		threads->turns_left[e->cpu] = 0;
		return &e->header;
	}
	if (has_prev)
		return leave(threads, prologue, e, out);
	return (has_next ? enter : take_turns)(threads, prologue, e, out);
}

/* --- All others ----------------------------------------------------------------------------------- */

static const struct ev_header *change_wake(struct cut_threads *threads, const struct prologue *prologue,
					   const struct ev_sched_wake *e, const struct prologue_out *out)
{
	struct ev_sched_wake *changed = &threads->changed.wake;

	if (!has(threads, e->header.thread))
		return NULL;
	if (!e->waker || has(threads, e->waker))
		return &e->header;
	*changed = *e;
	changed->waker = 0;
	if (thread_is_external(e->waker))
		return &changed->header;
	become_other(threads, prologue, e->waker, e->header.time_ns, out);
	changed->operation = 0;
	changed->object = changed->stack = 0;
	changed->flags &= ~WAKE_HAS_STACK;
	return &changed->header;
}

static struct ev_header *copy_of(struct cut_threads *threads, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	if (size_bytes > threads->copy_capacity) {
		threads->copy_capacity = size_bytes;
		threads->copy = xrealloc(threads->copy, size_bytes, 1);
	}
	return memcpy(threads->copy, header, size_bytes);
}

/* Nothing refers to threads that are not theirs, as to a parent. */
static const struct ev_header *without_others(struct cut_threads *threads, const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	const struct event_field *field = event_field_meaning(kind, MEANS_THREAD, ROLE_REFERS);
	struct ev_header *copy;

	if (!field || has(threads, event_field_number(field, (const char *)header + field->offset_bytes)))
		return header;
	copy = copy_of(threads, header);
	memset((char *)copy + field->offset_bytes, 0, field->width_bytes);
	return copy;
}

/* What the machine did, whomever that interrupted. */
static const struct ev_header *change_system(struct cut_threads *threads, const struct ev_header *header)
{
	struct ev_header *copy;

	if (cut_threads_have(threads, header))
		return header;
	copy = copy_of(threads, header);
	copy->thread = 0;
	return copy;
}

const struct ev_header *cut_threads_change(struct cut_threads *threads, const struct prologue *prologue,
					   const struct ev_header *header, const struct prologue_out *out)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		return change_switch(threads, prologue, (const void *)header, out);
	case EV_SCHED_WAKE:
		return change_wake(threads, prologue, (const void *)header, out);
	}
	if (header->subsys == TRACE_SUBSYS_SYSTEM)
		return change_system(threads, header);
	if (prologue_is_fact(header))
		return prologue_is_wanted(prologue, header) ? header : NULL;
	return cut_threads_have(threads, header) ? without_others(threads, header) : NULL;
}
