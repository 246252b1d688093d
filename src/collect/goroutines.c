/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/goroutines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "symbol/answer/answer.h"
#include "symbol/symbol.h"
#include "values.h"

enum {
	PROCESSES_MAX = 1024,
	COST = 100, /* a period is at least so many times the CPU time of a reading */
	STACKS_MAX = 1 << 16,
};

static const uint64_t period_ns_min = 25000000, period_ns_max = 2000000000, look_ns = 50000000;

struct process {
	uint32_t pid;
	bool is_go;
	bool is_asked;                /* there is no answer yet */
	bool is_over;                 /* they cannot be read */
	struct symbol_mapping module; /* of the Go program */
	uint64_t look_ns;             /* when to look for one; UINT64_MAX: when something is mapped */
	uint32_t look_count;
	uint64_t period_ns;
	uint64_t begin_ns, due_ns; /* of this period, and when in it to read; 0: it has none yet */
};

struct goroutines {
	struct session *session;
	struct symbols *symbols;
	struct table *processes; /* by pid + 1; owns them */
	struct table *stacks;    /* those that were reported, by what they are called */
	uint64_t random;
};

/* Looks again, ever later, 12 s in all: that a file is Go's is known when its unwind table is made. */
enum { LOOKS_MAX = 8 };

static void expect(struct goroutines *goroutines, uint32_t pid)
{
	struct process *process = table_find(goroutines->processes, (uint64_t)pid + 1);

	if (!process && table_count(goroutines->processes) >= PROCESSES_MAX)
		return;
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		process->period_ns = period_ns_min;
		process->look_ns = UINT64_MAX;
		table_put(goroutines->processes, (uint64_t)pid + 1, process);
	}
	if (process->is_go || process->look_ns != UINT64_MAX)
		return;
	process->look_count = 0;
	process->look_ns = clock_ns();
}

static void on_map(void *data, const struct ev_header *header)
{
	expect(data, ((const struct ev_space_map *)header)->pid);
}

static void on_found(void *data, const struct ev_header *header)
{
	expect(data, ((const struct ev_space_found *)header)->pid);
}

static void forget(struct goroutines *goroutines, uint32_t pid)
{
	free(table_take(goroutines->processes, (uint64_t)pid + 1));
}

static void on_exec(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exec *)header)->pid);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exit *)header)->pid);
}

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },
	{ EV_SPACE_FOUND, on_found },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_EXIT, on_exit_of },
	{ 0 },
};

struct goroutines *goroutines_new(struct session *session, struct symbols *symbols)
{
	struct goroutines *goroutines = xcalloc(1, sizeof(*goroutines));

	goroutines->session = session;
	goroutines->symbols = symbols;
	goroutines->processes = table_new();
	goroutines->stacks = table_new();
	goroutines->random = clock_ns();
	session_subscribe(session, handlers, goroutines);
	return goroutines;
}

void goroutines_free(struct goroutines *goroutines)
{
	struct process *process;
	size_t cursor = 0;

	if (!goroutines)
		return;
	while ((process = table_next(goroutines->processes, &cursor)))
		free(process);
	table_free(goroutines->processes);
	table_free(goroutines->stacks);
	free(goroutines);
}

/* --- What was read is events like others ------------------------------------------------------ */

/* Returns what the stack is called; 0: there is none. */
static uint64_t tell_stack(struct goroutines *goroutines, const uint64_t *frames, size_t count)
{
	struct ev_stack_frames *e;
	uint64_t stack;

	if (!count)
		return 0;
	stack = XXH3_64bits(frames, count * sizeof(*frames)) | 1;
	if (table_find(goroutines->stacks, stack))
		return stack;
	e = xcalloc(1, sizeof(*e) + count * sizeof(*e->frames));
	e->header = (struct ev_header){ .time_ns = session_time_ns(goroutines->session),
					.subsys = TRACE_SUBSYS_STACK,
					.event = TRACE_EVENT_STACK_FRAMES };
	e->stack = stack;
	e->user_count = count;
	e->end = STACK_COMPLETE;
	memcpy(e->frames, frames, count * sizeof(*frames));
	session_hand_out(goroutines->session, &e->header);
	free(e);
	if (table_count(goroutines->stacks) < STACKS_MAX)
		table_put(goroutines->stacks, stack, goroutines);
	return stack;
}

static void tell_row(struct goroutines *goroutines, uint32_t pid, const struct go_row *row)
{
	struct ev_go_waiting e = {
		.header = { .time_ns = session_time_ns(goroutines->session),
			    .subsys = TRACE_SUBSYS_GO,
			    .event = TRACE_EVENT_GO_WAITING },
		.pid = pid,
		.count = row->count,
	};
	uint64_t frames[GO_FRAMES_MAX], creator;

	for (uint32_t i = 0; i < row->frame_count; i++)
		frames[i] = row->frames[i] & STACK_FRAME_ADDRESS;
	e.stack = tell_stack(goroutines, frames, row->frame_count);
	/* The innermost frame of a stack is where it is, not where a call returns to. */
	creator = ((row->creator - 1) & STACK_FRAME_ADDRESS) | STACK_FRAME_EXACT;
	e.creator = tell_stack(goroutines, &creator, row->creator ? 1 : 0);
	memcpy(e.reason, row->reason, sizeof(e.reason));
	session_hand_out(goroutines->session, &e.header);
}

