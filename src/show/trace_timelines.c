/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/trace_timelines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/trace_states.h"
#include "session/hosts.h"
#include "session/threads.h"
#include "states/states.h"
#include "view/html/timelines.h"

enum { PARTS_MAX = 720, PARTS_MIN = 60, CELLS_MAX = 1 << 18 }; /* the more threads, the fewer parts */

struct thread_list {
	uint32_t *numbers;
	size_t count;
};

static void add_number(void *data, uint32_t thread)
{
	struct thread_list *list = data;

	list->numbers = xrealloc(list->numbers, list->count + 1, sizeof(*list->numbers));
	list->numbers[list->count++] = thread;
}

static size_t choose_parts(size_t thread_count)
{
	size_t count = CELLS_MAX / (thread_count + 1);

	return count > PARTS_MAX ? PARTS_MAX : count < PARTS_MIN ? PARTS_MIN : count;
}

static struct timelines_shape shape_of(const struct trace_states *all, size_t thread_count)
{
	uint64_t begin_ns = states_begin_ns(all->states), end_ns = states_end_ns(all->states);
	size_t parts = choose_parts(thread_count);

	return (struct timelines_shape){
		.state_count = SHARES - 1,
		.part_count = parts,
		.begin_ns = begin_ns,
		.part_ns = end_ns > begin_ns ? (end_ns - begin_ns + parts - 1) / parts : 1,
		.whole_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
	};
}

/* Those that get no row are one more, which is in the sums alone. */
static size_t row_of(size_t thread)
{
	return thread < TIMELINE_ROWS_MAX ? thread : TIMELINE_ROWS_MAX;
}

/* What the part has of the time traced, in ns: of what lies behind the end nothing. */
static uint64_t width_of(const struct timelines_shape *shape, size_t part)
{
	uint64_t from_ns = part * shape->part_ns, left_ns = shape->whole_ns - from_ns;

	if (from_ns >= shape->whole_ns)
		return 0;
	return left_ns < shape->part_ns ? left_ns : shape->part_ns;
}

/* All threads in one part of the time after the other: so each block of states is unpacked once. */
static double *shares_of(const struct timelines_shape *shape, struct states *states, const struct thread_list *list)
{
	size_t cells = shape->state_count * shape->part_count;
	double *shares = xcalloc((row_of(list->count) + 1) * cells + 1, sizeof(*shares));

	for (size_t part = 0; part < shape->part_count; part++) {
		uint64_t from_ns = shape->begin_ns + part * shape->part_ns, width_ns = width_of(shape, part);

		for (size_t i = 0; width_ns && i < list->count; i++) {
			double *at = shares + row_of(i) * cells + part;
			uint64_t ns[SHARES] = { 0 };

			states_add_shares(states, list->numbers[i], from_ns, from_ns + width_ns, ns);
			for (unsigned int share = 1; share < SHARES; share++, at += shape->part_count)
				*at += (double)ns[share] / width_ns;
		}
	}
	return shares;
}

static void add_threads(struct timelines *timelines, const struct trace_states *all, const struct thread_list *list,
			const double *shares, size_t cells)
{
	size_t rows = row_of(list->count);

	for (size_t i = 0; i < rows; i++) {
		const struct thread *thread = threads_get(all->threads, list->numbers[i]);

		timelines_add(timelines,
			      &(struct timeline_thread){
				      .name = thread->name,
				      .host = hosts_name(all->hosts, thread->pid),
				      .tid = thread->ns_tid,
				      .pid = thread->ns_pid,
				      .count = 1,
			      },
			      shares + i * cells);
	}
	if (rows < list->count)
		timelines_add(timelines, &(struct timeline_thread){ .count = list->count - rows },
			      shares + rows * cells);
}

void trace_timelines_put(struct text *out, const struct trace_states *all)
{
	const char *names[SHARES - 1] = { "running", "spinning", "runnable" }; /* not what is unknown */
	struct timelines_shape shape;
	struct thread_list list = { 0 };
	struct timelines *timelines;
	double *shares;

	for (unsigned int cause = 0; cause < CAUSES; cause++)
		names[SHARE_BLOCKED - 1 + cause] = wait_cause_name(cause);
	states_each_thread(all->states, add_number, &list);
	shape = shape_of(all, list.count);
	shape.states = names;
	timelines = timelines_begin(out, &shape);
	shares = shares_of(&shape, all->states, &list);
	add_threads(timelines, all, &list, shares, shape.state_count * shape.part_count);
	timelines_end(timelines);
	free(shares);
	free(list.numbers);
}
