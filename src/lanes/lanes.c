/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "query/trace_states.h"
#include "session/external_threads.h"
#include "session/hosts.h"
#include "session/threads.h"
#include "states/state_total.h"
#include "states/states.h"

enum { LANES_MAX = 1 << 15 };

enum { IDLE_PARTS = 1000 }; /* who is busy for less than one of so many parts of its time is idle */

/* A thread, and what decides about its place. */
struct place {
	const struct thread *thread;
	const char *name;    /* of the first thread of that name, without what numbers differ in */
	uint32_t process_at; /* the number of the process's first thread */
	uint32_t name_at;    /* the number of the first thread of that name in it */
};

struct building {
	const struct trace_states *all;
	struct lanes *lanes;
	struct place *places;
	size_t place_count, place_capacity, lane_capacity;
};

/* Digits that may differ are one star. */
static const char *without_numbers(struct arena *arena, const char *name)
{
	struct text out = { 0 };
	const char *pattern;

	text_put_without_numbers(&out, name);
	pattern = arena_strdup(arena, out.bytes ? out.bytes : "");
	text_fini(&out);
	return pattern;
}

static void add_place(void *data, uint32_t number)
{
	struct building *building = data;
	const struct thread *thread = threads_find(building->all->threads, number);

	if (!thread || !thread_is_traced(number))
		return;
	ARRAY_GROW(building->places, building->place_count, building->place_capacity, 64);
	building->places[building->place_count++] = (struct place){
		.thread = thread,
		.name = without_numbers(building->lanes->arena, thread->name),
		.process_at = number,
		.name_at = number,
	};
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_process(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->thread->pid != y->thread->pid)
		return compare(x->thread->pid, y->thread->pid);
	return compare(x->thread->number, y->thread->number);
}

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = compare(x->process_at, y->process_at);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : compare(x->thread->number, y->thread->number);
}

/* Hosts, then processes by who lived first, then names by who had them first, then threads by their numbers. */
static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = compare(host_of_id(x->thread->pid), host_of_id(y->thread->pid));

	if (!order)
		order = compare(x->process_at, y->process_at);
	if (!order)
		order = compare(x->name_at, y->name_at);
	return order ? order : compare(x->thread->number, y->thread->number);
}

static void sort_places(struct building *building)
{
	struct place *places = building->places;

	if (!building->place_count)
		return;
	qsort(places, building->place_count, sizeof(*places), by_process);
	for (size_t i = 1; i < building->place_count; i++)
		if (places[i].thread->pid == places[i - 1].thread->pid)
			places[i].process_at = places[i - 1].process_at;
	qsort(places, building->place_count, sizeof(*places), by_name);
	for (size_t i = 1; i < building->place_count; i++)
		if (places[i].process_at == places[i - 1].process_at && !strcmp(places[i].name, places[i - 1].name))
			places[i].name_at = places[i - 1].name_at;
	qsort(places, building->place_count, sizeof(*places), by_place);
}

/* Valid until the next one is added. */
static struct lane *add_lane(struct building *building, enum lane_kind kind, uint32_t parent, const char *name)
{
	struct lanes *lanes = building->lanes;
	struct lane *lane;

	ARRAY_GROW(lanes->list, lanes->count, building->lane_capacity, 64);
	lane = &lanes->list[lanes->count++];
	*lane = (struct lane){ .kind = kind, .parent = parent, .name = name };
	return lane;
}

/* One that stands for the places [from, to): its index. */
static uint32_t add_group(struct building *building, enum lane_kind kind, uint32_t parent, const char *name,
			  size_t from, size_t to)
{
	struct lane *lane = add_lane(building, kind, parent, name);

	lane->pid = kind == LANE_HOST ? 0 : building->places[from].thread->ns_pid;
	lane->first_thread = from;
	lane->thread_count = to - from;
	return lane - building->lanes->list;
}

static const char *process_name(const struct building *building, size_t from, size_t to)
{
	const struct thread *first = building->places[from].thread;

	for (size_t i = from; i < to; i++)
		if (building->places[i].thread->tid == building->places[i].thread->pid)
			first = building->places[i].thread;
	return first->title ? first->title : first->name;
}

