/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are tables, a list of ranges, registers and a stack. The tables are valid, or damaged
 * in places; the stack is hostile. The engine's walk of a copied stack ends, reads nothing but the
 * copy and its chunks, and finds what the kernel side finds in the same memory.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "load.h"
#include "unwind/walk.h"
#include "../unwind/host.h"

enum { CHUNKS = 2, STACK_PAGES = 2, STACK_BYTES = STACK_PAGES * 4096, ROWS_MAX = 64 };

static const uint64_t code_begin = 0x400000, library_begin = 0x7f0000001000, stack_begin = 0x7ffd00000000;

static uint64_t *chunks[CHUNKS];
static const uint8_t *stack;
static size_t stack_bytes;

/* --- The memory of the kernel side ------------------------------------------------------------ */

void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &scratch)
		return &host_scratch;
	if (map == &unwind_spaces)
		return &host_space;
	if (map == &unwind_chunks)
		return index < CHUNKS ? &chunks[index] : NULL;
	if (index >= UNWIND_CHUNK_UNITS)
		abort();
	return *(uint64_t **)map + index;
}

long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	uint64_t at = (uint64_t)from - stack_begin;

	if (at >= stack_bytes || size > stack_bytes - at)
		return -1;
	memcpy(to, stack + at, size);
	return 0;
}

/* --- What the bytes say ----------------------------------------------------------------------- */

/* Places and values that lead somewhere, and some that do not. */
static uint64_t take_word(struct input *input)
{
	uint8_t kind = take_number(input, 1);

	switch (kind & 7) {
	case 0:
		return 0;
	case 1:
		return code_begin + take_number(input, 1) * 4;
	case 2:
		return stack_begin + take_number(input, 1) * 8;
	case 3:
		return stack_begin + take_number(input, 2) % (STACK_BYTES + 64);
	case 4:
		return library_begin + take_number(input, 2);
	case 5:
		return -take_number(input, 1);
	case 6:
		return take_number(input, 8);
	}
	return kind >> 3;
}

/* Rows at small distances, of all kinds, with small offsets mostly. */
static void take_table(struct input *input, uint64_t base, struct unwind_table *table)
{
	unsigned int count = take_number(input, 1) % ROWS_MAX;

	*table = (struct unwind_table){ 0 };
	for (unsigned int i = 0; i < count && input->size; i++) {
		uint32_t shape = take_number(input, 3), rule = take_number(input, 1);

		if (shape & 1)
			rule = (rule & 0x3f) | (shape >> 1 & 3) << UNWIND_RBP_OFFSET_SHIFT |
			       (shape >> 3 & 0x1f) << UNWIND_OFFSET_SHIFT |
			       (shape & 0x100 ? 0x7eu << UNWIND_RBP_OFFSET_SHIFT : 0);
		else
			rule |= shape << 8;
		unwind_table_add(table, base, rule);
		base += 1 + (shape >> 9 & 0x3f) * (shape >> 15 & 1 ? 97 : 5);
	}
	unwind_table_add(table, base, UNWIND_NONE);
}

/* Tables at the beginning of the first chunk; the list in either one. */
static struct unwind_space make_space(struct input *input, uint8_t mode, uint32_t *used)
{
	static uint32_t version;
	struct load load = { 0 };
	struct unwind_table table;
	struct unwind_space space;
	uint32_t damages;

	take_table(input, code_begin, &table);
	check_table(&table);
	load_table(&load, &table, 0, mode & 1 ? 300 : 4096);
	unwind_table_fini(&table);
	take_table(input, 0x1000, &table);
	load_table(&load, &table, library_begin - 0x1000, 4096);
	unwind_table_fini(&table);
	space = load_space(&load, ++version);
	damages = mode & 2 ? take_number(input, 1) % 32 : 0;
	for (uint32_t i = 0; i < damages; i++) {
		uint32_t at = take_number(input, 2) % (load.unit_count + 1);

		load.units[at] = take_number(input, 1) & 1 ? take_word(input) : take_number(input, 8);
	}
	memcpy(chunks[0], load.units, load.unit_count * sizeof(uint64_t));
	*used = load.unit_count;
	if (mode & 4) {
		memcpy(chunks[1] + space.ranges, load.ranges, load.range_count * sizeof(*load.ranges));
		space.ranges += UNWIND_CHUNK_UNITS;
	}
	if (mode & 8)
		space.ranges = take_number(input, 4) >> take_number(input, 1) % 32;
	if (mode & 16)
		space.range_count = take_number(input, 4) >> take_number(input, 1) % 32;
	load_fini(&load);
	return space;
}

