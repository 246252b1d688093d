/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Python's frames among those of the interpreter, from structures as each version lays them out.
 * The native stack is the shim's: a frame takes 8 bytes, where the evaluation's anchor lies.
 */
#include "python.bpf.h"
#include "test.h"
#include "world.h"
#undef const /* the shim of bpf_helpers.h takes it away from the programs */

#include "symbol/python/python_layout.h"

enum {
	/* The user's memory. */
	RUNTIME = 0x100000,
	INTERPRETER = 0x200000,
	THREAD = 0x300000,
	RECORD = 0x400000,
	FRAME = 0x500000,
	NONE = 0x600000,
	CODE = 0x700000,
	OBJECT_BYTES = 0x100,

	NATIVE = 0x9000,      /* code of other files */
	INTERPRETED = 0x1000, /* of the interpreter's */
	INTERPRETER_BYTES = 0x1000,
	ID = 0x7f00,
};

/* One call of the interpreter's function, in a frame of the native stack. */
struct evaluation {
	uint32_t native;
	uint32_t count; /* of its Python frames */
};

static struct world world;
static struct world_task *task;
static const struct python_version *version;
static uint32_t frames_made;

static void put(uint8_t *object, uint32_t offset, uint64_t value)
{
	memcpy(object + offset, &value, sizeof(value));
}

static void plant_word(uint64_t address, uint64_t value)
{
	shim_plant(address, &value, sizeof(value));
}

static void begin(uint32_t number)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake(&world, 0, task);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	shim_registers = NULL;
	task->task.thread.fsbase = ID;
	version = python_version_find(number);
	CHECK(version);
	shim_python = (struct python_process){
		.runtime = RUNTIME,
		.none = NONE,
		.code_begin = INTERPRETED,
		.code_bytes = INTERPRETER_BYTES,
		.layout = version->frames,
	};
	frames_made = 0;
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static uint64_t object_at(uint64_t first, uint32_t i)
{
	return first + i * OBJECT_BYTES;
}

static void plant_thread(uint32_t i, uint64_t id, uint64_t next, uint64_t innermost)
{
	uint8_t thread[PYTHON_THREAD_BYTES] = { 0 };

	put(thread, version->frames.thread_next, next);
	put(thread, version->frames.thread_id, id);
	put(thread, version->frames.thread_frame, innermost);
	shim_plant(object_at(THREAD, i), thread, sizeof(thread));
}

/* Two interpreters; the second, which is seen later, has three threads. The last one is ours. */
static void plant_threads(uint64_t innermost)
{
	const struct python_layout *layout = &version->frames;

	plant_word(RUNTIME + layout->interpreters, INTERPRETER);
	plant_word(INTERPRETER + layout->interpreter_next, INTERPRETER + 0x10000);
	plant_word(INTERPRETER + layout->interpreter_threads, object_at(THREAD, 3));
	plant_word(INTERPRETER + 0x10000 + layout->interpreter_next, 0);
	plant_word(INTERPRETER + 0x10000 + layout->interpreter_threads, object_at(THREAD, 0));
	plant_thread(3, ID + 3, 0, 0);
	plant_thread(0, ID + 1, object_at(THREAD, 1), 0);
	plant_thread(1, ID + 2, object_at(THREAD, 2), 0);
	plant_thread(2, ID, 0, innermost);
}

/* owner: as CPython has it; code 0: a frame that stands for C. */
static void plant_frame(uint64_t address, uint64_t code, uint32_t index, uint64_t previous, bool is_entry)
{
	const struct python_layout *layout = &version->frames;
	uint8_t frame[PYTHON_FRAME_BYTES] = { 0 };

	put(frame, layout->frame_code, code);
	put(frame, layout->frame_previous, previous);
	put(frame, layout->frame_instruction, code + layout->code_instructions + 2 * index);
	if (layout->frame_function)
		put(frame, layout->frame_function, code);
	frame[layout->frame_owner] = code ? 0 : PYTHON_OWNED_BY_C;
	if (layout->frame_entry)
		frame[layout->frame_entry] = is_entry;
	shim_plant(address, frame, sizeof(frame));
}

