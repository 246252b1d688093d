/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's frames among those of the interpreter, from structures as each version lays them out. The native stack is
 * the shim's; a frame in the interpreter's function is an evaluation.
 */
#include "ruby.bpf.h"
#include "test.h"
#include "world.h"
#undef const /* the shim of bpf_helpers.h takes it away from the programs */

#include "symbol/ruby/ruby_layout.h"

enum {
	/* The user's memory. */
	MODULE_AT = 0x100000,
	LIST = 0x110000,
	MEMORY = 0x120000,
	CONTEXT = 0x130000,
	STACK = 0x200000,
	STACK_WORDS = 0x10000,
	ENVIRONMENT = 0x400000,
	SEQUENCE = 0x500000,
	ENTRY = 0x600000,
	UNITS = 0x700000,
	VARIABLES = 0x800000,
	OBJECT_BYTES = 0x100,
	MODULE = 3,
	CONTEXT_OFFSET = 8,

	NATIVE = 0x9000, /* code of other functions */
	EVALUATES = 0x1000,
	EVALUATES_BYTES = 0x800,
	THREAD_POINTER = 0x7f00,
};

enum kind { BLOCK, METHOD, METHOD_WITH_VARIABLES, METHOD_WITHOUT_ENTRY, C_FUNCTION, FILE_OF_C, DUMMY };

/* One call of the interpreter's function, in a frame of the native stack. */
struct evaluation {
	uint32_t native;
	uint32_t count; /* of its Ruby frames */
};

static struct world world;
static struct world_task *task;
static const struct ruby_version *version;
static uint32_t frames_made; /* innermost first */

static void plant_word(uint64_t address, uint64_t value)
{
	shim_plant(address, &value, sizeof(value));
}

static uint64_t object_at(uint64_t first, uint32_t i)
{
	return first + i * OBJECT_BYTES;
}

static void plant_context(uint64_t stack, uint64_t stack_words, uint64_t frame)
{
	uint64_t context[RUBY_CONTEXT_WORDS] = { stack, stack_words, frame };

	shim_plant(CONTEXT, context, sizeof(context));
}

