/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/graph_label.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "findings/names/object_names.h"
#include "findings/names/path_names.h"
#include "graph/wait_end.h"
#include "graph/wait_places.h"
#include "klocks/klocks.h"
#include "session/external_threads.h"
#include "session/hosts.h"
#include "session/syscalls.h"
#include "session/threads.h"
#include "stacks/fold.h"
#include "states/activity.h"
#include "states/states.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"

struct graph_labels {
	struct graph_names names;
	struct object_names objects;
	struct arena *arena;
	struct table *known; /* labels, by what they are of */
	bool is_grouping, omits_details;
	struct wait_places *places; /* NULL: a wait without a call path has no place */
	struct table *learned;      /* labels whose places are known, by their keys */
};

struct graph_labels *graph_labels_new(const struct graph_names *names)
{
	struct graph_labels *labels = xcalloc(1, sizeof(*labels));

	labels->names = *names;
	labels->arena = arena_new();
	labels->objects = (struct object_names){ names->symbols, names->files, names->klocks, labels->arena };
	labels->known = table_new();
	return labels;
}

void graph_labels_free(struct graph_labels *labels)
{
	if (!labels)
		return;
	wait_places_free(labels->places);
	table_free(labels->learned);
	table_free(labels->known);
	arena_free(labels->arena);
	free(labels);
}

void graph_labels_group(struct graph_labels *labels, bool is_grouping)
{
	labels->is_grouping = is_grouping;
}

void graph_labels_omit_details(struct graph_labels *labels)
{
	labels->omits_details = true;
}

/* What needs no number. */
static const char *plain_label(enum graph_kind kind)
{
	static const char *const labels[GRAPH_KINDS] = {
		[GRAPH_THREADS] = "all threads",
		[GRAPH_RUNNING] = "running",
		[GRAPH_SPINNING] = "spinning",
		[GRAPH_CPU] = "waiting for a CPU",
		[GRAPH_CPU_LIMIT] = "throttled by the CPU limit of its cgroup",
		[GRAPH_IDLE] = "no thread: the CPU was waking up",
		[GRAPH_DISK] = "disk",
		[GRAPH_DISK_IDLE] = "no disk request was pending",
		[GRAPH_NETWORK] = "network",
		[GRAPH_TIMER] = "timer",
		[GRAPH_SIGNAL] = "signal",
		[GRAPH_INTERRUPT] = "interrupt",
		[GRAPH_ABSENT] = "before its start, or after its end",
		[GRAPH_UNKNOWN] = "unknown",
	};

	return labels[kind];
}

/* Digits that may differ are one star. */
static const char *without_numbers(struct graph_labels *labels, const char *name)
{
	struct text out = { 0 };
	const char *group;

	text_put_without_numbers(&out, name);
	group = arena_strdup(labels->arena, out.bytes ? out.bytes : "");
	text_fini(&out);
	return group;
}

/* Of several hosts, the one comes first that has the id. */
static const char *on_host(struct graph_labels *labels, uint32_t tid, const char *label)
{
	const char *host = labels->names.hosts ? hosts_name(labels->names.hosts, tid) : NULL;

	return host ? arena_printf(labels->arena, "%s:%s", host, label) : label;
}

static const char *thread_label(struct graph_labels *labels, uint32_t number)
{
	const struct thread *thread = threads_get(labels->names.threads, number);
	const char *label;

	if (labels->is_grouping)
		return on_host(labels, thread->tid, without_numbers(labels, thread->name));
	label = arena_printf(labels->arena, "%s (tid %u%s)", *thread->name ? thread->name : "a thread",
			     id_on_host(thread->tid), thread_is_external(number) ? ", not traced" : "");
	return on_host(labels, thread->tid, label);
}

static const char *name_other(struct graph_labels *labels, uint32_t tid)
{
	const struct other *other = others_find(labels->names.others, tid);

	if (!other)
		return arena_printf(labels->arena, "another thread (tid %u)", id_on_host(tid));
	if (other->is_kernel)
		return arena_printf(labels->arena, "%s (kernel)",
				    labels->is_grouping ? without_numbers(labels, other->name) : other->name);
	if (labels->is_grouping)
		return arena_printf(labels->arena, "%s (not traced)", without_numbers(labels, other->name));
	return arena_printf(labels->arena, "%s (tid %u, not traced)", other->name, id_on_host(tid));
}

static const char *other_label(struct graph_labels *labels, uint32_t tid)
{
	return on_host(labels, tid, name_other(labels, tid));
}

static const char *interrupt_label(struct graph_labels *labels, uint32_t number)
{
	const char *name = activities_interrupt_name(labels->names.activities, number);

	return arena_printf(labels->arena, "interrupted by %s (interrupt %u)", name ? name : "a device", number);
}

