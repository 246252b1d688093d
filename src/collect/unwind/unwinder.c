/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/unwinder.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "collect/unwind/early_stacks.h"
#include "collect/unwind/module_tables.h"
#include "collect/unwind/unwind_memory.h"
#include "session/event_kinds.h"
#include "shared.h"
#include "unwind/walk.h"

enum {
	RANGE_UNITS = sizeof(struct unwind_range) / sizeof(uint64_t),
	RANGES_MAX = 4096, /* of a process */
	PYTHONS_MAX = 1024,
	UNUSED_SHARE = 4, /* tables without a user stay until that part of the memory is used */
};

/* Of one update: records come in meanwhile. */
static const uint64_t update_ns_max = 5000000;

/* Long after any program that had begun to read a list has ended, and its records were read. */
static const uint64_t rest_ns_default = 2000000000ull;

/* A process's ranges and the modules they lead to. Several processes share one after a fork. */
struct list {
	uint32_t place, range_count;
	uint32_t version;
	uint32_t user_count;
	struct python_process python;
	struct ruby_process ruby;
	struct v8_process v8;
	uint32_t module_count;
	struct module_table *modules[];
};

struct process {
	uint32_t pid;
	struct list *list; /* NULL: none */
	bool is_dirty;
	bool awaits_tables; /* of some that it maps */
	bool has_ended;     /* and early stacks are left of it */
	struct jvm_process jvm;
};

struct unwinder {
	struct session *session;
	struct symbols *symbols;
	struct unwinder_options options;
	struct unwind_memory memory;
	struct module_tables *tables;
	struct table *processes; /* by pid + 1 */
	/* Of the process that is being updated. */
	struct unwind_range *ranges;
	struct module_table **used;
	uint32_t range_count, used_count;
	struct python_process python;
	struct ruby_process ruby;
	struct v8_process v8;
	bool awaits_tables;
	uint32_t last_version;
	bool has_dirty;
	struct early_stacks *early;
	struct table
		*pythons; /* by the stack they are of, until it is unwound: struct ev_stack_python, which it owns */
	struct unwinder_counts counts; /* what is not counted elsewhere */
};

static struct process *process_get(struct unwinder *unwinder, uint32_t pid)
{
	struct process *process = table_find(unwinder->processes, (uint64_t)pid + 1);

	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		table_put(unwinder->processes, (uint64_t)pid + 1, process);
	}
	return process;
}

static void set_dirty(struct unwinder *unwinder, uint32_t pid)
{
	process_get(unwinder, pid)->is_dirty = true;
	unwinder->has_dirty = true;
}

static struct unwind_space space_of(const struct process *process)
{
	const struct list *list = process->list;

	return (struct unwind_space){
		.ranges = list->place,
		.range_count = list->range_count,
		.version = list->version,
		.python = list->python,
		.jvm = process->jvm,
		.ruby = list->ruby,
		.v8 = list->v8,
	};
}

/* Its list is there. */
static int emit_list(const struct unwinder *unwinder, const struct process *process, uint64_t flags)
{
	struct unwind_space space = space_of(process);

	return bpf_map_update_elem(unwinder->options.spaces_fd, &process->pid, &space, flags);
}

/* --- Lists ---------------------------------------------------------------------------------- */

/* Of what is known about the process that is being updated, at this place. */
static struct list *list_new(struct unwinder *unwinder, uint32_t place)
{
	struct list *list;

	list = xcalloc(1, sizeof(*list) + unwinder->used_count * sizeof(*list->modules));
	list->place = place;
	list->range_count = unwinder->range_count;
	list->version = ++unwinder->last_version;
	list->python = unwinder->python;
	list->ruby = unwinder->ruby;
	list->v8 = unwinder->v8;
	list->user_count = 1;
	if (list->range_count)
		memcpy(unwind_memory_units(&unwinder->memory, place), unwinder->ranges,
		       unwinder->range_count * sizeof(*unwinder->ranges));
	list->module_count = unwinder->used_count;
	memcpy(list->modules, unwinder->used, unwinder->used_count * sizeof(*unwinder->used));
	return list;
}

static void list_release(struct unwinder *unwinder, struct list *list)
{
	if (!list || --list->user_count)
		return;
	if (list->range_count)
		unwind_memory_give(&unwinder->memory, list->place, list->range_count * RANGE_UNITS);
	for (uint32_t i = 0; i < list->module_count; i++)
		module_tables_release(unwinder->tables, list->modules[i]);
	free(list);
	module_tables_evict(unwinder->tables, (uint64_t)unwinder->memory.chunk_max * UNWIND_CHUNK_UNITS / UNUSED_SHARE);
}