static uint64_t anchor_of(const struct evaluation *evaluation)
{
	return SHIM_STACK_BASE + 8 * evaluation->native;
}

static void plant_record(uint64_t address, uint64_t frame, uint64_t previous)
{
	uint8_t record[PYTHON_RECORD_BYTES] = { 0 };

	put(record, version->frames.record_frame, frame);
	put(record, version->frames.record_previous, previous);
	shim_plant(address, record, sizeof(record));
}

/* The innermost evaluation first; frame i runs code i, at instruction i. Returns what a thread has. */
static uint64_t plant_evaluations(const struct evaluation *evaluations, uint32_t count)
{
	bool has_entries = version->frames.frame_entry;
	uint64_t first = object_at(FRAME, 0);
	uint32_t made = 0;

	for (uint32_t e = 0; e < count; e++) {
		uint64_t begins = object_at(FRAME, made);

		for (uint32_t i = 0; i < evaluations[e].count; i++, made++) {
			bool is_last = i + 1 == evaluations[e].count;
			uint64_t previous = object_at(FRAME, made + 1);

			if (is_last && !has_entries)
				previous = anchor_of(&evaluations[e]);
			else if (is_last && e + 1 == count)
				previous = 0;
			plant_frame(object_at(FRAME, made), object_at(CODE, made), made, previous, is_last);
		}
		if (has_entries)
			plant_record(anchor_of(&evaluations[e]), begins,
				     e + 1 < count ? anchor_of(&evaluations[e + 1]) : RECORD);
		else
			plant_frame(anchor_of(&evaluations[e]), 0, 0, e + 1 < count ? object_at(FRAME, made) : 0,
				    false);
	}
	if (has_entries) {
		plant_record(RECORD, 0, 0);
		return anchor_of(&evaluations[0]);
	}
	if (!version->frames.has_records)
		return first;
	plant_record(RECORD, first, 0);
	return RECORD;
}

static void set_native(uint32_t count, const struct evaluation *evaluations, uint32_t evaluation_count)
{
	shim_user_stack.count = count;
	for (uint32_t i = 0; i < count; i++)
		shim_user_stack.frames[i] = NATIVE + i;
	for (uint32_t e = 0; e < evaluation_count; e++)
		shim_user_stack.frames[evaluations[e].native] = INTERPRETED + 0x100 + e;
}

static uint64_t managed(uint32_t i)
{
	return STACK_FRAME_MANAGED | object_at(CODE, i) << STACK_MANAGED_SHIFT | i;
}

/* The stack's name, and its frames as far as they were sent. */
static uint64_t take(const struct ev_stack_frames **sent)
{
	static struct {
		struct ev_stack_frames e;
		uint64_t frames[SHIM_FRAMES_MAX];
	} copy;
	const struct ev_header *header;
	uint64_t stack;
	size_t size;

	shim_now_ns += 1000000;
	shim_current = &task->task;
	sched_switch(NULL, true, &task->task, &world.idle[0].task, 0);
	header = shim_read(&rings, 0, NULL);
	CHECK(header);
	CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_SWITCH);
	stack = ((const struct ev_sched_switch *)header)->stack;
	header = shim_read(&rings, 0, &size);
	*sent = NULL;
	if (header) {
		memcpy(&copy, (void *)header, size);
		CHECK_EQUAL(size, sizeof(copy.e) + 8 * copy.e.user_count);
		*sent = &copy.e;
	}
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
	CHECK(shim_read(&rings, 0, NULL) && !shim_read(&rings, 0, NULL));
	return stack;
}

