/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/go_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"

enum { PROCESSES_MAX = 1024, WAITS_MAX = 1 << 16 };

/* What is known of the sample that WAITING events belong to. */
struct current {
	struct go_process *process; /* NULL: none */
	double weight, scale;
	uint64_t waiting; /* of which no WAITING event has come yet */
};

struct go_waits {
	struct arena *arena;
	struct table *processes; /* by pid + 1 */
	struct table *waits;     /* by what they are about */
	struct current current;
};

static void add(const struct current *current, struct go_mean *mean, double count)
{
	double number = count * current->scale, part = current->weight * number;

	mean->sum += part;
	mean->sum_of_squares += part * part;
	mean->cross += current->weight * part;
	if (number > mean->count_max)
		mean->count_max = number;
}

static struct go_process *get_process(struct go_waits *waits, uint32_t pid)
{
	struct go_process *process = table_find(waits->processes, (uint64_t)pid + 1);

	if (process || table_count(waits->processes) >= PROCESSES_MAX)
		return process;
	process = arena_alloc(waits->arena, sizeof(*process));
	process->pid = pid;
	table_put(waits->processes, (uint64_t)pid + 1, process);
	return process;
}

static void on_sample(void *data, const struct ev_header *header)
{
	const struct ev_go_sample *e = (const struct ev_go_sample *)header;
	struct go_waits *waits = data;
	struct go_process *process;

	waits->current = (struct current){ 0 };
	if (!e->examined || e->examined > e->listed || !e->period_ns ||
	    (uint64_t)e->runnable + e->running + e->in_syscall + e->waiting > e->examined)
		return;
	process = get_process(waits, e->pid);
	if (!process)
		return;
	waits->current = (struct current){ process, e->period_ns, (double)e->listed / e->examined, e->waiting };
	process->sample_count++;
	process->examined += e->examined;
	process->listed += e->listed;
	process->weight += e->period_ns;
	process->weight_of_squares += (double)e->period_ns * e->period_ns;
	add(&waits->current, &process->runnable, e->runnable);
	add(&waits->current, &process->running, e->running);
	add(&waits->current, &process->in_syscall, e->in_syscall);
	add(&waits->current, &process->waiting, e->waiting);
}

static struct go_wait *get_wait(struct go_waits *waits, struct go_process *process, const struct ev_go_waiting *e)
{
	uint64_t key = hash_string(hash_u64(e->stack ^ hash_u64(e->creator ^ hash_u64(e->pid))), e->reason);
	struct go_wait *wait = table_find(waits->waits, key);

	if (wait || table_count(waits->waits) >= WAITS_MAX)
		return wait;
	wait = arena_alloc(waits->arena, sizeof(*wait));
	wait->pid = e->pid;
	wait->stack = e->stack;
	wait->creator = e->creator;
	wait->first_ns = e->header.time_ns;
	memcpy(wait->reason, e->reason, sizeof(wait->reason) - 1);
	table_put(waits->waits, key, wait);
	ARRAY_GROW(process->waits, process->wait_count, process->wait_capacity, 16);
	process->waits[process->wait_count++] = wait;
	return wait;
}

static void on_waiting(void *data, const struct ev_header *header)
{
	const struct ev_go_waiting *e = (const struct ev_go_waiting *)header;
	struct go_waits *waits = data;
	struct go_wait *wait;

	if (!waits->current.process || waits->current.process->pid != e->pid || e->count > waits->current.waiting ||
	    e->reason[sizeof(e->reason) - 1])
		return;
	waits->current.waiting -= e->count;
	wait = get_wait(waits, waits->current.process, e);
	if (wait)
		add(&waits->current, &wait->waiting, e->count);
}

static const struct event_handler handlers[] = {
	{ EV_GO_SAMPLE, on_sample },
	{ EV_GO_WAITING, on_waiting },
	{ 0 },
};

struct go_waits *go_waits_new(struct session *session)
{
	struct go_waits *waits = xcalloc(1, sizeof(*waits));

	waits->arena = arena_new();
	waits->processes = table_new();
	waits->waits = table_new();
	session_subscribe(session, handlers, waits);
	return waits;
}

void go_waits_free(struct go_waits *waits)
{
	struct go_process *process;
	size_t cursor = 0;

	if (!waits)
		return;
	while ((process = table_next(waits->processes, &cursor)))
		free(process->waits);
	table_free(waits->processes);
	table_free(waits->waits);
	arena_free(waits->arena);
	free(waits);
}

const struct go_process *go_waits_next(const struct go_waits *waits, size_t *cursor)
{
	return table_next(waits->processes, cursor);
}

double go_waits_mean(const struct go_process *process, const struct go_mean *number, double *error)
{
	double mean, squares, least, k = process->sample_count;

	*error = 0;
	if (process->weight <= 0)
		return 0;
	mean = number->sum / process->weight;
	/* Of the sum of (weight * (number - mean))^2. */
	squares = number->sum_of_squares - 2 * mean * number->cross + mean * mean * process->weight_of_squares;
	if (squares > 0 && k > 1)
		*error = 2 * sqrt(squares * k / (k - 1)) / process->weight;
	least = 3 * number->count_max / k;
	if (*error < least)
		*error = least;
	return mean;
}