/* --- Processes ------------------------------------------------------------------------------ */

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t max = a > b ? a : b;

	return max > c ? max : c;
}

static uint64_t min3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t min = a < b ? a : b;

	return min < c ? min : c;
}

static void add_range(struct unwinder *unwinder, const struct table_part *part, uint64_t begin, uint64_t end,
		      uint64_t bias)
{
	if (unwinder->range_count == RANGES_MAX) {
		unwinder->counts.dropped++;
		return;
	}
	unwinder->ranges[unwinder->range_count++] = (struct unwind_range){
		.begin = begin,
		.end = end,
		.bias = bias + part->base,
		.table = part->place,
		.block_count = part->block_count,
	};
}

/* Those whose code is in the segment; of V8 none of its segments matters. */
static void take_interpreters(struct unwinder *unwinder, const struct module_table *module,
			      const struct unwind_segment *segment, uint64_t bias)
{
	if (module->python.runtime && segment->address == module->python.code_begin) {
		unwinder->python = module->python;
		unwinder->python.runtime += bias;
		unwinder->python.none += bias;
		unwinder->python.code_begin += bias;
	}
	if (module->ruby.code_bytes && module->ruby.code_begin - segment->address < segment->size_bytes) {
		unwinder->ruby = module->ruby;
		unwinder->ruby.code_begin += bias;
		if (unwinder->ruby.module_at)
			unwinder->ruby.module_at += bias;
	}
	if (module->v8.shared_type)
		unwinder->v8 = module->v8;
}

/* The parts of the module's table that the mapping shows, one range each. */
static void on_mapping(void *data, const struct symbol_mapping *mapping)
{
	struct unwinder *unwinder = data;
	uint32_t range_count = unwinder->range_count;
	struct module_table *module;

	if (!mapping->module || unwinder->used_count == RANGES_MAX)
		return;
	module = module_tables_use(unwinder->tables, mapping->module);
	unwinder->used[unwinder->used_count++] = module;
	for (uint32_t s = 0; s < module->segment_count; s++) {
		const struct unwind_segment *segment = &module->segments[s];
		uint64_t bias;

		if (!unwind_segment_bias(segment, mapping->start, mapping->end, mapping->file_offset, &bias))
			continue;
		take_interpreters(unwinder, module, segment, bias);
		for (uint32_t p = 0; p < module->part_count; p++) {
			const struct table_part *part = &module->parts[p];
			uint64_t begin = max3(part->base, segment->address, mapping->start - bias);
			uint64_t end = min3(part->end, segment->address + segment->size_bytes, mapping->end - bias);

			if (begin < end)
				add_range(unwinder, part, begin + bias, end + bias, bias);
		}
	}
	unwinder->awaits_tables |= module->is_awaited;
	/* That there is no table is something to know, too. */
	if (unwinder->range_count == range_count && !module->is_awaited)
		add_range(unwinder, &(struct table_part){ 0 }, mapping->start, mapping->end, 0);
}

static void update_process(struct unwinder *unwinder, struct process *process)
{
	struct list *list;
	uint32_t place = 0;

	process->is_dirty = false;
	unwinder->awaits_tables = false;
	unwinder->range_count = unwinder->used_count = 0;
	unwinder->python.runtime = 0;
	unwinder->ruby.code_bytes = 0;
	unwinder->v8.shared_type = 0;
	symbols_each_mapping(unwinder->symbols, process->pid, on_mapping, unwinder);
	process->awaits_tables = unwinder->awaits_tables;
	/* The tables that are awaited must have a user, or they would be given up when they come. */
	if ((!unwinder->range_count && !unwinder->awaits_tables) ||
	    (unwinder->range_count &&
	     !module_tables_take_units(unwinder->tables, unwinder->range_count * RANGE_UNITS, &place))) {
		for (uint32_t i = 0; i < unwinder->used_count; i++)
			module_tables_release(unwinder->tables, unwinder->used[i]);
		return;
	}
	list = process->list;
	process->list = list_new(unwinder, place);
	if (process->list->range_count && !process->has_ended && emit_list(unwinder, process, BPF_ANY))
		unwinder->counts.dropped++;
	list_release(unwinder, list);
}