static void tell(struct goroutines *goroutines, const struct process *process, const struct go_answer *answer)
{
	struct ev_go_sample e = {
		.header = { .time_ns = session_time_ns(goroutines->session),
			    .subsys = TRACE_SUBSYS_GO,
			    .event = TRACE_EVENT_GO_SAMPLE },
		.pid = process->pid,
		.listed = answer->listed,
		.examined = answer->examined,
		.runnable = answer->runnable,
		.running = answer->running,
		.in_syscall = answer->in_syscall,
		.waiting = answer->waiting,
		.period_ns = process->period_ns,
	};

	_Static_assert(sizeof(((struct ev_go_waiting *)0)->reason) == GO_REASON_BYTES, "the same text");
	session_hand_out(goroutines->session, &e.header);
	for (uint32_t i = 0; i < answer->row_count; i++)
		tell_row(goroutines, process->pid, &answer->rows[i]);
}

/* --- When ------------------------------------------------------------------------------------- */

static uint64_t next_random(struct goroutines *goroutines)
{
	return hash_u64(++goroutines->random);
}

/* The next period begins where this one ends, unless that is long ago. */
static void begin_period(struct goroutines *goroutines, struct process *process, uint64_t period_ns)
{
	uint64_t now = clock_ns(), end_ns = process->begin_ns + process->period_ns;

	process->begin_ns = !process->begin_ns || end_ns + period_ns < now ? now : end_ns;
	process->period_ns = period_ns;
	process->due_ns = process->begin_ns + next_random(goroutines) % process->period_ns;
}

static uint64_t period_for(uint64_t cost_ns)
{
	uint64_t period_ns = cost_ns > period_ns_max / COST ? period_ns_max : cost_ns * COST;

	return period_ns < period_ns_min ? period_ns_min : period_ns;
}

static void on_read(void *data, uint32_t pid, int err, const struct go_answer *answer)
{
	struct goroutines *goroutines = data;
	struct process *process = table_find(goroutines->processes, (uint64_t)pid + 1);

	if (!process || !process->is_asked)
		return;
	process->is_asked = false;
	if (err || answer->result != GO_READ) {
		/* At its very beginning a program has no goroutines yet, and at its end no memory. */
		if (!err && answer->result == GO_UNREADABLE && ++process->look_count < LOOKS_MAX) {
			begin_period(goroutines, process, process->period_ns);
			return;
		}
		process->is_over = true;
		symbols_note_goroutines(goroutines->symbols, pid, err, answer);
		return;
	}
	process->look_count = 0;
	tell(goroutines, process, answer);
	begin_period(goroutines, process, period_for(answer->cost_ns));
}

struct go_search {
	const struct symbols *symbols;
	struct process *process;
};

static void look_at(void *data, const struct symbol_mapping *mapping)
{
	const struct go_search *search = data;

	if (search->process->is_go || !symbols_is_go(search->symbols, mapping->module))
		return;
	search->process->is_go = true;
	search->process->module = *mapping;
}

static void look(struct goroutines *goroutines, struct process *process)
{
	struct go_search search = { goroutines->symbols, process };

	symbols_each_mapping(goroutines->symbols, process->pid, look_at, &search);
	process->look_ns = process->is_go || ++process->look_count == LOOKS_MAX
				   ? UINT64_MAX
				   : clock_ns() + (look_ns << process->look_count);
	if (process->is_go) {
		process->look_count = 0;
		begin_period(goroutines, process, process->period_ns);
	}
}

static void ask(struct goroutines *goroutines, struct process *process)
{
	process->is_asked = true;
	if (symbols_read_goroutines(goroutines->symbols, process->pid, &process->module, next_random(goroutines),
				    on_read, goroutines)) {
		process->is_asked = false;
		process->is_over = true;
	}
}

void goroutines_step(struct goroutines *goroutines)
{
	uint64_t now = clock_ns();
	struct process *process;
	size_t cursor = 0;

	while ((process = table_next(goroutines->processes, &cursor))) {
		if (!process->is_go && process->look_ns <= now)
			look(goroutines, process);
		if (process->is_go && !process->is_asked && !process->is_over && process->due_ns <= now)
			ask(goroutines, process);
	}
}

int goroutines_wait_ms(const struct goroutines *goroutines)
{
	uint64_t now = clock_ns(), next_ns = UINT64_MAX;
	const struct process *process;
	size_t cursor = 0;

	while ((process = table_next(goroutines->processes, &cursor)))
		if (process->is_go && !process->is_asked && !process->is_over && process->due_ns < next_ns)
			next_ns = process->due_ns;
	if (next_ns == UINT64_MAX)
		return -1;
	return next_ns <= now ? 0 : (next_ns - now) / 1000000 + 1;
}