/* Native frames, with the Python frames of each evaluation behind its own. */
static void check_frames(const struct ev_stack_frames *sent, uint32_t native_count,
			 const struct evaluation *evaluations, uint32_t count)
{
	uint32_t at = 0, python = 0, e = 0;

	CHECK(sent);
	for (uint32_t i = 0; i < native_count; i++) {
		CHECK_THAT(at, <, sent->user_count);
		CHECK_EQUAL(sent->frames[at++], shim_user_stack.frames[i]);
		if (e == count || evaluations[e].native != i)
			continue;
		for (uint32_t k = 0; k < evaluations[e].count; k++) {
			CHECK_THAT(at, <, sent->user_count);
			CHECK_EQUAL(sent->frames[at++], managed(python++));
		}
		e++;
	}
	CHECK_EQUAL(at, sent->user_count);
}

static void check_evaluations(const struct evaluation *evaluations, uint32_t count)
{
	const struct ev_stack_frames *sent;

	plant_threads(plant_evaluations(evaluations, count));
	set_native(20, evaluations, count);
	CHECK(take(&sent));
	check_frames(sent, 20, evaluations, count);
	CHECK_EQUAL(sent->header.thread, task->number);
}

static const uint32_t numbers[] = { 0x030b, 0x030c, 0x030d };

#define EACH_VERSION(i) for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)

TEST(python_frames_follow_the_native_frame_of_their_evaluation)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 7, 1 }, { 8, 2 }, { 15, 4 } };

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		check_evaluations(evaluations, 4);
		end();
	}
}

TEST(the_innermost_native_frame_can_be_an_evaluation)
{
	static const struct evaluation evaluations[] = { { 0, 2 }, { 1, 1 } };

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		check_evaluations(evaluations, 2);
		end();
	}
}

TEST(an_evaluation_that_is_not_yet_in_the_lists_has_no_frames)
{
	static const struct evaluation evaluations[] = { { 1, 3 }, { 4, 2 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 2));
		set_native(20, evaluations, 2);
		/* It calls itself, and has not come far. */
		shim_user_stack.frames[0] = INTERPRETED + 0x700;
		CHECK(take(&sent));
		check_frames(sent, 20, evaluations, 2);
		end();
	}
}

TEST(frames_that_are_the_interpreter_s_own_are_left_out)
{
	static const struct evaluation evaluations[] = { { 1, 1 } };
	const struct ev_stack_frames *sent;
	uint8_t frame[PYTHON_FRAME_BYTES] = { 0 };

	begin(0x030d);
	plant_threads(object_at(FRAME, 9));
	plant_evaluations(evaluations, 1);
	put(frame, version->frames.frame_code, CODE);
	put(frame, version->frames.frame_previous, object_at(FRAME, 0));
	put(frame, version->frames.frame_function, NONE);
	shim_plant(object_at(FRAME, 9), frame, sizeof(frame));
	set_native(20, evaluations, 1);
	CHECK(take(&sent));
	check_frames(sent, 20, evaluations, 1);
	end();
}

TEST(an_index_that_is_not_in_the_code_is_not_known)
{
	static const struct evaluation evaluations[] = { { 1, 2 } };
	static const uint32_t indexes[] = { -1u, 1 << 17, (1 << 17) - 1, 0x40000000 };
	const struct ev_stack_frames *sent;

	for (size_t i = 0; i < sizeof(indexes) / sizeof(*indexes); i++) {
		begin(0x030c);
		plant_threads(plant_evaluations(evaluations, 1));
		plant_frame(object_at(FRAME, 0), object_at(CODE, 0), indexes[i], object_at(FRAME, 1), false);
		set_native(4, evaluations, 1);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 6);
		CHECK_EQUAL(sent->frames[2], managed(0) | STACK_MANAGED_INDEX);
		CHECK_EQUAL(sent->frames[3], managed(1));
		end();
	}
}

TEST(a_thread_s_state_is_sought_once)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;
	uint64_t reads, stack;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 1));
		set_native(10, evaluations, 1);
		stack = take(&sent);
		reads = shim_user_reads;
		shim_user_reads = 0;
		CHECK_EQUAL(take(&sent), stack);
		CHECK(!sent);
		/* Two interpreters, three threads of others, one word of the runtime's. */
		CHECK_EQUAL(shim_user_reads + 1 + 2 * 2 + 3, reads);

		/* Its memory becomes another's. */
		plant_thread(2, ID + 9, 0, 0);
		CHECK_THAT(take(&sent), !=, stack);
		CHECK(sent);
		CHECK_EQUAL(sent->user_count, 10);
		plant_threads(plant_evaluations(evaluations, 1));
		end();
	}
}