/* Who awaits tables may have some of them now. */
static void take_tables(struct unwinder *unwinder)
{
	struct process *process;
	size_t cursor = 0;

	if (!module_tables_take_news(unwinder->tables))
		return;
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->awaits_tables)
			continue;
		process->is_dirty = true;
		unwinder->has_dirty = true;
	}
}

static void on_map(void *data, const struct ev_header *header)
{
	set_dirty(data, ((const struct ev_space_map *)header)->pid);
}

/* --- Stacks that the kernel side could not unwind, and what happens to processes ------------- */

/* Those of the stack come next. */
static void on_python(void *data, const struct ev_header *header)
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
	struct process *process = process_get(unwinder, e->pid);
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

	tables.chunk_count = unwinder->memory.chunk_count;
	if (process->list)
		tables.space = space_of(process);
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
static void on_memory(void *data, const struct ev_header *header)
{
	const struct ev_stack_memory *e = (const struct ev_stack_memory *)header;
	struct unwinder *unwinder = data;
	struct process *process = process_get(unwinder, e->pid);

	if (e->kernel_count > STACK_DEPTH_MAX)
		return;
	take_tables(unwinder);
	if (process->is_dirty)
		update_process(unwinder, process);
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
static void unwind_early_of(struct unwinder *unwinder, uint32_t pid)
{
	struct early_choice choice = { unwinder, pid };

	early_stacks_take(unwinder->early, is_chosen, on_chosen, &choice);
}

static void process_free(struct unwinder *unwinder, struct process *process)
{
	table_take(unwinder->processes, (uint64_t)process->pid + 1);
	list_release(unwinder, process->list);
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
	struct process *process = process_get(unwinder, ((const struct ev_space_exec *)header)->pid);

	unwind_early_of(unwinder, process->pid);
	process->has_ended = false;
	bpf_map_delete_elem(unwinder->options.spaces_fd, &process->pid);
	list_release(unwinder, process->list);
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
	struct process *parent = process_get(unwinder, e->parent_pid);
	struct process *child = process_get(unwinder, e->pid);

	unwind_early_of(unwinder, e->pid);
	child->has_ended = false;
	list_release(unwinder, child->list);
	child->list = parent->list;
	child->jvm = parent->jvm;
	/* What the parent has mapped since its list was made, the child has, too. */
	if (parent->is_dirty || parent->awaits_tables)
		set_dirty(unwinder, e->pid);
	if (!child->list)
		return;
	child->list->user_count++;
	/* Unless the parent had none yet. */
	if (child->list->range_count)
		emit_list(unwinder, child, BPF_NOEXIST);
}

/* --- All of it ------------------------------------------------------------------------------ */

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_FORK, on_fork },
	{ EV_SPACE_EXIT, on_end },
	{ EV_STACK_PYTHON, on_python },
	{ EV_STACK_MEMORY, on_memory },
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

void unwinder_add_process(struct unwinder *unwinder, uint32_t pid)
{
	update_process(unwinder, process_get(unwinder, pid));
}

void unwinder_expect_process(struct unwinder *unwinder, uint32_t pid)
{
	set_dirty(unwinder, pid);
}

void unwinder_set_jvm(struct unwinder *unwinder, uint32_t pid, const struct jvm_process *jvm)
{
	struct process *process = process_get(unwinder, pid);

	if (process->has_ended)
		return;
	process->jvm = *jvm;
	if (process->list && process->list->range_count && emit_list(unwinder, process, BPF_ANY))
		unwinder->counts.dropped++;
}

bool unwinder_update(struct unwinder *unwinder)
{
	uint64_t begin_ns = clock_ns();
	struct process *process;
	size_t cursor = 0;

	take_tables(unwinder);
	if (!unwinder->has_dirty)
		return false;
	unwinder->has_dirty = false;
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->is_dirty)
			continue;
		if (clock_ns() - begin_ns > update_ns_max) {
			unwinder->has_dirty = true;
			break;
		}
		update_process(unwinder, process);
	}
	early_stacks_take(unwinder->early, has_tables, on_early, unwinder);
	free_ended(unwinder);
	return true;
}

void unwinder_finish(struct unwinder *unwinder)
{
	unwinder_update(unwinder);
	early_stacks_take(unwinder->early, is_any, on_early, unwinder);
}

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder)
{
	struct unwinder_counts counts = unwinder->counts;

	counts.tables = module_tables_count(unwinder->tables);
	counts.table_bytes = unwinder->memory.chunk_count * UNWIND_CHUNK_UNITS * sizeof(uint64_t);
	counts.dropped += module_tables_dropped(unwinder->tables);
	return counts;
}
