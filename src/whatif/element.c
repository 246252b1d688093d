/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/element.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "report/report_frame.h"
#include "whatif/code_choice.h"
#include "whatif/code_runs.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"

bool element_is_code(enum element_kind kind)
{
	return kind == ELEMENT_FUNCTION || kind == ELEMENT_LINE || kind == ELEMENT_PATH;
}

/* --- Choosing --------------------------------------------------------------------------------- */

void element_choice_init(struct element_choice *choice, const struct lives *lives, const struct run_code *code)
{
	choice->waits = xcalloc(lives->wait_count + 1, sizeof(*choice->waits));
	choice->wakeups = xcalloc(lives->wait_count + 1, sizeof(*choice->wakeups));
	choice->places = xcalloc(code->place_count + 1, sizeof(*choice->places));
}

void element_choice_fini(struct element_choice *choice)
{
	free(choice->waits);
	free(choice->wakeups);
	free(choice->places);
}

static const char *lock_name(struct graph_labels *labels, const struct graph_wait *wait)
{
	switch (wait->cause) {
	case CAUSE_LOCK:
	case CAUSE_CONDITION:
	case CAUSE_BARRIER:
	case CAUSE_SEMAPHORE:
	case CAUSE_KERNEL_LOCK:
		return graph_wait_object(labels, wait);
	}
	return NULL;
}

/* NULL: it is none of that kind. */
static const char *name_of(struct graph_labels *labels, enum element_kind kind, const struct graph_wait *wait)
{
	switch (kind) {
	case ELEMENT_LOCK:
	case ELEMENT_WAKEUPS:
		return lock_name(labels, wait);
	case ELEMENT_WAITS:
		return graph_wait_function(labels, wait);
	default:
		return wait_cause_name(wait->cause);
	}
}

static bool is_wait_of(struct graph_labels *labels, enum element_kind kind, const char *name,
		       const struct graph_wait *wait)
{
	const char *own;

	if (kind == ELEMENT_WAITS)
		return graph_wait_is_in(labels, wait, name);
	own = name_of(labels, kind, wait);
	return own && !strcmp(own, name);
}

static bool is_place_of(const struct graph_labels *labels, enum element_kind kind, const char *name,
			const struct run_place *place)
{
	switch (kind) {
	case ELEMENT_FUNCTION:
		return frames_have_function(place->frames, place->frame_count, name);
	case ELEMENT_LINE:
		return frames_have_line(place->frames, place->frame_count, name);
	default:
		return frames_have_path(labels, place->frames, place->frame_count, name);
	}
}

size_t element_choose(const struct code_runs *runs, struct graph_labels *labels, enum element_kind kind,
		      const char *name, struct element_choice *choice)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->lives->wait_count; i++) {
		bool is_meant = !element_is_code(kind) && is_wait_of(labels, kind, name, &runs->lives->waits[i].wait);

		choice->waits[i] = is_meant && kind != ELEMENT_WAKEUPS;
		choice->wakeups[i] = is_meant && kind == ELEMENT_WAKEUPS;
		count += is_meant;
	}
	for (size_t i = 0; i < runs->code->place_count; i++) {
		choice->places[i] = element_is_code(kind) && is_place_of(labels, kind, name, &runs->code->places[i]);
		count += choice->places[i];
	}
	return count;
}

/* --- What there is to choose ------------------------------------------------------------------ */

/* Elements by what they are called. */
struct list {
	struct element *elements;
	size_t count;
	struct table *by_name;
};

static uint64_t key_of(enum element_kind kind, const char *name)
{
	return hash_string(kind + 1, name);
}

static struct element *get(struct list *list, enum element_kind kind, const char *name)
{
	struct element *element = table_find(list->by_name, key_of(kind, name));

	if (!element) {
		element = &list->elements[list->count++];
		*element = (struct element){ .kind = kind, .name = name };
		table_put(list->by_name, key_of(kind, name), element);
	}
	return element;
}

static bool can_be_shorter(const struct lives_wait *wait)
{
	return wait->wait.cause != CAUSE_JOIN && wait->wait.cause != CAUSE_CHILD && wait->wait.cause != CAUSE_BARRIER;
}

