/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of compiled, interpreted and other generated code, made call by call as a HotSpot machine makes them, in heaps
 * whose maps of segments are made as it makes them: each step leads to the caller that was.
 */
#include "test.h"

#include <string.h>

#define barrier_var(variable)
#include "unwind_jvm.h"

enum {
	HEAPS = 2,
	SEGMENT_BITS = 7,
	SEGMENTS = 4096, /* of a heap */
	BLOCKS_MAX = 256,
	BLOB_CODE = 256, /* behind the block's header */
	BLOCK_BYTES = 16,
	STACK_WORDS = 8192,
	FRAMES_MAX = 64,
	CODE_AT = 0x200, /* of a block, the instructions that a test writes */
};

static const uint64_t heap_base = 0x7f0000000000, map_base = 0x7e0000000000, stack_base = 0x7d0000000000,
		      method_base = 0x7c0000000000;

struct block {
	uint64_t begin, bytes;
	int32_t frame_words;
};

static uint8_t heaps[HEAPS][SEGMENTS << SEGMENT_BITS], maps[HEAPS][SEGMENTS];
static uint64_t stack[STACK_WORDS];
static struct block blocks[BLOCKS_MAX];
static size_t block_count;
static uint64_t interpreter_begin, interpreter_bytes;
static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 24;
}

static uint64_t below(uint64_t limit)
{
	return next_random() % limit;
}

static void *at(uint64_t address, size_t size_bytes)
{
	uint64_t offset = address - heap_base;

	if (offset < sizeof(heaps) && size_bytes <= sizeof(heaps) - offset)
		return (uint8_t *)heaps + offset;
	offset = address - map_base;
	if (offset < sizeof(maps) && size_bytes <= sizeof(maps) - offset)
		return (uint8_t *)maps + offset;
	offset = address - stack_base;
	if (offset < sizeof(stack) && size_bytes <= sizeof(stack) - offset)
		return (uint8_t *)stack + offset;
	return NULL;
}

static inline bool code_read(struct unwind *u __attribute__((unused)), void *bytes, __u32 size_bytes, __u64 address)
{
	const void *from = at(address, size_bytes);

	if (from)
		memcpy(bytes, from, size_bytes);
	return from;
}

static inline bool word_read(struct unwind *u, __u64 address, __u64 *word)
{
	return code_read(u, word, sizeof(*word), address);
}

static inline bool rare_word(struct unwind *u, __u64 address, __u64 *word)
{
	return word_read(u, address, word);
}

static inline bool blob_find(struct unwind *u, __u64 address)
{
	return jvm_blob(u, address);
}

/* There are no tables. */
static inline void *chunk_of(const struct unwind *u __attribute__((unused)), __u32 place __attribute__((unused)))
{
	return NULL;
}

static inline void *unit_at(const struct unwind *u __attribute__((unused)), void *chunk,
			    __u32 place __attribute__((unused)))
{
	return chunk;
}

static inline bool register_read(const struct unwind *u __attribute__((unused)), __u32 number __attribute__((unused)),
				 __u64 *value __attribute__((unused)))
{
	return false;
}

static inline bool thread_pointer(struct unwind *u __attribute__((unused)), __u64 *address __attribute__((unused)))
{
	return false;
}

/* --- Heaps ----------------------------------------------------------------------------------- */

static void put_int(uint64_t address, int32_t value)
{
	memcpy(at(address, sizeof(value)), &value, sizeof(value));
}

static void put_word(uint64_t address, uint64_t value)
{
	memcpy(at(address, sizeof(value)), &value, sizeof(value));
}

/* As CodeHeap::mark_segmap_as_used() does. */
static void mark_segments(uint8_t *map, size_t first, size_t count)
{
	uint8_t hop = 0;

	for (size_t i = first; i < first + count; i++) {
		map[i] = hop++;
		if (hop == JVM_SEGMENT_IS_FREE)
			hop = 1;
	}
}

enum { BLOB_FRAME = 40, BLOB_COMPLETE = 44, BLOB_BEGIN = 48 };

static void add_block(size_t heap, size_t first, size_t count, int32_t frame_words)
{
	struct block *block = &blocks[block_count++];
	uint64_t blob;

	*block = (struct block){
		.begin = heap_base + heap * sizeof(heaps[0]) + (first << SEGMENT_BITS),
		.bytes = count << SEGMENT_BITS,
		.frame_words = frame_words,
	};
	blob = block->begin + BLOCK_BYTES;
	mark_segments(maps[heap], first, count);
	*(uint8_t *)at(block->begin + 8, 1) = 1;
	put_int(blob + BLOB_FRAME, frame_words);
	put_int(blob + BLOB_COMPLETE, 32);
	put_word(blob + BLOB_BEGIN, block->begin + BLOB_CODE);
}

