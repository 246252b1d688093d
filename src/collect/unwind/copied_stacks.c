/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that the kernel side could not unwind: it has copied them, and they are unwound here by the same tables. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/unwind/unwinder_internal.h"
#include "session/event_kinds.h"
#include "shared.h"
#include "unwind/walk.h"

enum { PYTHONS_MAX = 1024 };

/* Those of the stack come next. */
void copied_stacks_on_python(void *data, const struct ev_header *header)
{
	const struct ev_stack_python *e = (const struct ev_stack_python *)header;
	struct unwinder *unwinder = data;
	size_t size_bytes = event_bytes(header);

	if (table_count(unwinder->pythons) >= PYTHONS_MAX)
		return;
	free(table_take(unwinder->pythons, e->stack));
	table_put(unwinder->pythons, e->stack, memcpy(xcalloc(1, size_bytes), e, size_bytes));
}

/* python: NULL, there are none. */
static struct unwind_python python_of(const struct process *process, const struct ev_stack_python *python)
{
	const struct list *list = process->list;
	bool is_ruby = list && !list->python.runtime;

	if (!python || !list)
		return (struct unwind_python){ 0 };
	return (struct unwind_python){
		(const uint64_t *)python->frames,
		python->count,
		is_ruby ? list->ruby.code_begin : list->python.code_begin,
		is_ruby ? list->ruby.code_bytes : list->python.code_bytes,
	};
}

static void unwind(struct unwinder *unwinder, const struct ev_stack_memory *e)
{
	struct process *process = unwinder_process(unwinder, e->pid);
	struct ev_stack_python *python = table_take(unwinder->pythons, e->stack);
	const struct unwind_python python_frames = python_of(process, python);
	struct unwind_tables tables = { .chunks = unwinder->memory.chunks };
	struct unwind_copy copy = {
		.registers = (const uint64_t *)e->registers,
		.stack = e->words,
		.stack_bytes = e->word_count * sizeof(*e->words),
	};
	uint64_t buffer[sizeof(struct ev_stack_frames) / sizeof(uint64_t) + 2 * STACK_DEPTH_MAX];
	struct ev_stack_frames *recorded = (struct ev_stack_frames *)buffer;
	enum stack_end end;

	unwind_memory_map(&unwinder->memory);
	tables.chunk_count = unwinder->memory.chunk_count;
	if (process->list)
		tables.space = unwinder_space(process);
	*recorded = (struct ev_stack_frames){
		.header = e->header,
		.stack = e->stack,
		.kernel_count = e->kernel_count,
	};
	recorded->header.event = EV_STACK_FRAMES & 0xffff;
	if (python_frames.count)
		recorded->header.thread = python->header.thread;
	/* Others were delivered while its tables were made. */
	if (recorded->header.time_ns < session_time_ns(unwinder->session))
		recorded->header.time_ns = session_time_ns(unwinder->session);
	memcpy(recorded->frames, e->words + e->word_count, e->kernel_count * sizeof(*e->words));
	recorded->user_count = unwind_walk(&tables, &copy, &python_frames, unwinder->options.depth,
					   (uint64_t *)recorded->frames + e->kernel_count, &end);
	recorded->end = end;
	unwinder->counts.stack_ends[end]++;
	unwinder->counts.stack_frames += recorded->user_count;
	if (recorded->kernel_count + recorded->user_count)
		session_hand_out(unwinder->session, &recorded->header);
	free(python);
}

/* Its process's mappings up to that moment are known now: their events came before. */
void copied_stacks_on_memory(void *data, const struct ev_header *header)
{
	const struct ev_stack_memory *e = (const struct ev_stack_memory *)header;
	struct unwinder *unwinder = data;
	struct process *process = unwinder_process(unwinder, e->pid);

	if (e->kernel_count > STACK_DEPTH_MAX)
		return;
	unwinder_take_tables(unwinder);
	if (process->is_dirty)
		unwinder_update_process(unwinder, process);
	if (!process->awaits_tables || !early_stacks_add(unwinder->early, e))
		unwind(unwinder, e);
}

static void on_early(void *data, const struct ev_stack_memory *e)
{
	unwind(data, e);
}

static bool has_tables(void *data, uint32_t pid)
{
	const struct unwinder *unwinder = data;
	const struct process *process = table_find(unwinder->processes, (uint64_t)pid + 1);

	return !process || !process->awaits_tables;
}

static bool is_any(void *data __attribute__((unused)), uint32_t pid __attribute__((unused)))
{
	return true;
}

struct early_choice {
	struct unwinder *unwinder;
	uint32_t pid;
};

static bool is_chosen(void *data, uint32_t pid)
{
	const struct early_choice *choice = data;

	return choice->pid == pid;
}

static void on_chosen(void *data, const struct ev_stack_memory *e)
{
	const struct early_choice *choice = data;

	unwind(choice->unwinder, e);
}

/* What lies where in the process changes: its early stacks cannot wait any longer. */
void copied_stacks_unwind_of(struct unwinder *unwinder, uint32_t pid)
{
	struct early_choice choice = { unwinder, pid };

	early_stacks_take(unwinder->early, is_chosen, on_chosen, &choice);
}

void copied_stacks_unwind(struct unwinder *unwinder)
{
	early_stacks_take(unwinder->early, has_tables, on_early, unwinder);
}

void copied_stacks_unwind_all(struct unwinder *unwinder)
{
	early_stacks_take(unwinder->early, is_any, on_early, unwinder);
}