static void add_threads(struct building *building, uint32_t parent, size_t from, size_t to)
{
	if (to - from > 1)
		parent = add_group(building, LANE_NAME, parent, building->places[from].name, from, to);
	for (size_t i = from; i < to; i++) {
		const struct thread *thread = building->places[i].thread;
		struct lane *lane;

		building->lanes->threads[i].lane = parent;
		if (building->lanes->count >= LANES_MAX) {
			building->lanes->left_out++;
			continue;
		}
		building->lanes->threads[i].lane = building->lanes->count;
		lane = add_lane(building, LANE_THREAD, parent, arena_strdup(building->lanes->arena, thread->name));
		lane->tid = thread->ns_tid;
		lane->pid = thread->ns_pid;
		lane->first_thread = i;
		lane->thread_count = 1;
	}
}

static void add_process(struct building *building, uint32_t parent, size_t from, size_t to)
{
	const char *name = arena_strdup(building->lanes->arena, process_name(building, from, to));
	uint32_t process = add_group(building, LANE_PROCESS, parent, name, from, to);
	size_t end;

	for (; from < to; from = end) {
		for (end = from + 1; end < to && building->places[end].name_at == building->places[from].name_at;)
			end++;
		add_threads(building, process, from, end);
	}
}

/* The first place behind those of one process. */
static size_t end_of_process(const struct building *building, size_t from)
{
	size_t end = from + 1;

	while (end < building->place_count && building->places[end].process_at == building->places[from].process_at)
		end++;
	return end;
}

/* Only a trace of several hosts has lanes of hosts. */
static uint32_t add_host(struct building *building, size_t from)
{
	uint32_t host = host_of_id(building->places[from].thread->pid);
	const char *name = hosts_name(building->all->hosts, building->places[from].thread->pid);
	size_t to = from;

	if (!name)
		return LANE_NONE;
	while (to < building->place_count && host_of_id(building->places[to].thread->pid) == host)
		to++;
	return add_group(building, LANE_HOST, LANE_NONE, arena_strdup(building->lanes->arena, name), from, to);
}

static void add_processes(struct building *building)
{
	const struct place *places = building->places;
	uint32_t host = LANE_NONE;
	size_t end;

	for (size_t from = 0; from < building->place_count; from = end) {
		if (!from || host_of_id(places[from - 1].thread->pid) != host_of_id(places[from].thread->pid))
			host = add_host(building, from);
		end = end_of_process(building, from);
		add_process(building, host, from, end);
	}
}

static void add_cpus(struct building *building)
{
	uint32_t count = building->all->run ? building->all->run->cpu_count : 0;

	for (uint32_t cpu = 0; cpu < count; cpu++)
		add_lane(building, LANE_CPU, LANE_NONE, arena_printf(building->lanes->arena, "CPU %u", cpu))->cpu = cpu;
}

/* --- How much of its time each lane spends how ------------------------------------------------ */

static void add_life(struct lanes *lanes, struct lane_thread *thread, uint64_t begin_ns, uint64_t end_ns,
		     const uint64_t ns[SHARES])
{
	struct lane *lane = &lanes->list[thread->lane];

	if (!thread->end_ns || begin_ns < thread->begin_ns)
		thread->begin_ns = begin_ns;
	if (end_ns > thread->end_ns)
		thread->end_ns = end_ns;
	if (!lane->end_ns || begin_ns < lane->begin_ns)
		lane->begin_ns = begin_ns;
	if (end_ns > lane->end_ns)
		lane->end_ns = end_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		lane->ns[share] += ns[share];
}

static void walk_life(struct states *states, struct lanes *lanes, struct lane_thread *thread)
{
	struct state_life life;

	if (states_life(states, thread->number, states_begin_ns(states), states_end_ns(states), &life))
		add_life(lanes, thread, life.begin_ns, life.end_ns, life.ns);
}

struct measuring {
	struct lanes *lanes;
	struct table *threads; /* struct lane_thread, by number + 1 */
};