/* Who holds a lock may do so for less time. */
static bool is_for_lock(const struct lives_wait *wait)
{
	return wait->wait.cause == CAUSE_LOCK || wait->wait.cause == CAUSE_KERNEL_LOCK;
}

/* Of each wait, by its index: what threads of the replay ended of it, but of waits for locks. The caller frees it. */
static uint64_t *ended_by_others(const struct lives *lives)
{
	uint64_t *ns = xcalloc(lives->wait_count + 1, sizeof(*ns));

	for (size_t i = 0; i < lives->step_count; i++) {
		const struct step *step = &lives->steps[i];

		if (step->kind == STEP_WAIT && step->wait != STEP_NONE && !is_for_lock(&lives->waits[step->wait]))
			ns[step->wait] += step_ns(step);
	}
	return ns;
}

static void add_wait(struct list *list, struct graph_labels *labels, const struct lives_wait *wait, uint64_t others_ns)
{
	for (enum element_kind kind = ELEMENT_LOCK; kind <= ELEMENT_CAUSE; kind++) {
		const char *name = name_of(labels, kind, &wait->wait);
		struct element *element = name ? get(list, kind, name) : NULL;

		if (!element)
			continue;
		if (kind == ELEMENT_WAITS) {
			element->own_ns += wait->ns;
			continue;
		}
		element->ns += wait->ns;
		element->count += wait->count;
		element->others_ns += others_ns;
	}
}

static bool is_further_in(const struct report_frame *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i].function && !strcmp(frames[i].function, frames[at].function))
			return true;
	return false;
}

/* To the functions on a stack that have something of their own. */
static void add_to_callers(struct list *list, enum element_kind kind, const struct report_frame *frames, size_t count,
			   const struct element *has)
{
	for (size_t i = 0; i < count; i++) {
		const char *function = frames[i].function;
		struct element *element = function ? table_find(list->by_name, key_of(kind, function)) : NULL;

		if (element && !is_further_in(frames, i)) {
			element->ns += has->ns;
			element->count += has->count;
			element->others_ns += has->others_ns;
		}
	}
}

static void add_waits(struct list *list, const struct lives *lives, struct graph_labels *labels)
{
	uint64_t *others_ns = ended_by_others(lives);

	for (size_t i = 0; i < lives->wait_count; i++)
		if (can_be_shorter(&lives->waits[i]))
			add_wait(list, labels, &lives->waits[i], others_ns[i]);
	for (size_t i = 0; i < lives->wait_count; i++) {
		const struct lives_wait *wait = &lives->waits[i];
		const struct element has = { .ns = wait->ns, .count = wait->count, .others_ns = others_ns[i] };
		const struct report_frame *frames;
		size_t count = graph_wait_frames(labels, &wait->wait, &frames);

		if (can_be_shorter(wait))
			add_to_callers(list, ELEMENT_WAITS, frames, count, &has);
	}
	free(others_ns);
}

/* Of the thread that was woken: how long it waited for a CPU then, on which nobody of the replay was. */
static uint64_t late_ns(const struct lives *lives, size_t wait)
{
	size_t end = lives->lives[lives->steps[wait].life].end;
	uint64_t ns = 0;

	for (size_t i = wait + 1; i < end && lives->steps[i].kind != STEP_WORK; i++)
		if (lives->steps[i].kind == STEP_LATE)
			ns += step_ns(&lives->steps[i]);
	return ns;
}

static void add_wakeups(struct list *list, const struct lives *lives, struct graph_labels *labels)
{
	for (size_t i = 0; i < lives->step_count; i++) {
		const struct step *step = &lives->steps[i];
		const struct lives_wait *wait;
		struct element *element;
		const char *name;

		if (step->kind != STEP_WAIT || step->wait == STEP_NONE)
			continue;
		wait = &lives->waits[step->wait];
		name = can_be_shorter(wait) ? lock_name(labels, &wait->wait) : NULL;
		if (!name)
			continue;
		element = get(list, ELEMENT_WAKEUPS, name);
		element->ns += late_ns(lives, i);
		element->count++;
	}
}

/* A function that others call in which it runs: what both are called after has these samples. */
struct call {
	struct element *caller, *callee;
	uint64_t count;
};

struct calls {
	struct call *calls;
	size_t count, capacity;
	struct table *by_pair;
};

