/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script sees of an event, and what it says. */
#include "test.h"

#include <errno.h>

#include "script_fixture.h"

static struct script_stage stage;

static void open_script(const char *text)
{
	script_stage_begin(&stage);
	if (script_stage_open(&stage, text))
		test_fail(__FILE__, __LINE__, "%s", stage.why.bytes);
}

static void give(const struct named_event *event)
{
	if (script_stage_event(&stage, event))
		test_fail(__FILE__, __LINE__, "%s", stage.why.bytes);
}

TEST(an_event_of_the_kernel_has_names_and_fields)
{
	open_script(
		"function on_event(e) print(e.name, e.subsystem, e.event, e.time, e.seconds, e.thread, e.tid, e.pid,"
		" e.thread_name, e.application, e.cpu, e.argument, e.host, e.next, e.state, e.owners[1], #e.owners,"
		" e:field('cpu'), e.nothing, e.text) end");
	give(script_stage_switch(&stage, 3000));
	assert_string_equal(
		stage.said.bytes,
		"sched.SWITCH\tsched\tSWITCH\t3000\t2e-06\t2\t501\t500\tworker\tapp\t3\tnil\t\t1\t2\t7\t3\t3\tnil\t"
		"A CPU changes from one thread to another\n");
	script_stage_end(&stage);
}

TEST(an_event_of_a_programs_own_has_its_names_and_its_argument)
{
	open_script("function on_event(e) print(e.name, e.argument, e.cpu, e.text) end");
	give(script_stage_own(&stage, 3000, "memserv", "ALLOC", 4294967295));
	give(script_stage_own(&stage, 3000, "memserv", "FREE", 0));
	give(script_stage_own(&stage, 3000, "memserv", "ALLOC", 1));
	assert_string_equal(stage.said.bytes,
			    "memserv.ALLOC\t4294967295\t3\tnil\nmemserv.FREE\t0\t3\tnil\nmemserv.ALLOC\t1\t3\tnil\n");
	script_stage_end(&stage);
}

TEST(times_are_integers_of_64_bits)
{
	open_script("function on_event(e) print(math.type(e.time), e.time + 1) end");
	give(script_stage_switch(&stage, (1ull << 62) + 1));
	assert_string_equal(stage.said.bytes, "integer\t4611686018427387906\n");
	script_stage_end(&stage);
}

TEST(a_filter_says_whether_an_event_passes)
{
	bool passes = true;

	open_script("function filter(e) return e.name == 'memserv.ALLOC' and e.application == 'app' end");
	CHECK(stage.parts.has_filter && !stage.parts.has_decoder);
	CHECK_EQUAL(script_stage_filter(&stage, script_stage_switch(&stage, 3000), &passes), 0);
	CHECK(!passes);
	CHECK_EQUAL(script_stage_filter(&stage, script_stage_own(&stage, 3000, "memserv", "ALLOC", 1), &passes), 0);
	CHECK(passes);
	script_stage_end(&stage);
}

TEST(an_activity_has_what_the_script_gives_it_and_the_rest_of_the_event)
{
	open_script("function on_event(e) activity { name = 'held', begin = e.time - 500, ['end'] = e.time, mutex = 3,"
		    " what = 'x', rate = 0.5 } end");
	give(script_stage_switch(&stage, 3000));
	assert_string_equal(stage.said.bytes, "held 2500 3000 2 mutex=3 rate=0.5 what=x\n");
	script_stage_end(&stage);
}

TEST(an_activity_that_cannot_be_is_an_error_of_its_line)
{
	static const struct {
		const char *members, *said;
	} bad[] = {
		{ "", "begin has to be an integer" },
		{ "begin = 1, ['end'] = 0, name = 'x'", "end is before begin" },
		{ "begin = -1, ['end'] = 0, name = 'x'", "end is before begin" },
		{ "begin = 1.5, ['end'] = 2, name = 'x'", "begin has to be an integer" },
		{ "begin = 1, ['end'] = 2", "name has to be a string" },
		{ "begin = 1, ['end'] = 2, name = ''", "name has to have 1 to 64 bytes" },
		{ "begin = 1, ['end'] = 2, name = ('x'):rep(65)", "name has to have 1 to 64 bytes" },
		{ "begin = 1, ['end'] = 2, name = '\\0x'", "name has to have 1 to 64 bytes" },
		{ "begin = 1, ['end'] = 2, name = 'x', thread = -1", "thread is out of range" },
		{ "begin = 1, ['end'] = 2, name = 'x', t = {}", "parameter t has to be a number or a string" },
		{ "begin = 1, ['end'] = 2, name = 'x', 7", "names of parameters" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct text script = { 0 };

		text_printf(&script, "function on_event(e)\nactivity { %s }\nend", bad[i].members);
		open_script(script.bytes);
		CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 3000)), -EINVAL);
		if (strncmp(stage.why.bytes, "test.lua:2: ", 12) || !strstr(stage.why.bytes, bad[i].said))
			test_fail(__FILE__, __LINE__, "%s: %s", bad[i].members, stage.why.bytes);
		script_stage_end(&stage);
		text_fini(&script);
	}
}

TEST(events_are_listed_and_the_end_is_told)
{
	open_script("events = { 'a.B', 'C' } function on_event() end function finish() print('end') end");
	CHECK_EQUAL(stage.parts.event_count, 2);
	assert_string_equal(stage.parts.events[1], "C");
	CHECK(stage.parts.has_finish);
	CHECK_EQUAL(script_stage_finish(&stage), 0);
	assert_string_equal(stage.said.bytes, "end\n");
	script_stage_end(&stage);
}

TEST(an_event_that_was_kept_is_none_between_calls)
{
	open_script("function on_event(e) kept = e end function finish() print(kept.time) end");
	give(script_stage_switch(&stage, 3000));
	CHECK_EQUAL(script_stage_finish(&stage), -EINVAL);
	CHECK(strstr(stage.why.bytes, "test.lua:1: there is no event here"));
	script_stage_end(&stage);
}

TEST(functions_that_are_replaced_later_are_not_called)
{
	open_script("function on_event(e) on_event = nil print(e.event) end");
	give(script_stage_switch(&stage, 3000));
	give(script_stage_switch(&stage, 3000));
	assert_string_equal(stage.said.bytes, "SWITCH\nSWITCH\n");
	script_stage_end(&stage);
}
