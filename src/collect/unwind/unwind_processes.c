/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel side knows of each process: which ranges of its memory are unwound by which tables. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/unwind/unwinder_internal.h"

enum {
	RANGE_UNITS = sizeof(struct unwind_range) / sizeof(uint64_t),
	UNUSED_SHARE = 4, /* tables without a user stay until that part of the memory is used */
};

struct process *unwinder_process(struct unwinder *unwinder, uint32_t pid)
{
	struct process *process = table_find(unwinder->processes, (uint64_t)pid + 1);

	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		table_put(unwinder->processes, (uint64_t)pid + 1, process);
	}
	return process;
}

void unwinder_set_dirty(struct unwinder *unwinder, uint32_t pid)
{
	unwinder_process(unwinder, pid)->is_dirty = true;
	unwinder->has_dirty = true;
}

struct unwind_space unwinder_space(const struct process *process)
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
int unwinder_emit_list(const struct unwinder *unwinder, const struct process *process, uint64_t flags)
{
	struct unwind_space space = unwinder_space(process);

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

void unwinder_release_list(struct unwinder *unwinder, struct list *list)
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

void unwinder_update_process(struct unwinder *unwinder, struct process *process)
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
	if (process->list->range_count && !process->has_ended && unwinder_emit_list(unwinder, process, BPF_ANY))
		unwinder->counts.dropped++;
	unwinder_release_list(unwinder, list);
}

/* Who awaits tables may have some of them now. */
void unwinder_take_tables(struct unwinder *unwinder)
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