/* The first block is the interpreter, the second one has stubs without frames. */
static void make_heaps(uint64_t seed)
{
	random_state = seed;
	memset(heaps, 0, sizeof(heaps));
	memset(maps, JVM_SEGMENT_IS_FREE, sizeof(maps));
	block_count = 0;
	add_block(0, 0, 1500, 0);
	interpreter_begin = blocks[0].begin + BLOB_CODE;
	interpreter_bytes = blocks[0].bytes - BLOB_CODE;
	add_block(0, 1500, 300, 0);
	for (size_t heap = 0; heap < HEAPS; heap++) {
		for (size_t first = heap ? 0 : 1800; block_count < BLOCKS_MAX;) {
			size_t count = below(8) ? 8 + below(40) : 8 + below(1000);

			if (first + count > SEGMENTS)
				break;
			if (below(4))
				add_block(heap, first, count, 2 + below(40));
			first += count;
		}
	}
}

static uint64_t code_in(const struct block *block)
{
	return block->begin + BLOB_CODE + 64 + below(block->bytes - BLOB_CODE - 64);
}

static const struct block *compiled(void)
{
	return &blocks[2 + below(block_count - 2)];
}

static void begin_unwind(struct unwind *u, uint64_t ip, uint64_t sp, uint64_t bp)
{
	memset(u, 0, sizeof(*u));
	unwind_begin(u, ip, sp, bp);
	u->space.jvm = (struct jvm_process){
		.begin = heap_base,
		.bytes = sizeof(heaps),
		.interpreter_begin = interpreter_begin,
		.interpreter_bytes = interpreter_bytes,
		.entry = blocks[1].begin + BLOB_CODE + 100,
		.heaps = { { heap_base, heap_base + sizeof(heaps[0]), map_base },
			   { heap_base + sizeof(heaps[0]), heap_base + sizeof(heaps), map_base + sizeof(maps[0]) } },
		.heap_count = HEAPS,
		.segment_bits = SEGMENT_BITS,
		.block_bytes = BLOCK_BYTES,
		.block_used = 8,
		.blob_frame = BLOB_FRAME,
		.blob_complete = BLOB_COMPLETE,
		.complete_bytes = 4,
		.blob_code = BLOB_BEGIN,
	};
}

static bool step(struct unwind *u)
{
	return unwind_step(u, jvm_rule_find(u, unwind_address(u)));
}

/* --- Stacks ---------------------------------------------------------------------------------- */

/* A thread, as its calls leave it. */
struct thread {
	uint64_t ip, sp, bp;
};

static void push(struct thread *thread, uint64_t word)
{
	thread->sp -= WORD_BYTES;
	put_word(thread->sp, word);
}

/* The frame of what is called by compiled code's rules, which then uses rbp for something else. */
static void call_compiled(struct thread *thread, const struct block *block)
{
	uint64_t top = thread->sp;

	push(thread, thread->ip);
	push(thread, thread->bp);
	thread->sp = top - block->frame_words * WORD_BYTES;
	thread->bp = below(2) ? next_random() : stack_base + below(STACK_WORDS) * WORD_BYTES;
	thread->ip = code_in(block);
}

/* Compiled callers' frames grow by the arguments. */
static void call_interpreted(struct thread *thread)
{
	uint64_t sender = thread->sp;

	thread->sp -= below(6) * WORD_BYTES;
	push(thread, thread->ip);
	push(thread, thread->bp);
	thread->bp = thread->sp;
	push(thread, sender);
	push(thread, next_random());
	push(thread, method_base + below(1000) * WORD_BYTES);
	for (size_t i = below(20); i--;)
		push(thread, next_random() & 0xffffff);
	thread->ip = interpreter_begin + 16 + below(interpreter_bytes - 16);
}

/* What Java is entered by, which has a frame pointer. */
static void call_stub(struct thread *thread)
{
	push(thread, thread->ip);
	push(thread, thread->bp);
	thread->bp = thread->sp;
	for (size_t i = below(8); i--;)
		push(thread, next_random() & 0xffffff);
	thread->ip = blocks[1].begin + BLOB_CODE + 100;
}

static struct thread first_thread(void)
{
	memset(stack, 0, sizeof(stack));
	return (struct thread){ 0x400000, stack_base + sizeof(stack) - 64, 0 };
}