/* As /proc/softirqs has them. */
static const char *softirq_name(uint32_t vector)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
	};

	return vector < sizeof(names) / sizeof(*names) ? names[vector] : "?";
}

size_t graph_wait_frames(struct graph_labels *labels, const struct graph_wait *wait, const struct report_frame **frames)
{
	const struct thread *thread = threads_get(labels->names.threads, wait->thread);

	return path_names_frames(labels->names.paths, thread->pid, wait->time_ns, wait->stack, frames, NULL);
}

bool graph_labels_drop_frames(struct graph_labels *labels, size_t bytes_max)
{
	return path_names_drop(labels->names.paths, bytes_max);
}

static const struct report_frame *headline_of(struct graph_labels *labels, const struct graph_wait *wait)
{
	const struct report_frame *frames;
	size_t count = graph_wait_frames(labels, wait, &frames);

	return count ? fold_find_headline(labels->names.fold, frames, count) : NULL;
}

static void put_place(struct graph_labels *labels, const struct graph_wait *wait, struct text *out)
{
	const struct report_frame *frame = headline_of(labels, wait);

	if (!frame)
		return;
	if (frame->function)
		text_printf(out, " in %s", frame->function);
	else if (labels->omits_details)
		text_printf(out, " in %s", frame->module ? frame->module : "?");
	else
		text_printf(out, " in %s+0x%llx", frame->module ? frame->module : "?",
			    (unsigned long long)frame->offset);
	if (frame->file) {
		const char *slash = strrchr(frame->file, '/');

		text_printf(out, " (%s", slash ? slash + 1 : frame->file);
		if (!labels->omits_details)
			text_printf(out, ":%u", frame->line);
		text_put(out, ")");
	}
}

static struct wait_facts facts_of(const struct graph_labels *labels, const struct graph_wait *wait)
{
	bool is_in_file = files_find(labels->objects.files, wait->object);
	bool is_klock = wait->cause == CAUSE_KERNEL_LOCK && labels->objects.klocks &&
			klocks_find(labels->objects.klocks, wait->object);

	return (struct wait_facts){
		.object = wait->object,
		.syscall = wait->syscall,
		.operation = wait->operation,
		.state = wait->state,
		.flags = is_klock     ? SWITCH_KERNEL_LOCK
			 : is_in_file ? SWITCH_IN_FILE
				      : 0,
	};
}

const char *graph_wait_object(struct graph_labels *labels, const struct graph_wait *wait)
{
	const struct thread *thread = threads_get(labels->names.threads, wait->thread);
	struct wait_facts facts = facts_of(labels, wait);

	return object_name(&labels->objects, thread->pid, wait->time_ns, &facts, wait->cause, wait->cause);
}

bool graph_frame_is_own(const struct graph_labels *labels, const struct report_frame *frame)
{
	return !fold_is_plumbing(labels->names.fold, frame);
}

const struct report_frame *graph_own_frame(const struct graph_labels *labels, const struct report_frame *frames,
					   size_t count)
{
	const struct report_frame *frame = count ? fold_find_headline(labels->names.fold, frames, count) : NULL;

	return frame && graph_frame_is_own(labels, frame) ? frame : NULL;
}

const char *graph_wait_function(struct graph_labels *labels, const struct graph_wait *wait)
{
	const struct report_frame *frames;
	size_t count = graph_wait_frames(labels, wait, &frames);
	const struct report_frame *own = graph_own_frame(labels, frames, count);

	return own ? own->function : NULL;
}

size_t graph_sample_frames(struct graph_labels *labels, uint32_t thread, uint64_t time_ns, uint64_t stack, uint64_t ip,
			   uint64_t kernel_ip, const struct report_frame **frames)
{
	enum stack_end end;

	return path_names_sample_frames(labels->names.paths, threads_get(labels->names.threads, thread)->pid, time_ns,
					stack, ip, kernel_ip, frames, &end);
}

bool graph_frame_is_called(const struct report_frame *frame, const char *name)
{
	size_t length = strlen(name);

	return frame->function && !strncmp(frame->function, name, length) &&
	       (!frame->function[length] || frame->function[length] == '(');
}

bool graph_wait_is_in(struct graph_labels *labels, const struct graph_wait *wait, const char *function)
{
	const struct report_frame *frames;
	size_t count = graph_wait_frames(labels, wait, &frames);

	for (size_t i = 0; i < count; i++)
		if (graph_frame_is_called(&frames[i], function))
			return true;
	return false;
}