static void clear_chunks(uint32_t used)
{
	for (unsigned int i = 0; i < CHUNKS; i++)
		memset(chunks[i], 0, used * sizeof(uint64_t));
}

/* A stack of so many bytes, in which the words given come again and again. */
static uint8_t *take_stack(struct input *input, size_t size_bytes)
{
	uint8_t *memory = malloc(size_bytes + 1);
	uint64_t word;
	size_t at = 0, given;

	for (; at + sizeof(word) <= size_bytes && input->size; at += sizeof(word)) {
		word = take_word(input);
		memcpy(memory + at, &word, sizeof(word));
	}
	given = at ? at : 1;
	for (; at < size_bytes; at++)
		memory[at] = at >= given ? memory[at - given] : 0;
	return realloc(memory, size_bytes ? size_bytes : 1);
}

/* --- Both walks ------------------------------------------------------------------------------- */

static uint32_t walk(const struct unwind_space *space, const uint64_t *registers, uint32_t depth, uint64_t *frames,
		     enum stack_end *end)
{
	struct unwind_tables tables = { chunks, CHUNKS, *space };
	struct unwind_copy copy = { registers, stack, stack_bytes };
	/* The stack as frames of Python, in whatever file. */
	struct unwind_python python = { (const uint64_t *)stack, stack_bytes / sizeof(uint64_t), registers[0],
					registers[1] };
	uint32_t count = unwind_walk(&tables, &copy, &python, depth, frames, end);

	if (count > depth || *end >= STACK_ENDS)
		abort();
	return count;
}

static void kernel_walk(const struct unwind_space *space, const uint64_t *r, uint32_t depth)
{
	const struct unwind *u = &host_scratch.unwind;

	host_space = *space;
	host_registers = (struct pt_regs){
		.ax = r[0],
		.dx = r[1],
		.cx = r[2],
		.bx = r[3],
		.si = r[4],
		.di = r[5],
		.bp = r[6],
		.sp = r[7],
		.r8 = r[8],
		.r9 = r[9],
		.r10 = r[10],
		.r11 = r[11],
		.r12 = r[12],
		.r13 = r[13],
		.r14 = r[14],
		.r15 = r[15],
		.ip = r[16],
	};
	stack_depth = depth;
	host_unwind(0);
	if (u->count > depth || u->end >= STACK_ENDS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	struct input input = { bytes, size_bytes };
	uint8_t mode = take_number(&input, 1), depth = take_number(&input, 1) % STACK_DEPTH_MAX + 1;
	uint64_t registers[REGISTERS], *frames;
	enum stack_end end;
	struct unwind_space space;
	uint32_t used, count;

	for (unsigned int i = 0; i < CHUNKS && !chunks[i]; i++)
		chunks[i] = calloc(UNWIND_CHUNK_UNITS, sizeof(uint64_t));
	space = make_space(&input, mode, &used);
	for (unsigned int i = 0; i < REGISTERS; i++)
		registers[i] = take_word(&input);
	/* The copy begins below the red zone: so does the memory that both see. */
	if (!(mode & 32))
		registers[STACK_POINTER] = stack_begin + RED_ZONE_BYTES + registers[STACK_POINTER] % 8;
	stack_bytes = mode & 64 ? take_number(&input, 2) % (STACK_BYTES + 1) : STACK_BYTES;
	stack = take_stack(&input, stack_bytes);
	frames = malloc(depth * sizeof(*frames));

	count = walk(&space, registers, depth, frames, &end);
	kernel_walk(&space, registers, depth);
	/* Alike when the copy is all of the stack, in whole pages, for the kernel side reads ahead. */
	if (!(mode & 96) &&
	    (host_scratch.unwind.count != count || memcmp(host_scratch.frames, frames, count * sizeof(*frames)) ||
	     (end != STACK_TRUNCATED && end != host_scratch.unwind.end)))
		abort();
	free(frames);
	free((void *)stack);
	clear_chunks(used);
	return 0;
}
