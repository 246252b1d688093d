/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are call frame information, registers and a stack. Whatever they say, a table comes of
 * them that is valid and can be searched, and the unwinder ends: it reads nothing beyond its tables,
 * the stack only through the helper, and notes no more frames than there is room for.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/table.h"

#include "unwind.bpf.h"
#include "symbol/python_layout.h"
#undef const		/* the shim of bpf_helpers.h takes it away from the programs */

enum { HEAD_BYTES = 64, STACK_BYTES_MAX = 4096, PART_UNITS = 700 };

static const uint64_t code_begin = 0x400000, stack_begin = 0x7ffd00000000;

static struct stack_scratch scratch_memory;
static struct task_struct task;
static struct pt_regs registers;
static struct unwind_space space;
static uint32_t version;			/* what is remembered of one input is wrong for the next */
static const uint8_t *stack;
static size_t stack_bytes;
static uint64_t *chunk;			/* as large as what was written, so that reads beyond show */
static uint32_t chunk_units;

void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &scratch)
		return &scratch_memory;
	if (map == &unwind_spaces)
		return &space;
	if (map == &unwind_chunks)
		return index ? NULL : (void *)&chunk;
	if (map != &chunk)
		abort();
	/* The kernel's chunk is larger, and zero: no range, block or row leads there. */
	if (index >= chunk_units)
		abort();
	return &chunk[index];
}

long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	uint64_t at = (uint64_t)from - stack_begin;

	if (size > 4096 || at >= stack_bytes || size > stack_bytes - at)
		return -1;
	memcpy(to, stack + at, size);
	return 0;
}

long bpf_loop(__u32 count, long (*step)(__u32 index, void *data), void *data,
	      __u64 flags __attribute__((unused)))
{
	__u32 i = 0;

	while (i < count && !step(i, data))
		i++;
	return i;
}

void *bpf_task_storage_get(void *map __attribute__((unused)),
			   struct task_struct *current __attribute__((unused)),
			   void *value __attribute__((unused)), __u64 flags __attribute__((unused)))
{
	return NULL;
}

long bpf_task_pt_regs(struct task_struct *of __attribute__((unused)))
{
	return (long)&registers;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return &task;
}

/* One range for each part of the table, as the engine makes them. */
static void load(const struct unwind_table *table)
{
	enum { PARTS_MAX = 64, RANGE_UNITS = sizeof(struct unwind_range) / sizeof(uint64_t) };
	struct unwind_range ranges[PARTS_MAX];
	uint64_t address = table->base, end = table->base + table->size_bytes;
	uint32_t count = 0;

	chunk = NULL;
	chunk_units = 0;
	while (address < end && count < PARTS_MAX) {
		struct unwind_part part = unwind_part_at(table, address, PART_UNITS);
		uint32_t units = part.block_count + part.row_count;
		uint64_t part_end = address + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS);

		if (!part.block_count || units > PART_UNITS)
			abort();
		chunk = realloc(chunk, (chunk_units + units) * sizeof(*chunk));
		unwind_part_write(table, &part, chunk + chunk_units);
		ranges[count++] = (struct unwind_range){
			.begin = address, .end = part_end, .bias = address, .table = chunk_units,
			.block_count = part.block_count,
		};
		chunk_units += units;
		address = part_end;
	}
	chunk = realloc(chunk, (chunk_units + count * RANGE_UNITS + 1) * sizeof(*chunk));
	memcpy(chunk + chunk_units, ranges, count * sizeof(*ranges));
	space = (struct unwind_space){
		.ranges = chunk_units, .range_count = count, .version = ++version,
	};
	chunk_units += count * RANGE_UNITS;
}

/* An interpreter whose structures lie on the stack, too. */
static void set_python(const struct unwind_table *table, const uint64_t *words)
{
	const struct python_version *known = python_version_find(0x030b + words[1] / 16 % 4);

	space.python.runtime = 0;
	if (!(words[1] & 8) || !known)
		return;
	space.python = (struct python_process){
		.runtime = stack_begin + words[6] % 512 * 8 - known->frames.interpreters,
		.none = stack_begin, .code_begin = table->base, .code_bytes = table->size_bytes,
		.layout = known->frames,
	};
	/* Lists of interpreters lie further apart than the stack is long. */
	space.python.layout.interpreter_next %= 64;
	space.python.layout.interpreter_threads %= 64;
	task.thread.fsbase = words[7] % 256;
}

static void check_search(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->row_count && i < 200; i++)
		if (table->rows[i].pc < table->size_bytes &&
		    unwind_table_find(table, table->base + table->rows[i].pc) != table->rows[i].rule)
			abort();
}

static void check_stack(void)
{
	if (scratch_memory.unwind.count > STACK_DEPTH_MAX ||
	    scratch_memory.unwind.end >= STACK_ENDS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	struct cfi_section section = { .address = code_begin };
	struct unwind_table table;
	struct cfi_counts counts;
	uint64_t words[HEAD_BYTES / 8];
	size_t cfi_bytes;
	uint8_t *copy;

	if (size_bytes < HEAD_BYTES)
		return 0;
	memcpy(words, bytes, HEAD_BYTES);
	bytes += HEAD_BYTES;
	size_bytes -= HEAD_BYTES;
	cfi_bytes = words[0] % (size_bytes + 1);
	section.is_eh = words[1] & 1;
	copy = malloc(cfi_bytes + 1);
	memcpy(copy, bytes, cfi_bytes);
	section.bytes = copy;
	section.size_bytes = cfi_bytes;
	stack = bytes + cfi_bytes;
	stack_bytes = size_bytes - cfi_bytes;

	unwind_table_build(&section, &table, &counts);
	if (!unwind_table_is_valid(&table))
		abort();
	check_search(&table);
	load(&table);
	set_python(&table, words);
	registers = (struct pt_regs){
		.ip = table.base + words[2] % (table.size_bytes + 16),
		.sp = words[1] & 2 ? words[3] : stack_begin + words[3] % 256 * 8,
		.bp = words[1] & 4 ? words[4] : stack_begin + words[4] % 512 * 8,
		.r10 = words[5], .ax = words[6], .di = words[7],
	};
	unwind_user(&scratch_memory, words[1] >> 8 & 127, false);
	check_stack();
	unwind_table_fini(&table);
	free(chunk);
	free(copy);
	return 0;
}