/* All but the place. */
static void put_what(struct graph_labels *labels, const struct graph_wait *wait, struct text *out)
{
	struct wait_facts facts = facts_of(labels, wait);
	const char *object = graph_wait_object(labels, wait);
	const char *syscall = syscall_name(wait->syscall);
	bool is_file = wait->cause == CAUSE_FILE || wait->cause == CAUSE_PAGE_FAULT;

	if (wait->cause == CAUSE_OTHER && !syscall)
		text_put(out, "blocked in the kernel");
	else
		text_put(out, wait_cause_name(wait->cause));
	if (wait->cause == CAUSE_OTHER && syscall)
		text_printf(out, "(%s)", syscall);
	else if (syscall && !wait_has_futex(&facts))
		text_printf(out, " %s", syscall);
	if (object)
		text_printf(out, " %s", is_file && labels->omits_details ? without_numbers(labels, object) : object);
}

/* What waits have in common that are at the same place if they have none of their own. */
static void put_who_and_what(struct graph_labels *labels, const struct graph_wait *wait, struct text *out)
{
	text_printf(out, "%s ", thread_label(labels, wait->thread));
	put_what(labels, wait, out);
}

static void put_usual_place(struct graph_labels *labels, const struct graph_wait *wait, struct text *out)
{
	struct text what = { 0 };
	const char *place;

	put_who_and_what(labels, wait, &what);
	place = wait_places_find(labels->places, what.bytes);
	text_put(out, place ? place : "");
	text_fini(&what);
}

static const char *wait_label(struct graph_labels *labels, const struct graph_wait *wait)
{
	struct text out = { 0 };
	const char *label;

	put_what(labels, wait, &out);
	if (wait->stack || !labels->places)
		put_place(labels, wait, &out);
	else
		put_usual_place(labels, wait, &out);
	label = arena_strdup(labels->arena, out.bytes);
	text_fini(&out);
	return label;
}

uint64_t graph_wait_key(const struct graph_wait *wait)
{
	uint64_t key = hash_u64(wait->object ^ hash_u64(wait->stack));

	key = hash_u64(key ^ ((uint64_t)wait->syscall << 32 | (uint32_t)wait->operation << 16 | wait->cause << 8 |
			      wait->state));
	return hash_u64(key ^ wait->thread);
}

static void learn_place(struct graph_labels *labels, const struct graph_wait *wait)
{
	struct text what = { 0 }, place = { 0 };
	uint64_t key = graph_wait_key(wait);

	if (!wait->stack || table_find(labels->learned, key))
		return;
	table_put(labels->learned, key, labels);
	put_place(labels, wait, &place);
	put_who_and_what(labels, wait, &what);
	if (place.length)
		wait_places_add(labels->places, what.bytes, place.bytes);
	text_fini(&what);
	text_fini(&place);
}

struct learning {
	struct graph_labels *labels;
	uint32_t *threads;
	size_t count, capacity;
};

static void add_thread(void *data, uint32_t thread)
{
	struct learning *learning = data;

	if (thread_is_external(thread))
		return;
	ARRAY_GROW(learning->threads, learning->count, learning->capacity, 64);
	learning->threads[learning->count++] = thread;
}

static void learn_state(void *data, size_t which, const struct state *state, uint32_t cpu)
{
	const struct learning *learning = data;
	struct graph_wait wait = graph_wait_of(learning->threads[which], state);

	(void)cpu;
	if (state->kind == STATE_BLOCKED)
		learn_place(learning->labels, &wait);
}

void graph_labels_learn_places(struct graph_labels *labels, struct states *states)
{
	struct learning learning = { .labels = labels };
	struct states_question question = { .to_ns = UINT64_MAX };

	labels->places = wait_places_new();
	labels->learned = table_new();
	states_each_thread(states, add_thread, &learning);
	question.threads = learning.threads;
	question.count = learning.count;
	states_each_state(states, &question, learn_state, &learning);
	free(learning.threads);
}

static const char *new_label(struct graph_labels *labels, const struct graph_node *node)
{
	switch (node->kind) {
	case GRAPH_THREAD:
		return thread_label(labels, node->id);
	case GRAPH_OTHER:
		return other_label(labels, node->id);
	case GRAPH_WAIT:
		return wait_label(labels, &node->wait);
	case GRAPH_INTERRUPTED:
		return interrupt_label(labels, node->id);
	default:
		return arena_printf(labels->arena, "interrupted by the softirq %s", softirq_name(node->id));
	}
}

const char *graph_label(struct graph_labels *labels, const struct graph_node *node)
{
	uint64_t key = hash_u64((uint64_t)node->kind << 33 | (uint64_t)labels->is_grouping << 32 | node->id);
	const char *label = plain_label(node->kind);

	if (label)
		return label;
	if (node->kind == GRAPH_WAIT)
		key = graph_wait_key(&node->wait);
	label = table_find(labels->known, key);
	if (!label) {
		label = new_label(labels, node);
		table_put(labels->known, key, (char *)label);
	}
	return label;
}

uint64_t graph_label_key(void *data, const struct graph_node *node)
{
	return hash_string(1, graph_label(data, node));
}