TEST(a_thread_without_a_state_is_sought_less_and_less_often)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;
	uint64_t searches = 0, reads_min;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 1));
		plant_thread(2, ID + 9, 0, 0);
		set_native(10, evaluations, 1);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		CHECK(!sent->header.thread);
		shim_user_reads = 0;
		take(&sent);
		reads_min = shim_user_reads;
		searches = 0;
		for (uint32_t k = 0; k < 2000; k++) {
			shim_user_reads = 0;
			take(&sent);
			searches += shim_user_reads > reads_min;
		}
		CHECK_THAT(searches, >, 8);
		CHECK_THAT(searches, <, 20);
		end();
	}
}

TEST(without_python_s_memory_there_are_native_frames)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		set_native(10, evaluations, 1);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		end();
	}
}

TEST(what_cannot_be_read_ends_python_s_frames_only)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 5, 1 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 2));
		/* From the second frame one goes nowhere. */
		plant_frame(object_at(FRAME, 1), object_at(CODE, 1), 1, 0xdead0000, false);
		set_native(10, evaluations, 2);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		end();
	}
}

TEST(lists_that_lead_to_themselves_come_to_an_end)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 5, 1 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		/* Threads */
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 2));
		plant_thread(1, ID + 2, object_at(THREAD, 0), 0);
		set_native(10, evaluations, 2);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		CHECK_THAT(shim_user_reads, <, PYTHON_STEPS_MAX + 100);
		end();
		/* Interpreters without threads */
		begin(numbers[i]);
		plant_word(RUNTIME + version->frames.interpreters, INTERPRETER);
		plant_word(INTERPRETER + version->frames.interpreter_next, INTERPRETER);
		plant_word(INTERPRETER + version->frames.interpreter_threads, 0);
		set_native(10, evaluations, 2);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		end();
		/* Frames */
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 2));
		plant_frame(object_at(FRAME, 1), object_at(CODE, 1), 1, object_at(FRAME, 0), false);
		set_native(10, evaluations, 2);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 10);
		CHECK_THAT(shim_user_reads, <, PYTHON_STEPS_MAX + 100);
		end();
	}
}

TEST(evaluations_that_lead_to_themselves_come_to_an_end)
{
	static const struct evaluation evaluations[] = { { 2, 1 } };
	const struct ev_stack_frames *sent;

	begin(0x030b);
	plant_threads(plant_evaluations(evaluations, 1));
	plant_record(anchor_of(&evaluations[0]), object_at(FRAME, 0), anchor_of(&evaluations[0]));
	set_native(10, evaluations, 1);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, STACK_DEPTH_MAX);
	CHECK_EQUAL(sent->end, STACK_TRUNCATED);
	CHECK_THAT(shim_user_reads, <, PYTHON_STEPS_MAX + 100);
	end();
	begin(0x030c);
	plant_threads(plant_evaluations(evaluations, 1));
	plant_frame(anchor_of(&evaluations[0]), 0, 0, anchor_of(&evaluations[0]), false);
	set_native(10, evaluations, 1);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 11);
	CHECK_THAT(shim_user_reads, <, PYTHON_STEPS_MAX + 100);
	end();
}

TEST(a_deep_evaluation_shows_its_innermost_frames)
{
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		for (uint32_t depth = 100; depth <= 1000; depth += 300) {
			struct evaluation evaluation = { 3, depth };
			uint32_t shown = STACK_DEPTH_MAX - 4;

			begin(numbers[i]);
			plant_threads(plant_evaluations(&evaluation, 1));
			set_native(10, &evaluation, 1);
			CHECK(take(&sent));
			if (shown > depth)
				shown = depth;
			for (uint32_t k = 0; k < shown; k++)
				CHECK_EQUAL(sent->frames[4 + k], managed(k));
			CHECK(depth == shown || sent->end == STACK_TRUNCATED);
			end();
		}
	}
}