TEST(a_frame_of_the_interpreter_is_one_of_its_method)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct thread thread;
		uint64_t method;
		struct unwind u;

		make_heaps(seed);
		thread = first_thread();
		call_stub(&thread);
		call_interpreted(&thread);
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = false;
		CHECK_EQUAL(jvm_rule_find(&u, unwind_address(&u)) & 0xf, UNWIND_INTERPRETED);
		memcpy(&method, at(thread.bp - 24, sizeof(method)), sizeof(method));
		CHECK_EQUAL(jvm_method_frame(&u),
			    STACK_FRAME_MANAGED | method << STACK_MANAGED_SHIFT | STACK_MANAGED_JAVA);
		put_word(thread.bp - 24, method + 1);
		CHECK_EQUAL(jvm_method_frame(&u), 0);
		u.bp = stack_base;
		CHECK_EQUAL(jvm_method_frame(&u), 0);
	}
}

TEST(each_step_leads_to_the_caller_that_was)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct thread frames[FRAMES_MAX], thread;
		size_t count = 2 + below(FRAMES_MAX - 2);
		struct unwind u;

		make_heaps(seed);
		thread = first_thread();
		for (size_t i = 0; i < count; i++) {
			frames[i] = thread;
			if (!i)
				call_stub(&thread);
			else if (below(3))
				call_compiled(&thread, compiled());
			else
				call_interpreted(&thread);
		}
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = false;
		for (size_t i = count; i--;) {
			CHECK(step(&u));
			CHECK_EQUAL(u.ip, frames[i].ip);
			CHECK_EQUAL(u.sp, frames[i].sp);
			CHECK_EQUAL(u.bp, frames[i].bp);
			CHECK(!u.is_guessed);
		}
	}
}

TEST(what_leads_out_of_the_machine_s_code_is_uncertain)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct thread thread;
		struct unwind u;

		make_heaps(seed);
		thread = first_thread();
		call_compiled(&thread, compiled());
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = false;
		CHECK(!step(&u));
		CHECK_EQUAL(u.end, STACK_NO_TABLE);
	}
}

TEST(a_free_block_has_no_frame)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct thread thread;
		struct unwind u;
		const struct block *block;

		make_heaps(seed);
		thread = first_thread();
		call_stub(&thread);
		block = compiled();
		call_compiled(&thread, block);
		*(uint8_t *)at(block->begin + 8, 1) = 0;
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = false;
		CHECK(!step(&u));
		/* The same where the map says so. */
		*(uint8_t *)at(block->begin + 8, 1) = 1;
		memset(maps, JVM_SEGMENT_IS_FREE, sizeof(maps));
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = false;
		CHECK(!step(&u));
	}
}

TEST(any_map_of_segments_and_any_frame_come_to_an_end)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct thread thread;
		struct unwind u;
		size_t steps = 0;

		make_heaps(seed % 7);
		random_state = seed;
		thread = first_thread();
		call_stub(&thread);
		for (size_t i = 0; i < 20; i++)
			call_compiled(&thread, compiled());
		for (size_t i = below(200); i--;)
			((uint8_t *)maps)[below(sizeof(maps))] = next_random();
		for (size_t i = below(200); i--;)
			put_int(blocks[below(block_count)].begin + BLOCK_BYTES + BLOB_FRAME, next_random());
		for (size_t i = below(50); i--;)
			stack[below(STACK_WORDS)] = below(2) ? heap_base + below(sizeof(heaps)) : next_random();
		begin_unwind(&u, thread.ip, thread.sp, thread.bp);
		u.is_exact = below(2);
		while (steps < STACK_WORDS) {
			uint64_t sp = u.sp;

			if (!step(&u))
				break;
			CHECK_THAT(u.sp, >, sp);
			steps++;
		}
		CHECK_THAT(steps, <, STACK_WORDS);
	}
}

/* --- Where a thread was interrupted ------------------------------------------------------------ */

/* An instruction, and what of the frame there is before it is done. */
struct instruction {
	const char *bytes;
	uint8_t size_bytes;
	enum { NOTHING, PUSHED, UNSAVED, ALL } there; /* UNSAVED: all but the caller's rbp */
	bool is_complete;                             /* the frame is, as the blob says */
};

#define CODE(string) (string), sizeof(string) - 1

