/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of functions of JavaScript, which are found by frame pointers: on a stack and in a heap as V8 lays them out.
 */
#include "test.h"
#include "world.h"
#include "v8_format.h"
#undef const /* the shim of bpf_helpers.h takes it away from the programs */

enum {
	/* The user's memory. */
	STACK = 0x200e00, /* to the end of its page */
	STACK_BYTES = 512,
	HEAP = 0x300000,
	OBJECT_BYTES = 0x40,
	FUNCTION_SHARED = 24,
	MAP_TYPE = 12,
	SHARED_TYPE = 262,
	CONTEXT = -8,
	FUNCTION = -16,
	FRAME_BYTES = 64,
	NATIVE = 0x9000, /* code that the shim's table knows: its caller is on top of the stack */
};

/* Code that it does not. */
static const uint64_t generated = 1ull << 41;

static struct world world;
static struct world_task *task;
static struct pt_regs registers;
static uint8_t stack[STACK_BYTES];

static struct pt_regs *registers_of_task(struct task_struct *of __attribute__((unused)))
{
	return &registers;
}

static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake(&world, 0, task);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	shim_registers = registers_of_task;
	shim_v8 = (struct v8_process){
		.frame_context = CONTEXT,
		.frame_function = FUNCTION,
		.function_shared = FUNCTION_SHARED,
		.map_type = MAP_TYPE,
		.shared_type = SHARED_TYPE,
	};
	memset(stack, 0, sizeof(stack));
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static void plant_word(uint64_t address, uint64_t value)
{
	shim_plant(address, &value, sizeof(value));
}

/* A function's object i: closures of one function share what it is known by. */
static uint64_t function_at(uint32_t i)
{
	return HEAP + i * OBJECT_BYTES + 1;
}

static uint64_t shared_at(uint32_t i)
{
	return HEAP + (0x100 + i) * OBJECT_BYTES + 1;
}

static uint64_t map_at(uint32_t i)
{
	return HEAP + (0x200 + i) * OBJECT_BYTES + 1;
}

static void plant_map(uint32_t i, uint16_t type)
{
	shim_plant(map_at(i) - 1 + MAP_TYPE, &type, sizeof(type));
}

static void plant_function(uint32_t i, uint32_t shared, uint32_t map)
{
	plant_word(function_at(i) - 1 + FUNCTION_SHARED, shared_at(shared));
	plant_word(shared_at(shared) - 1, map_at(map));
}

static void put(uint64_t address, uint64_t value)
{
	memcpy(stack + (address - STACK), &value, sizeof(value));
}

static uint64_t frame_at(uint32_t i)
{
	return STACK + FRAME_BYTES * (i + 1);
}

/* Frame i has these words; it was called by code i + 1. */
static void put_frame(uint32_t i, uint64_t context, uint64_t function)
{
	put(frame_at(i) + CONTEXT, context);
	put(frame_at(i) + FUNCTION, function);
	put(frame_at(i), frame_at(i + 1));
	put(frame_at(i) + 8, generated + 0x100 * (i + 1));
}

/* count frames, the last of which nobody called. */
static void end_frames(uint32_t count)
{
	put(frame_at(count - 1), 0);
	put(frame_at(count - 1) + 8, 0);
	shim_plant(STACK, stack, sizeof(stack));
	registers.ip = generated;
	registers.sp = STACK;
	registers.bp = frame_at(0);
}

static uint64_t managed(uint32_t shared)
{
	return STACK_FRAME_MANAGED | (shared_at(shared) - 1) << STACK_MANAGED_SHIFT | STACK_MANAGED_JAVASCRIPT;
}

/* The stack as it was sent; NULL: it was not. */
static const struct ev_stack_frames *take(void)
{
	static struct {
		struct ev_stack_frames e;
		uint64_t frames[SHIM_FRAMES_MAX];
	} copy;
	const struct ev_header *header;
	size_t size = 0;

	shim_now_ns += 1000000;
	shim_current = &task->task;
	sched_switch(NULL, true, &task->task, &world.idle[0].task, 0);
	CHECK(shim_read(&rings, 0, NULL));
	header = shim_read(&rings, 0, &size);
	if (header)
		memcpy(&copy, (void *)header, size);
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
	CHECK(shim_read(&rings, 0, NULL) && !shim_read(&rings, 0, NULL));
	return size ? &copy.e : NULL;
}

TEST(a_function_stands_for_its_native_frame)
{
	const struct ev_stack_frames *sent;

	begin();
	plant_map(0, SHARED_TYPE);
	for (uint32_t i = 0; i < 4; i++) {
		plant_function(i, i / 2, 0);
		put_frame(i, HEAP + 1, function_at(i));
	}
	end_frames(4);
	sent = take();
	CHECK(sent);
	CHECK_EQUAL(sent->user_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQUAL(sent->frames[i], managed(i / 2));
	CHECK_EQUAL(sent->header.thread, task->number);
	end();
}

/* Frame 1 of 3 is some other. */
static void check_native(uint64_t context, uint64_t function)
{
	const struct ev_stack_frames *sent;

	put_frame(0, HEAP + 1, function_at(0));
	put_frame(1, context, function);
	put_frame(2, HEAP + 1, function_at(0));
	end_frames(3);
	sent = take();
	CHECK(sent);
	CHECK_EQUAL(sent->user_count, 3);
	CHECK_EQUAL(sent->frames[0], managed(0));
	CHECK_EQUAL(sent->frames[1], (generated + 0x100) | STACK_FRAME_GUESSED);
	CHECK_EQUAL(sent->frames[2], managed(0));
}

TEST(what_is_no_function_leaves_its_address)
{
	static const struct {
		uint64_t context, function;
	} words[] = {
		{ 0x16, 0 },            /* a frame of another kind says which */
		{ HEAP + 1, 0x700000 }, /* an integer */
		{ HEAP + 1, 0x700003 }, /* a weak reference */
		{ HEAP + 1, 0x700001 }, /* memory that cannot be read */
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		begin();
		plant_map(0, SHARED_TYPE);
		plant_function(0, 0, 0);
		check_native(words[i].context, words[i].function ? words[i].function : function_at(0));
		end();
	}
	/* An object of another type, and one whose map cannot be read. */
	for (uint32_t map = 1; map <= 2; map++) {
		begin();
		plant_map(0, SHARED_TYPE);
		plant_map(1, SHARED_TYPE + 1);
		plant_function(0, 0, 0);
		plant_function(1, 1, map);
		check_native(HEAP + 1, function_at(1));
		end();
	}
}

TEST(without_v8_all_frames_are_native)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_v8.shared_type = 0;
	plant_map(0, SHARED_TYPE);
	plant_function(0, 0, 0);
	for (uint32_t i = 0; i < 3; i++)
		put_frame(i, HEAP + 1, function_at(0));
	end_frames(3);
	sent = take();
	CHECK(sent);
	CHECK_EQUAL(sent->user_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(!(sent->frames[i] & STACK_FRAME_MANAGED));
	CHECK_EQUAL(sent->header.thread, 0);
	end();
}

TEST(code_that_a_table_knows_is_no_function)
{
	const struct ev_stack_frames *sent;

	begin();
	plant_map(0, SHARED_TYPE);
	plant_function(0, 0, 0);
	put_frame(0, HEAP + 1, function_at(0));
	end_frames(1);
	registers.ip = NATIVE;
	sent = take();
	CHECK(sent && sent->user_count);
	CHECK_EQUAL(sent->frames[0], NATIVE);
	end();
}