static void plant_thread(void)
{
	plant_word(MODULE_AT, MODULE);
	plant_word(THREAD_POINTER + 8, LIST);
	plant_word(LIST + MODULE * 16, MEMORY);
	plant_word(MEMORY + CONTEXT_OFFSET, CONTEXT);
	plant_context(STACK, STACK_WORDS, STACK + 0x1000);
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
	task->task.thread.fsbase = THREAD_POINTER;
	version = ruby_version_find(number);
	CHECK(version);
	shim_ruby = (struct ruby_process){
		.code_begin = EVALUATES,
		.code_bytes = EVALUATES_BYTES,
		.module_at = MODULE_AT,
		.context_offset = CONTEXT_OFFSET,
		.frame_bytes = version->frame_bytes,
	};
	frames_made = 0;
	plant_thread();
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

/* The next one further out. */
static void plant_frame(enum kind kind, bool is_first)
{
	uint32_t i = frames_made++;
	uint64_t frame[RUBY_FRAME_WORDS] = {
		[RUBY_FRAME_INSTRUCTION] = kind == C_FUNCTION || kind == FILE_OF_C ? 0 : object_at(UNITS, i),
		[RUBY_FRAME_CODE] = kind == C_FUNCTION ? 0 : object_at(SEQUENCE, i),
		[RUBY_FRAME_ENVIRONMENT] = object_at(ENVIRONMENT, i) + 16,
	};
	/* Special variables stand before the entry. */
	uint64_t variables[2] = { RUBY_OBJECT_VARIABLES, object_at(ENTRY, i) };
	uint64_t entry[2] = { RUBY_OBJECT_METHOD | 0x20 };
	uint64_t flags = kind >= METHOD && kind <= METHOD_WITHOUT_ENTRY ? RUBY_KIND_METHOD
			 : kind == DUMMY                                ? RUBY_KIND_DUMMY
									: 0x22220001;
	uint64_t environment[RUBY_ENVIRONMENT_WORDS] = {
		object_at(kind == METHOD_WITH_VARIABLES ? VARIABLES : ENTRY, i),
		0,
		flags | (is_first ? RUBY_FLAG_FINISH : 0),
	};

	shim_plant(STACK + 0x1000 + i * version->frame_bytes, frame, sizeof(frame));
	shim_plant(object_at(ENVIRONMENT, i), environment, sizeof(environment));
	if (kind == METHOD_WITHOUT_ENTRY)
		entry[0] = RUBY_OBJECT_CODE;
	shim_plant(object_at(ENTRY, i), entry, sizeof(entry));
	shim_plant(object_at(VARIABLES, i), variables, sizeof(variables));
}

static uint64_t managed(uint32_t i, enum kind kind)
{
	return STACK_FRAME_MANAGED |
	       object_at(kind == METHOD || kind == METHOD_WITH_VARIABLES ? ENTRY : SEQUENCE, i) << STACK_MANAGED_SHIFT |
	       (object_at(UNITS, i) / 8 & STACK_MANAGED_INDEX);
}

static void set_native(uint32_t count, const struct evaluation *evaluations, uint32_t evaluation_count)
{
	shim_user_stack.count = count;
	for (uint32_t i = 0; i < count; i++)
		shim_user_stack.frames[i] = NATIVE + i;
	for (uint32_t e = 0; e < evaluation_count; e++)
		shim_user_stack.frames[evaluations[e].native] = EVALUATES + 0x100 + e;
}

/* All are blocks; a frame of a function of C is between evaluations. */
static void plant_evaluations(const struct evaluation *evaluations, uint32_t count)
{
	for (uint32_t e = 0; e < count; e++) {
		plant_frame(C_FUNCTION, false);
		for (uint32_t i = 0; i < evaluations[e].count; i++)
			plant_frame(BLOCK, i + 1 == evaluations[e].count);
	}
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

/* Native frames, with the Ruby frames of each evaluation behind its own. */
static void check_evaluations(const struct ev_stack_frames *sent, uint32_t native_count,
			      const struct evaluation *evaluations, uint32_t count)
{
	uint32_t at = 0, ruby = 0, e = 0;

	CHECK(sent);
	for (uint32_t i = 0; i < native_count; i++) {
		CHECK_THAT(at, <, sent->user_count);
		CHECK_EQUAL(sent->frames[at++], shim_user_stack.frames[i]);
		if (e == count || evaluations[e].native != i)
			continue;
		ruby++; /* the function of C */
		for (uint32_t k = 0; k < evaluations[e].count; k++) {
			CHECK_THAT(at, <, sent->user_count);
			CHECK_EQUAL(sent->frames[at++], managed(ruby++, BLOCK));
		}
		e++;
	}
	CHECK_EQUAL(at, sent->user_count);
}

static const uint32_t numbers[] = { 0x0300, 0x0301, 0x0302, 0x0303 };

#define EACH_VERSION(i) for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)

TEST(ruby_frames_follow_the_native_frame_of_their_evaluation)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 7, 1 }, { 8, 2 }, { 15, 4 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_evaluations(evaluations, 4);
		set_native(20, evaluations, 4);
		CHECK(take(&sent));
		check_evaluations(sent, 20, evaluations, 4);
		CHECK_EQUAL(sent->header.thread, task->number);
		end();
	}
}

TEST(a_method_is_known_by_its_entry_where_there_is_one)
{
	static const struct evaluation evaluations[] = { { 1, 4 } };
	const struct ev_stack_frames *sent;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_frame(METHOD, false);
		plant_frame(METHOD_WITHOUT_ENTRY, false);
		plant_frame(METHOD_WITH_VARIABLES, false);
		plant_frame(BLOCK, true);
		set_native(4, evaluations, 1);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 8);
		CHECK_EQUAL(sent->frames[2], managed(0, METHOD));
		CHECK_EQUAL(sent->frames[3], managed(1, METHOD_WITHOUT_ENTRY));
		CHECK_EQUAL(sent->frames[4], managed(2, METHOD_WITH_VARIABLES));
		CHECK_EQUAL(sent->frames[5], managed(3, BLOCK));
		end();
	}
}

