/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>

#include "activity/event_filter.h"
#include "base/text.h"
#include "script_fixture.h"
#include "session/session.h"

static struct script_stage stage;

/* Whether a switch of thread 2 to 1 on CPU 3, 1000 ns behind the first event, passes this word. */
static bool passes(enum filter_kind kind, const char *word)
{
	struct event_filter filter = { 0 };
	bool does_pass;

	CHECK_EQUAL(event_filter_add(&filter, kind, word), 0);
	script_stage_begin(&stage);
	does_pass = event_filter_passes(&filter, script_stage_switch(&stage, 2000));
	CHECK_EQUAL(filter.words[kind].is_met[0], does_pass);
	script_stage_end(&stage);
	return does_pass;
}

TEST(each_kind_of_word_chooses_by_what_it_names)
{
	CHECK(passes(FILTER_CPU, "3") && !passes(FILTER_CPU, "0"));
	CHECK(passes(FILTER_SUBSYSTEM, "sched") && !passes(FILTER_SUBSYSTEM, "SCHED") &&
	      !passes(FILTER_SUBSYSTEM, "sc"));
	CHECK(passes(FILTER_EVENT, "SWITCH") && passes(FILTER_EVENT, "sched.SWITCH"));
	CHECK(!passes(FILTER_EVENT, "thread.SWITCH") && !passes(FILTER_EVENT, "sched") &&
	      !passes(FILTER_EVENT, "WITCH"));
	CHECK(passes(FILTER_PROCESS, "500") && passes(FILTER_PROCESS, "app") && !passes(FILTER_PROCESS, "worker"));
	CHECK(!passes(FILTER_PROCESS, "501"));
}

TEST(a_thread_is_met_by_each_of_the_two_that_an_event_is_about)
{
	CHECK(passes(FILTER_THREAD, "2") && passes(FILTER_THREAD, "1") && !passes(FILTER_THREAD, "3"));
	CHECK(passes(FILTER_THREAD, "501") && passes(FILTER_THREAD, "worker") && passes(FILTER_THREAD, "app"));
	CHECK(!passes(FILTER_THREAD, "work"));
}

TEST(words_of_one_kind_are_alternatives_and_kinds_are_not)
{
	struct event_filter filter = { 0 };

	CHECK(!event_filter_is_set(&filter));
	event_filter_add(&filter, FILTER_EVENT, "WAKE");
	event_filter_add(&filter, FILTER_EVENT, "SWITCH");
	script_stage_begin(&stage);
	CHECK(event_filter_is_set(&filter));
	CHECK(event_filter_passes(&filter, script_stage_switch(&stage, 2000)));
	CHECK(!filter.words[FILTER_EVENT].is_met[0] && filter.words[FILTER_EVENT].is_met[1]);
	event_filter_add(&filter, FILTER_CPU, "7");
	CHECK(!event_filter_passes(&filter, script_stage_switch(&stage, 2000)));
	script_stage_end(&stage);
}

TEST(time_is_from_the_first_event_on_and_ends_before_its_end)
{
	struct event_filter filter = { .from_ns = 1000, .to_ns = 2000 };

	script_stage_begin(&stage);
	CHECK(!event_filter_passes(&filter, script_stage_switch(&stage, 1999)));
	CHECK(event_filter_passes(&filter, script_stage_switch(&stage, 2000)));
	CHECK(event_filter_passes(&filter, script_stage_switch(&stage, 2999)));
	CHECK(!event_filter_passes(&filter, script_stage_switch(&stage, 3000)));
	CHECK(!event_filter_passes(&filter, script_stage_switch(&stage, 10)));
	script_stage_end(&stage);
}

TEST(a_programs_event_is_on_the_cpu_of_its_thread)
{
	struct event_filter filter = { 0 };

	event_filter_add(&filter, FILTER_CPU, "3");
	script_stage_begin(&stage);
	CHECK(event_filter_passes(&filter, script_stage_own(&stage, 2000, "memserv", "ALLOC", 1)));
	script_stage_end(&stage);
}

TEST(words_that_cannot_be_meant_and_too_many_are_refused)
{
	struct event_filter filter = { 0 };

	CHECK_EQUAL(event_filter_add(&filter, FILTER_CPU, "x"), -EINVAL);
	CHECK_EQUAL(event_filter_add(&filter, FILTER_CPU, "65536"), -EINVAL);
	CHECK_EQUAL(event_filter_add(&filter, FILTER_EVENT, ""), -EINVAL);
	for (int i = 0; i < FILTER_WORDS_MAX; i++)
		CHECK_EQUAL(event_filter_add(&filter, FILTER_EVENT, "WAKE"), 0);
	CHECK_EQUAL(event_filter_add(&filter, FILTER_EVENT, "WAKE"), -E2BIG);
}

static void deliver_host(uint32_t number, const char *name)
{
	struct {
		struct ev_clock_host host;
		char name[8];
	} e = { 0 };

	e.host.header.subsys = TRACE_SUBSYS_CLOCK;
	e.host.header.event = TRACE_EVENT_CLOCK_HOST;
	e.host.host = number;
	e.host.text_bytes = sizeof(e.name);
	memcpy((char *)&e + sizeof(e.host), name, strlen(name));
	session_hand_out(stage.session, &e.host.header);
}

static bool host_passes(const char *host, uint32_t first_host)
{
	struct event_filter filter = { 0 };
	bool passes;

	event_filter_add(&filter, FILTER_HOST, host);
	script_stage_begin(&stage);
	deliver_host(first_host, "alpha");
	deliver_host(first_host + 1, "beta");
	passes = event_filter_passes(&filter, script_stage_switch(&stage, 2000));
	script_stage_end(&stage);
	return passes;
}

TEST(a_host_is_that_of_the_thread)
{
	CHECK(host_passes("alpha", 0) && !host_passes("beta", 0));
	CHECK(!host_passes("alpha", 1) && !host_passes("beta", 1));
}
