/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/unwinder_internal.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "shared.h"

/* Of one update: records come in meanwhile. */
static const uint64_t update_ns_max = 5000000;

/* Long after any program that had begun to read a list has ended, and its records were read. */
static const uint64_t rest_ns_default = 2000000000ull;

static void on_map(void *data, const struct ev_header *header)
{
	unwinder_set_dirty(data, ((const struct ev_space_map *)header)->pid);
}

/* --- What happens to processes ------------------------------------------------------------------ */

static void process_free(struct unwinder *unwinder, struct process *process)
{
	table_take(unwinder->processes, (uint64_t)process->pid + 1);
	unwinder_release_list(unwinder, process->list);
	free(process);
}

static void free_ended(struct unwinder *unwinder)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->has_ended || early_stacks_count(unwinder->early, process->pid))
			continue;
		process_free(unwinder, process);
		cursor = 0;
	}
}

/* The kernel side has forgotten the old program's list when the exec happened. */
static void on_exec(void *data, const struct ev_header *header)
{
	struct unwinder *unwinder = data;
	struct process *process = unwinder_process(unwinder, ((const struct ev_space_exec *)header)->pid);

	copied_stacks_unwind_of(unwinder, process->pid);
	process->has_ended = false;
	bpf_map_delete_elem(unwinder->options.spaces_fd, &process->pid);
	unwinder_release_list(unwinder, process->list);
	process->list = NULL;
	process->jvm.bytes = 0;
}

/* The kernel side may have been informed of a list after it had forgotten the process. */
static void on_end(void *data, const struct ev_header *header)
{
	const struct ev_space_exit *e = (const struct ev_space_exit *)header;
	struct unwinder *unwinder = data;
	struct process *process = table_find(unwinder->processes, (uint64_t)e->pid + 1);

	if (!process)
		return;
	bpf_map_delete_elem(unwinder->options.spaces_fd, &process->pid);
	process->has_ended = early_stacks_count(unwinder->early, e->pid);
	if (!process->has_ended)
		process_free(unwinder, process);
}

/* The kernel side has given the child its parent's list when it was born. */
static void on_fork(void *data, const struct ev_header *header)
{
	const struct ev_space_fork *e = (const struct ev_space_fork *)header;
	struct unwinder *unwinder = data;
	struct process *parent = unwinder_process(unwinder, e->parent_pid);
	struct process *child = unwinder_process(unwinder, e->pid);

	copied_stacks_unwind_of(unwinder, e->pid);
	child->has_ended = false;
	unwinder_release_list(unwinder, child->list);
	child->list = parent->list;
	child->jvm = parent->jvm;
	/* What the parent has mapped since its list was made, the child has, too. */
	if (parent->is_dirty || parent->awaits_tables)
		unwinder_set_dirty(unwinder, e->pid);
	if (!child->list)
		return;
	child->list->user_count++;
	/* Unless the parent had none yet. */
	if (child->list->range_count)
		unwinder_emit_list(unwinder, child, BPF_NOEXIST);
}

/* --- All of it ------------------------------------------------------------------------------ */

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_FORK, on_fork },
	{ EV_SPACE_EXIT, on_end },
	{ EV_STACK_PYTHON, copied_stacks_on_python },
	{ EV_STACK_MEMORY, copied_stacks_on_memory },
	{ 0 },
};

struct unwinder *unwinder_new(struct session *session, struct symbols *symbols, const struct unwinder_options *options)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->session = session;
	unwinder->symbols = symbols;
	unwinder->options = *options;
	unwind_memory_init(&unwinder->memory, options->chunks_fd, options->bytes_max,
			   options->rest_ns ? options->rest_ns : rest_ns_default);
	unwinder->tables = module_tables_new(symbols, &unwinder->memory);
	unwinder->early = early_stacks_new();
	unwinder->processes = table_new();
	unwinder->pythons = table_new();
	unwinder->ranges = xcalloc(RANGES_MAX, sizeof(*unwinder->ranges));
	unwinder->used = xcalloc(RANGES_MAX, sizeof(*unwinder->used));
	session_subscribe(session, handlers, unwinder);
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	struct ev_stack_python *python;
	struct process *process;
	size_t cursor = 0, python_cursor = 0;

	if (!unwinder)
		return;
	early_stacks_free(unwinder->early);
	while ((python = table_next(unwinder->pythons, &python_cursor)))
		free(python);
	table_free(unwinder->pythons);
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (process->list && !--process->list->user_count)
			free(process->list);
		free(process);
	}
	table_free(unwinder->processes);
	module_tables_free(unwinder->tables);
	unwind_memory_fini(&unwinder->memory);
	free(unwinder->ranges);
	free(unwinder->used);
	free(unwinder);
}

void unwinder_expect_process(struct unwinder *unwinder, uint32_t pid)
{
	unwinder_set_dirty(unwinder, pid);
}

void unwinder_set_jvm(struct unwinder *unwinder, uint32_t pid, const struct jvm_process *jvm)
{
	struct process *process = unwinder_process(unwinder, pid);

	if (process->has_ended)
		return;
	process->jvm = *jvm;
	if (process->list && process->list->range_count && unwinder_emit_list(unwinder, process, BPF_ANY))
		unwinder->counts.dropped++;
}

/* Those whose mappings have changed, as far as that takes no longer. */
static void update_dirty(struct unwinder *unwinder, uint64_t ns_max)
{
	uint64_t begin_ns = clock_ns();
	struct process *process;
	size_t cursor = 0;

	unwinder->has_dirty = false;
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->is_dirty)
			continue;
		if (clock_ns() - begin_ns > ns_max) {
			unwinder->has_dirty = true;
			break;
		}
		unwinder_update_process(unwinder, process);
	}
}

void unwinder_add_expected(struct unwinder *unwinder)
{
	update_dirty(unwinder, UINT64_MAX);
}

bool unwinder_update(struct unwinder *unwinder)
{
	unwind_memory_release_if_idle(&unwinder->memory);
	unwinder_take_tables(unwinder);
	if (!unwinder->has_dirty)
		return false;
	update_dirty(unwinder, update_ns_max);
	copied_stacks_unwind(unwinder);
	free_ended(unwinder);
	return true;
}

void unwinder_finish(struct unwinder *unwinder)
{
	unwinder_update(unwinder);
	copied_stacks_unwind_all(unwinder);
	unwind_memory_release(&unwinder->memory);
}

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder)
{
	struct unwinder_counts counts = unwinder->counts;

	counts.tables = module_tables_count(unwinder->tables);
	counts.table_bytes = unwinder->memory.chunk_count * UNWIND_CHUNK_UNITS * sizeof(uint64_t);
	counts.dropped += module_tables_dropped(unwinder->tables);
	return counts;
}
