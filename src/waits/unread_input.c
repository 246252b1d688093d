/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/unread_input.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"

enum { PROCESSES_MAX = 4096 };

static const uint64_t age_first_ns = 4000000;

struct unread_input {
	struct arena *arena;
	struct table *processes; /* by pid + 1 */
	iteration_length *iteration;
	void *iteration_data;
};

static struct unread_process *get_process(struct unread_input *input, uint32_t pid)
{
	struct unread_process *process = table_find(input->processes, (uint64_t)pid + 1);

	if (process || table_count(input->processes) >= PROCESSES_MAX)
		return process;
	process = arena_alloc(input->arena, sizeof(*process));
	process->oldest = -1;
	table_put(input->processes, (uint64_t)pid + 1, process);
	return process;
}

/* Of the ages at one look the oldest; -1: there are none. */
static int oldest_of(const uint32_t *ages)
{
	int oldest = UNREAD_AGES - 1;

	while (oldest >= 0 && !ages[oldest])
		oldest--;
	return oldest;
}

/* The oldest one that is not older than the iteration; asked for only where it matters. */
static int oldest_seen(const struct unread_input *input, const struct ev_file_unread *e)
{
	int oldest = oldest_of(e->seen_unread);
	uint64_t iteration_ns;

	if (oldest < 1)
		return oldest;
	iteration_ns = input->iteration ? input->iteration(input->iteration_data, e->pid, e->header.time_ns) : 0;
	while (oldest >= 0 && (!e->seen_unread[oldest] || unread_input_age_ns(oldest) > iteration_ns))
		oldest--;
	return oldest;
}

/* The look is one of an older age, after the second one. */
static void raise_oldest(struct unread_process *process, int oldest)
{
	if (oldest <= process->oldest)
		return;
	if (process->oldest >= 0)
		process->looks_of[process->oldest]--;
	process->looks_of[oldest]++;
	process->oldest = oldest;
}

static void on_unread(void *data, const struct ev_header *header)
{
	const struct ev_file_unread *e = (const struct ev_file_unread *)header;
	struct unread_process *process = get_process(data, e->pid);
	int oldest;

	_Static_assert(sizeof(e->unread) / sizeof(*e->unread) == UNREAD_AGES, "the same ages");
	_Static_assert(sizeof(e->seen_unread) / sizeof(*e->seen_unread) == UNREAD_AGES, "the same ages");
	/* A trace may begin between a look and its second one. */
	if (!process || (e->is_second && !process->looks))
		return;
	if (!e->is_second) {
		process->looks++;
		process->oldest = -1;
	}
	for (int i = 0; i < UNREAD_AGES; i++)
		process->unread[i] += e->unread[i];
	raise_oldest(process, oldest_of(e->unread));
	oldest = oldest_seen(data, e);
	for (int i = 0; i <= oldest; i++)
		process->unread[i] += e->seen_unread[i];
	raise_oldest(process, oldest);
}

static const struct event_handler handlers[] = {
	{ EV_FILE_UNREAD, on_unread },
	{ 0 },
};

struct unread_input *unread_input_new(struct session *session)
{
	struct unread_input *input = xcalloc(1, sizeof(*input));

	input->arena = arena_new();
	input->processes = table_new();
	session_subscribe(session, handlers, input);
	return input;
}

void unread_input_free(struct unread_input *input)
{
	if (!input)
		return;
	table_free(input->processes);
	arena_free(input->arena);
	free(input);
}

void unread_input_ask(struct unread_input *input, iteration_length *iteration, void *data)
{
	input->iteration = iteration;
	input->iteration_data = data;
}

const struct unread_process *unread_input_of(const struct unread_input *input, uint32_t pid)
{
	return table_find(input->processes, (uint64_t)pid + 1);
}

uint64_t unread_input_age_ns(unsigned int age)
{
	return age ? age_first_ns << (age - 1) : 0;
}
