/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are call frame information, registers and a stack. Whatever they say, a table comes of
 * them that is valid and can be searched, and the unwinder ends: it reads nothing beyond its tables,
 * the stack only through the helper, and notes no more frames than there is space for.
 */
#include <stdlib.h>
#include <string.h>

#include "../unwind/host.h"
#include "load.h"
#include "symbol/python/python_layout.h"

enum { HEAD_BYTES = 64, STACK_BYTES_MAX = 4096, PART_UNITS = 700 };

static const uint64_t code_begin = 0x400000, stack_begin = 0x7ffd00000000;

static uint32_t version; /* what is remembered of one input is wrong for the next */
static const uint8_t *stack;
static size_t stack_bytes;
static struct load load;

void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &scratch)
		return &host_scratch;
	if (map == &unwind_spaces)
		return &host_space;
	if (map == &unwind_chunks)
		return index ? NULL : (void *)&load;
	if (map != &load)
		abort();
	/* The kernel's chunk is larger, and zero: no range, block or row leads there. */
	if (index >= load.unit_count)
		abort();
	return &load.units[index];
}

long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	uint64_t at = (uint64_t)from - stack_begin;

	if (size > 4096 || at >= stack_bytes || size > stack_bytes - at)
		return -1;
	memcpy(to, stack + at, size);
	return 0;
}

/* An interpreter whose structures lie on the stack, too. */
static void set_python(const struct unwind_table *table, const uint64_t *words)
{
	const struct python_version *known = python_version_find(0x030b + words[1] / 16 % 4);

	host_space.python.runtime = 0;
	if (!(words[1] & 8) || !known)
		return;
	host_space.python = (struct python_process){
		.runtime = stack_begin + words[6] % 512 * 8 - known->frames.interpreters,
		.none = stack_begin,
		.code_begin = table->base,
		.code_bytes = table->size_bytes,
		.layout = known->frames,
	};
	/* Lists of interpreters lie further apart than the stack is long. */
	host_space.python.layout.interpreter_next %= 64;
	host_space.python.layout.interpreter_threads %= 64;
}

/* A JVM whose heap of code lies on the stack, too. */
static void set_jvm(const uint64_t *words)
{
	host_space.jvm = (struct jvm_process){ 0 };
	if (!(words[1] & 64))
		return;
	host_space.jvm = (struct jvm_process){
		.begin = stack_begin,
		.bytes = STACK_BYTES_MAX,
		.interpreter_begin = stack_begin + words[4] % 512 * 8,
		.interpreter_bytes = 256,
		.heaps = { { stack_begin, stack_begin + STACK_BYTES_MAX, stack_begin + words[5] % STACK_BYTES_MAX } },
		.heap_count = 1,
		.segment_bits = words[6] % 40,
		.block_bytes = words[6] >> 8 & 31,
		.block_used = words[6] >> 16 & 31,
		.blob_frame = words[6] >> 24 & 31,
		.blob_code = words[6] >> 32 & 31,
		.blob_complete = words[6] >> 40 & 31,
		.complete_bytes = words[6] >> 48 & 1 ? 2 : 4,
		.is_code_offset = words[6] >> 49 & 1,
	};
}

static void check_stack(void)
{
	if (host_scratch.unwind.count > STACK_DEPTH_MAX || host_scratch.unwind.end >= STACK_ENDS)
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
	check_table(&table);
	load_table(&load, &table, 0, PART_UNITS);
	host_space = load_space(&load, ++version);
	set_python(&table, words);
	set_jvm(words);
	/* Python's threads are known by it, and below it Go keeps its g. */
	host_task.thread.fsbase = words[1] & 128 ? stack_begin + words[7] % 512 * 8 : words[7] % 256;
	host_registers = (struct pt_regs){
		.ip = words[1] & 64 ? stack_begin + words[2] % STACK_BYTES_MAX
				    : table.base + words[2] % (table.size_bytes + 16),
		.sp = words[1] & 2 ? words[3] : stack_begin + words[3] % 256 * 8,
		.bp = words[1] & 4 ? words[4] : stack_begin + words[4] % 512 * 8,
		.r10 = words[5],
		.ax = words[6],
		.di = words[7],
	};
	host_unwind(words[1] >> 8 & 127);
	check_stack();
	unwind_table_fini(&table);
	load_fini(&load);
	free(copy);
	return 0;
}