TEST(the_depth_option_counts_python_s_frames)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;

	begin(0x030d);
	plant_threads(plant_evaluations(evaluations, 1));
	set_native(10, evaluations, 1);
	shim_set_option(stack_depth, 5);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 5);
	CHECK_EQUAL(sent->frames[4], managed(1));
	CHECK_EQUAL(sent->end, STACK_TRUNCATED);
	end();
}

TEST(equal_frames_of_two_processes_have_two_names)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;
	uint64_t stack;

	begin(0x030c);
	plant_threads(plant_evaluations(evaluations, 1));
	set_native(10, evaluations, 1);
	stack = take(&sent);
	task->task.tgid++;
	CHECK_THAT(take(&sent), !=, stack);
	CHECK(sent);
	task->task.tgid--;
	CHECK_EQUAL(take(&sent), stack);
	CHECK(!sent);
	end();
}

/* What the list of waits sends of Python's frames; NULL: nothing. Nothing else of Python is in the rings then. */
static const struct ev_stack_python *list_blocked(void)
{
	static struct {
		struct ev_stack_python e;
		uint64_t frames[BLOCKED_PYTHON_WORDS];
	} copy;
	struct bpf_iter__task ctx = { .task = &task->task };
	const struct ev_stack_python *found = NULL;
	const struct ev_header *header;
	uint64_t stack = 0;
	size_t size;

	shim_now_ns += 1000000;
	task->task.__state = TASK_INTERRUPTIBLE;
	sched_switch(NULL, false, &task->task, &world.idle[0].task, TASK_INTERRUPTIBLE);
	shim_thread(&task->task)->wait_has_stack = 0;
	while (shim_read(&rings, 0, NULL))
		;
	list_waits(&ctx);
	while ((header = shim_read(&rings, 0, &size))) {
		if (header->subsys != TRACE_SUBSYS_STACK)
			continue;
		if (header->event == TRACE_EVENT_STACK_PYTHON) {
			CHECK(!found && size <= sizeof(copy));
			memcpy(&copy, (void *)header, size);
			CHECK_EQUAL(size, sizeof(copy.e) + 8 * copy.e.count);
			found = &copy.e;
		} else {
			CHECK_EQUAL(header->event, TRACE_EVENT_STACK_MEMORY);
			stack = ((const struct ev_stack_memory *)header)->stack;
		}
	}
	CHECK(stack && (!found || found->stack == stack));
	return found;
}

TEST(of_a_thread_that_is_blocked_each_evaluation_is_sent_with_its_anchor)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 7, 1 }, { 8, 2 } };
	const struct ev_stack_python *sent;

	EACH_VERSION(i)
	{
		uint32_t at = 0, python = 0;

		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 3));
		set_native(20, evaluations, 3);
		sent = list_blocked();
		CHECK(sent);
		CHECK_EQUAL(sent->header.thread, task->number);
		CHECK_EQUAL(sent->pid, task->task.tgid);
		CHECK_EQUAL(sent->count, 9);
		for (size_t e = 0; e < 3; e++) {
			for (uint32_t k = 0; k < evaluations[e].count; k++)
				CHECK_EQUAL(sent->frames[at++], managed(python++));
			CHECK_EQUAL(sent->frames[at++], anchor_of(&evaluations[e]));
		}
		end();
	}
}

TEST(a_thread_that_is_blocked_and_has_no_state_sends_nothing_of_python)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_threads(plant_evaluations(evaluations, 1));
		set_native(20, evaluations, 1);
		task->task.thread.fsbase = ID + 100;
		CHECK(!list_blocked());
		shim_python.runtime = 0;
		task->task.thread.fsbase = ID;
		CHECK(!list_blocked());
		end();
	}
}