static struct call *get_call(struct calls *calls, struct element *caller, struct element *callee)
{
	uint64_t key = hash_u64((uintptr_t)caller ^ hash_u64((uintptr_t)callee));
	uintptr_t at = (uintptr_t)table_find(calls->by_pair, key);

	if (!at) {
		ARRAY_GROW(calls->calls, calls->count, calls->capacity, 64);
		calls->calls[calls->count] = (struct call){ .caller = caller, .callee = callee };
		at = ++calls->count;
		table_put(calls->by_pair, key, (void *)at);
	}
	return &calls->calls[at - 1];
}

/* The function that a sample is called after, and the one that calls it: which may call others, too. */
static void add_own(struct list *list, struct calls *calls, struct graph_labels *labels, const struct run_place *place,
		    uint64_t count, double ns_a_sample)
{
	const struct report_frame *frame = graph_own_frame(labels, place->frames, place->frame_count), *end;
	struct element *callee, *caller;

	if (!frame || !frame->function || !count)
		return;
	end = place->frames + place->frame_count;
	callee = get(list, ELEMENT_FUNCTION, frame->function);
	callee->own_ns += count * ns_a_sample;
	do
		frame++;
	while (frame < end && !graph_frame_is_own(labels, frame));
	if (frame == end || !frame->function)
		return;
	caller = get(list, ELEMENT_FUNCTION, frame->function);
	if (caller != callee)
		get_call(calls, caller, callee)->count += count;
}

/*
 * What is called from several places may be made faster at one of them. What nearly all calls come from one function of
 * is more precise than that function.
 */
static void add_calls(const struct list *list, const struct calls *calls, double ns_a_sample)
{
	uint64_t *counts = xcalloc(list->count + 1, sizeof(*counts)); /* by callee */

	for (size_t i = 0; i < calls->count; i++)
		counts[calls->calls[i].callee - list->elements] += calls->calls[i].count;
	for (size_t i = 0; i < calls->count; i++) {
		const struct call *call = &calls->calls[i];

		if (10 * call->count < 9 * counts[call->callee - list->elements])
			call->caller->own_ns += call->count * ns_a_sample;
	}
	free(counts);
}

static void add_functions(struct list *list, const struct code_runs *runs, struct graph_labels *labels)
{
	uint64_t *counts = code_runs_place_counts(runs);
	double ns_a_sample = code_runs_ns_a_sample(runs);
	struct calls calls = { .by_pair = table_new() };

	for (size_t i = 0; i < runs->code->place_count; i++)
		add_own(list, &calls, labels, &runs->code->places[i], counts[i], ns_a_sample);
	for (size_t i = 0; i < runs->code->place_count; i++) {
		const struct run_place *place = &runs->code->places[i];
		const struct element has = { .ns = counts[i] * ns_a_sample, .count = counts[i] };

		add_to_callers(list, ELEMENT_FUNCTION, place->frames, place->frame_count, &has);
	}
	add_calls(list, &calls, ns_a_sample);
	table_free(calls.by_pair);
	free(calls.calls);
	free(counts);
}

static bool is_of_functions(const struct element *element)
{
	return element->kind == ELEMENT_WAITS || element->kind == ELEMENT_FUNCTION;
}

static bool is_others(const struct element *element)
{
	return element->others_ns > element->ns / 2;
}

static size_t leave_out_callers_and_others(struct element *elements, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if ((!is_of_functions(&elements[i]) || elements[i].own_ns >= elements[i].ns / 2) &&
		    !is_others(&elements[i]))
			elements[kept++] = elements[i];
	return kept;
}

static int by_time(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct element *elements_of(const struct code_runs *runs, struct graph_labels *labels, size_t *count)
{
	size_t capacity = (ELEMENT_WAKEUPS + 1) * runs->lives->wait_count + 2 * runs->code->place_count + 1;
	struct list list = {
		.elements = xcalloc(capacity, sizeof(*list.elements)),
		.by_name = table_new(),
	};

	add_waits(&list, runs->lives, labels);
	add_wakeups(&list, runs->lives, labels);
	add_functions(&list, runs, labels);
	table_free(list.by_name);
	*count = leave_out_callers_and_others(list.elements, list.count);
	qsort(list.elements, *count, sizeof(*list.elements), by_time);
	return list.elements;
}