TEST(no_frame_of_ruby_has_the_index_of_javascript_or_java)
{
	static const struct evaluation evaluations[] = { { 1, 1 } };
	const struct ev_stack_frames *sent;

	for (uint64_t index = STACK_MANAGED_JAVA - 2; index <= STACK_MANAGED_INDEX; index++) {
		bool is_taken = index == STACK_MANAGED_JAVASCRIPT || index == STACK_MANAGED_JAVA;
		uint64_t noted = is_taken ? STACK_MANAGED_JAVA - 1 : index;
		uint64_t frame[RUBY_FRAME_WORDS] = {
			[RUBY_FRAME_CODE] = SEQUENCE,
			[RUBY_FRAME_ENVIRONMENT] = ENVIRONMENT + 16,
		};

		begin(0x0301);
		plant_frame(BLOCK, true);
		frame[RUBY_FRAME_INSTRUCTION] = (5 << 17 | index) * 8;
		shim_plant(STACK + 0x1000, frame, sizeof(frame));
		set_native(4, evaluations, 1);
		CHECK(take(&sent));
		CHECK_EQUAL(sent->user_count, 5);
		CHECK_EQUAL(sent->frames[2] & STACK_MANAGED_INDEX, noted);
		end();
	}
}

TEST(frames_that_run_no_instructions_are_no_evaluation_s)
{
	static const struct evaluation evaluations[] = { { 1, 1 }, { 3, 1 } };
	const struct ev_stack_frames *sent;

	begin(0x0301);
	plant_frame(BLOCK, true);
	plant_frame(FILE_OF_C, true); /* while a library of C is loaded */
	plant_frame(DUMMY, true);
	plant_frame(BLOCK, true);
	set_native(6, evaluations, 2);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 8);
	CHECK_EQUAL(sent->frames[2], managed(0, BLOCK));
	CHECK_EQUAL(sent->frames[5], managed(3, BLOCK));
	end();
}

TEST(in_an_executable_the_memory_is_that_of_the_first_module)
{
	static const struct evaluation evaluations[] = { { 1, 2 } };
	const struct ev_stack_frames *sent;

	begin(0x0301);
	plant_word(LIST + MODULE * 16, 0);
	plant_word(LIST + 16, MEMORY);
	shim_ruby.module_at = 0;
	plant_evaluations(evaluations, 1);
	set_native(6, evaluations, 1);
	CHECK(take(&sent));
	check_evaluations(sent, 6, evaluations, 1);
	end();
}

TEST(equal_frames_of_two_processes_have_two_names)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;
	uint64_t stack;

	begin(0x0301);
	plant_evaluations(evaluations, 1);
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

/* Native frames alone, and few readings. */
static void check_native(uint32_t count)
{
	const struct ev_stack_frames *sent;

	shim_user_reads = 0;
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, count);
	CHECK(!sent->header.thread);
	CHECK_THAT(shim_user_reads, <, 100);
}

TEST(threads_that_run_no_ruby_have_native_frames)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		plant_evaluations(evaluations, 1);
		plant_word(MEMORY + CONTEXT_OFFSET, 0);
		set_native(10, evaluations, 1);
		check_native(10);
		end();
	}
}

TEST(what_makes_no_sense_ends_ruby_s_frames)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	static const struct {
		uint64_t address, value;
	} lies[] = {
		{ MODULE_AT, 0 },
		{ MODULE_AT, 1ull << 40 },
		{ THREAD_POINTER + 8, 0xdead0000 },
		{ LIST + MODULE * 16, ~0ull },
		{ MEMORY + CONTEXT_OFFSET, 0xdead0000 },
	};
	static const uint64_t contexts[][RUBY_CONTEXT_WORDS] = {
		{ 0xffffffff81000000, STACK_WORDS, STACK + 0x1000 },
		{ STACK, 0, STACK + 0x1000 },
		{ STACK, STACK_WORDS, STACK - 8 },
		{ STACK, STACK_WORDS, STACK + 8 * STACK_WORDS },
		{ STACK, ~0ull, 0xdead0000 },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		begin(0x0301);
		plant_evaluations(evaluations, 1);
		plant_word(lies[i].address, lies[i].value);
		set_native(10, evaluations, 1);
		check_native(10);
		end();
	}
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		begin(0x0301);
		plant_evaluations(evaluations, 1);
		plant_context(contexts[i][0], contexts[i][1], contexts[i][2]);
		set_native(10, evaluations, 1);
		check_native(10);
		end();
	}
}

