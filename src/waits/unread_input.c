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
};

static struct unread_process *get_process(struct unread_input *input, uint32_t pid)
{
	struct unread_process *process = table_find(input->processes, (uint64_t)pid + 1);

	if (process || table_count(input->processes) >= PROCESSES_MAX)
		return process;
	process = arena_alloc(input->arena, sizeof(*process));
	table_put(input->processes, (uint64_t)pid + 1, process);
	return process;
}

static void on_unread(void *data, const struct ev_header *header)
{
	const struct ev_file_unread *e = (const struct ev_file_unread *)header;
	struct unread_process *process = get_process(data, e->pid);
	int oldest = -1;

	_Static_assert(sizeof(e->unread) / sizeof(*e->unread) == UNREAD_AGES, "the same ages");
	if (!process)
		return;
	process->looks++;
	for (int i = 0; i < UNREAD_AGES; i++) {
		process->unread[i] += e->unread[i];
		if (e->unread[i])
			oldest = i;
	}
	if (oldest >= 0)
		process->looks_of[oldest]++;
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

const struct unread_process *unread_input_of(const struct unread_input *input, uint32_t pid)
{
	return table_find(input->processes, (uint64_t)pid + 1);
}

uint64_t unread_input_age_ns(unsigned int age)
{
	return age ? age_first_ns << (age - 1) : 0;
}
