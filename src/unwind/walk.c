/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/walk.h"

#include <stdbool.h>
#include <string.h>

/* The verifier's needs. */
#define barrier_var(variable)

#include "unwind_step.h"

struct walk {
	struct unwind unwind;
	const struct unwind_tables *tables;
	const struct unwind_copy *copy;
	bool is_copy_over; /* something beyond it was asked for */
};

/* Units beyond a chunk do not exist, whatever a table says. */
static inline void *chunk_of(const struct unwind *u, uint32_t place)
{
	const struct unwind_tables *tables = ((const struct walk *)u)->tables;
	uint32_t number = place >> UNWIND_CHUNK_BITS;

	return number < tables->chunk_count ? tables->chunks[number] : NULL;
}

static inline void *unit_at(const struct unwind *u __attribute__((unused)), void *chunk, uint32_t place)
{
	return (uint64_t *)chunk + (place & (UNWIND_CHUNK_UNITS - 1));
}

static inline bool word_read(struct unwind *u, __u64 address, __u64 *word)
{
	struct walk *walk = (struct walk *)u;
	const struct unwind_copy *copy = walk->copy;
	uint64_t begin = (copy->registers[STACK_POINTER] & -(uint64_t)WORD_BYTES) - RED_ZONE_BYTES;
	uint64_t offset = address - begin;

	if (offset >= copy->stack_bytes || copy->stack_bytes - offset < sizeof(*word)) {
		walk->is_copy_over |= offset < FRAME_POINTER_REACH;
		return false;
	}
	memcpy(word, (const char *)copy->stack + offset, sizeof(*word));
	return true;
}

static inline bool rare_word(struct unwind *u, __u64 address, __u64 *word)
{
	return word_read(u, address, word);
}

static inline bool register_read(const struct unwind *u, __u32 number, __u64 *value)
{
	*value = ((const struct walk *)u)->copy->registers[number];
	return true;
}

/* What lies there is not in the copy. */
static inline bool thread_pointer(struct unwind *u, __u64 *address __attribute__((unused)))
{
	((struct walk *)u)->is_copy_over = true;
	return false;
}

/* The next frames of Python or Ruby, if they are those of the native frame that takes the stack from begin to end. */
static void take_python(struct unwind_python *python, uint64_t begin, uint64_t end, uint32_t depth, uint64_t *frames,
			uint32_t *frame_count)
{
	size_t count = 0;

	while (count < python->count && python->words[count] & STACK_FRAME_MANAGED)
		count++;
	if (count == python->count || (python->words[count] && python->words[count] - begin >= end - begin))
		return;
	for (size_t i = 0; i < count && *frame_count < depth; i++)
		frames[(*frame_count)++] = python->words[i];
	python->words += count + 1;
	python->count -= count + 1;
}

uint32_t unwind_walk(const struct unwind_tables *tables, const struct unwind_copy *copy,
		     const struct unwind_python *python, uint32_t depth, uint64_t *frames, enum stack_end *end)
{
	struct walk walk = { .unwind.space = tables->space, .tables = tables, .copy = copy };
	struct unwind_python left = python ? *python : (struct unwind_python){ 0 };
	struct unwind *u = &walk.unwind;
	uint64_t sp, address;
	bool goes_on;

	unwind_begin(u, copy->registers[INSTRUCTION_POINTER], copy->registers[STACK_POINTER],
		     copy->registers[FRAME_POINTER]);
	goes_on = u->ip;
	while (goes_on && u->count < depth) {
		frames[u->count++] = unwind_frame(u);
		address = unwind_address(u);
		sp = u->sp;
		goes_on = unwind_step(u, rule_find(u, address));
		if (goes_on && address - left.code_begin < left.code_bytes)
			take_python(&left, sp, u->sp, depth, frames, &u->count);
	}
	*end = goes_on || walk.is_copy_over ? STACK_TRUNCATED : u->end;
	return u->count;
}