static void add_total(void *data, uint32_t number, const struct state_total *total)
{
	struct measuring *measuring = data;
	struct lane_thread *thread = table_find(measuring->threads, number + 1ull);

	if (thread)
		add_life(measuring->lanes, thread, total->begin_ns, total->until_ns, total->ns);
}

static void take_totals(struct states *states, struct lanes *lanes)
{
	struct measuring measuring = { lanes, table_new() };

	for (size_t i = 0; i < lanes->thread_count; i++)
		table_put(measuring.threads, lanes->threads[i].number + 1ull, &lanes->threads[i]);
	states_each_total(states, add_total, &measuring);
	table_free(measuring.threads);
}

static void add_to_parent(struct lanes *lanes, const struct lane *lane)
{
	struct lane *parent = &lanes->list[lane->parent];

	if (!parent->end_ns || lane->begin_ns < parent->begin_ns)
		parent->begin_ns = lane->begin_ns;
	if (lane->end_ns > parent->end_ns)
		parent->end_ns = lane->end_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		parent->ns[share] += lane->ns[share];
}

/* Where records were lost, the history has to be gone through: totals do not know what is unknown. */
static void measure(struct states *states, struct lanes *lanes)
{
	if (!states_have_gaps(states) || states_are_growing(states))
		take_totals(states, lanes);
	else
		for (size_t i = 0; i < lanes->thread_count; i++)
			walk_life(states, lanes, &lanes->threads[i]);
	/* From behind: whoever is below a lane is measured before it. */
	for (size_t i = lanes->count; i-- > 0;)
		if (lanes->list[i].parent != LANE_NONE)
			add_to_parent(lanes, &lanes->list[i]);
}

void lanes_of_trace(const struct trace_states *all, struct lanes *out)
{
	struct building building = { .all = all, .lanes = out };

	*out = (struct lanes){ .arena = arena_new() };
	states_each_thread(all->states, add_place, &building);
	sort_places(&building);
	out->threads = xcalloc(building.place_count + 1, sizeof(*out->threads));
	out->thread_count = building.place_count;
	for (size_t i = 0; i < building.place_count; i++)
		out->threads[i].number = building.places[i].thread->number;
	add_cpus(&building);
	add_processes(&building);
	measure(all->states, out);
	free(building.places);
}

void lanes_fini(struct lanes *lanes)
{
	free(lanes->list);
	free(lanes->threads);
	arena_free(lanes->arena);
	*lanes = (struct lanes){ 0 };
}

uint64_t lanes_key(const struct trace_states *all, const struct lanes *lanes)
{
	bool is_growing = states_are_growing(all->states);
	uint64_t key = hash_u64(trace_states_time(all, 0)) ^
		       hash_u64(is_growing ? states_begin_ns(all->states) : states_end_ns(all->states));

	for (size_t i = 0; i < lanes->count; i++) {
		const struct lane *lane = &lanes->list[i];
		uint32_t thread = lane->thread_count ? lanes->threads[lane->first_thread].number : lane->cpu;

		key = hash_u64(key ^ (uint64_t)lane->kind << 60 ^ (uint64_t)lane->thread_count << 32 ^ thread);
	}
	return key;
}

uint64_t lane_lost_ns(const struct lane *lane)
{
	static const uint8_t causes[] = { CAUSE_LOCK, CAUSE_FILE, CAUSE_PAGE_FAULT, CAUSE_KERNEL_LOCK,
					  CAUSE_THROTTLED };
	uint64_t ns = lane->ns[SHARE_SPINNING] + lane->ns[SHARE_RUNNABLE];

	if (lane->kind == LANE_CPU)
		return 0;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		ns += lane->ns[SHARE_BLOCKED + causes[i]];
	return ns;
}

bool lane_is_idle(const struct lane *lane)
{
	uint64_t busy_ns = lane->ns[SHARE_RUNNING] + lane_lost_ns(lane), all_ns = 0;

	for (unsigned int share = 0; share < SHARES; share++)
		all_ns += lane->ns[share];
	return lane->kind != LANE_CPU && busy_ns < all_ns / IDLE_PARTS;
}