TEST(frames_without_end_come_to_one)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;

	begin(0x0301);
	/* No frame says that the evaluation began there. */
	for (uint32_t i = 0; i < 300; i++)
		plant_frame(BLOCK, false);
	set_native(10, evaluations, 1);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, STACK_DEPTH_MAX);
	CHECK_EQUAL(sent->end, STACK_TRUNCATED);
	end();
	/* One frame over and over, which runs nothing. */
	begin(0x0301);
	plant_frame(C_FUNCTION, false);
	shim_ruby.frame_bytes = 0;
	set_native(10, evaluations, 1);
	shim_user_reads = 0;
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 10);
	CHECK_THAT(shim_user_reads, <, RUBY_STEPS_MAX + 100);
	end();
}

TEST(a_stack_has_no_more_frames_than_it_may)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };
	const struct ev_stack_frames *sent;

	begin(0x0301);
	plant_evaluations(evaluations, 1);
	set_native(10, evaluations, 1);
	shim_set_option(stack_depth, 5);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 5);
	CHECK_EQUAL(sent->frames[4], managed(2, BLOCK));
	CHECK_EQUAL(sent->end, STACK_TRUNCATED);
	end();
}

/* What the list of waits sends of Ruby's frames; NULL: nothing. */
static const struct ev_stack_python *list_blocked(void)
{
	static struct {
		struct ev_stack_python e;
		uint64_t frames[BLOCKED_PYTHON_WORDS];
	} copy;
	struct bpf_iter__task ctx = { .task = &task->task };
	const struct ev_stack_python *found = NULL;
	const struct ev_header *header;
	size_t size;

	shim_now_ns += 1000000;
	task->task.__state = TASK_INTERRUPTIBLE;
	sched_switch(NULL, false, &task->task, &world.idle[0].task, TASK_INTERRUPTIBLE);
	shim_thread(&task->task)->wait_has_stack = 0;
	while (shim_read(&rings, 0, NULL))
		;
	list_waits(&ctx);
	while ((header = shim_read(&rings, 0, &size))) {
		if (header->subsys != TRACE_SUBSYS_STACK || header->event != TRACE_EVENT_STACK_PYTHON)
			continue;
		CHECK(!found && size <= sizeof(copy));
		memcpy(&copy, (void *)header, size);
		CHECK_EQUAL(size, sizeof(copy.e) + 8 * copy.e.count);
		found = &copy.e;
	}
	return found;
}

TEST(of_a_thread_that_is_blocked_each_evaluation_is_sent_with_its_end)
{
	static const struct evaluation evaluations[] = { { 2, 3 }, { 7, 1 }, { 8, 2 } };
	const struct ev_stack_python *sent;

	EACH_VERSION(i)
	{
		uint32_t at = 0, ruby = 0;

		begin(numbers[i]);
		plant_evaluations(evaluations, 3);
		set_native(20, evaluations, 3);
		sent = list_blocked();
		CHECK(sent);
		CHECK_EQUAL(sent->header.thread, task->number);
		CHECK_EQUAL(sent->pid, task->task.tgid);
		CHECK_EQUAL(sent->count, 9);
		for (size_t e = 0; e < 3; e++) {
			ruby++;
			for (uint32_t k = 0; k < evaluations[e].count; k++)
				CHECK_EQUAL(sent->frames[at++], managed(ruby++, BLOCK));
			CHECK_EQUAL(sent->frames[at++], 0);
		}
		end();
	}
}

TEST(a_thread_that_is_blocked_and_runs_no_ruby_sends_nothing_of_it)
{
	static const struct evaluation evaluations[] = { { 2, 3 } };

	begin(0x0301);
	plant_evaluations(evaluations, 1);
	set_native(20, evaluations, 1);
	plant_word(MEMORY + CONTEXT_OFFSET, 0);
	CHECK(!list_blocked());
	end();
}