static const struct instruction banging[] = {
	{ CODE("\x44\x8b\x56\x08"), NOTHING, false },
	{ CODE("\x0f\x85\x01\x02\x03\x04"), NOTHING, false },
	{ CODE("\x0f\x1f\x44\x00\x00"), NOTHING, false },
	{ CODE("\x89\x84\x24\x00\xc0\xfe\xff"), NOTHING, false },
	{ CODE("\x55"), NOTHING, false },
	{ CODE("\x48\x83\xec\x20"), PUSHED, false },
	{ CODE("\x41\x81\x7f\x20\x01\x00\x00\x00"), ALL, false },
	{ CODE("\x0f\x84\x05\x00\x00\x00"), ALL, false },
	{ CODE("\xe8\x01\x02\x03\x04"), ALL, false },
	{ CODE("\x48\x8b\xc6"), ALL, true },
	{ CODE("\x48\x83\xc4\x20"), ALL, true },
	{ CODE("\x5d"), PUSHED, true },
	{ CODE("\x49\x3b\xa7\x48\x03\x00\x00"), NOTHING, true },
	{ CODE("\x0f\x87\x01\x00\x00\x00"), NOTHING, true },
	{ CODE("\xc3"), NOTHING, true },
};

static const struct instruction small[] = {
	{ CODE("\x48\x81\xec\x28\x00\x00\x00"), NOTHING, false },
	{ CODE("\x48\x89\x6c\x24\x20"), UNSAVED, false },
	{ CODE("\x41\x81\xbf\x20\x01\x00\x00\x01\x00\x00\x00"), ALL, false },
	{ CODE("\x0f\x85\x05\x00\x00\x00"), ALL, false },
	{ CODE("\x48\x8b\xc6"), ALL, true },
	{ CODE("\x48\x83\xc4\x20"), ALL, true },
	{ CODE("\x5d"), PUSHED, true },
	{ CODE("\xc3"), NOTHING, true },
};

static const struct instruction preserving[] = {
	{ CODE("\x89\x84\x24\x00\xc0\xfe\xff"), NOTHING, false },
	{ CODE("\x55"), NOTHING, false },
	{ CODE("\x48\x8b\xec"), PUSHED, false },
	{ CODE("\x48\x81\xec\x20\x03\x00\x00"), PUSHED, false },
	{ CODE("\x48\x8b\xc6"), ALL, true },
	{ CODE("\x48\x83\xc4\x20"), ALL, true },
	{ CODE("\x5d"), PUSHED, true },
	{ CODE("\xc3"), NOTHING, true },
};

static struct thread interrupted(const struct thread *caller, const struct block *block, int there)
{
	struct thread thread = *caller;

	push(&thread, caller->ip);
	if (there == PUSHED || there == ALL)
		push(&thread, caller->bp);
	if (there == ALL || there == UNSAVED)
		thread.sp = caller->sp - block->frame_words * WORD_BYTES;
	if (there == ALL)
		thread.bp = next_random();
	return thread;
}

static void check_instructions(const struct instruction *instructions, size_t count)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t place;
		const struct block *block;
		struct thread caller;
		size_t complete = 0;

		make_heaps(seed);
		block = compiled();
		place = block->begin + CODE_AT;
		caller = first_thread();
		call_stub(&caller);
		call_compiled(&caller, compiled());
		for (size_t i = 0; i < count; i++) {
			memcpy(at(place, 16), instructions[i].bytes, instructions[i].size_bytes);
			complete += instructions[i].is_complete ? 0 : instructions[i].size_bytes;
			place += instructions[i].size_bytes;
		}
		put_int(block->begin + BLOCK_BYTES + BLOB_COMPLETE, complete);
		put_word(block->begin + BLOCK_BYTES + BLOB_BEGIN, block->begin + CODE_AT);
		place = block->begin + CODE_AT;
		for (size_t i = 0; i < count; place += instructions[i++].size_bytes) {
			struct thread thread = interrupted(&caller, block, instructions[i].there);
			struct unwind u;

			begin_unwind(&u, place, thread.sp, thread.bp);
			CHECK(step(&u));
			CHECK_EQUAL(u.ip, caller.ip);
			CHECK_EQUAL(u.sp, caller.sp);
			CHECK_EQUAL(u.bp, caller.bp);
			CHECK(!u.is_guessed);
		}
	}
}

TEST(the_caller_is_found_from_each_instruction_that_makes_a_frame_and_takes_it_down)
{
	check_instructions(banging, sizeof(banging) / sizeof(*banging));
	check_instructions(small, sizeof(small) / sizeof(*small));
	check_instructions(preserving, sizeof(preserving) / sizeof(*preserving));
}
