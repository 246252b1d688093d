/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <inttypes.h>
#include <string.h>

#include "activity/decode/event_words.h"
#include "activity/decode/pairs.h"
#include "base/text.h"
#include "script_fixture.h"

static struct script_stage stage;
static struct text made;
static struct pairs *pairs;
static uint64_t count;

static void take(void *data, const struct activity *activity)
{
	(void)data;
	count++;
	text_printf(&made, "%s %" PRIu64 "-%" PRIu64 " %u", activity->name, activity->begin_ns, activity->end_ns,
		    activity->thread);
	CHECK_EQUAL(activity->is_message,
		    activity->parameter_count > 1 && !strcmp(activity->parameters[1].name, "receiver"));
	for (size_t i = 0; i < activity->parameter_count; i++)
		text_printf(&made, " %s=%" PRId64, activity->parameters[i].name, activity->parameters[i].integer);
	text_put(&made, "\n");
}

static void begin(void)
{
	script_stage_begin(&stage);
	pairs = pairs_new((struct activity_sink){ take, NULL });
	count = 0;
	text_put(&made, "");
}

static void end(void)
{
	pairs_free(pairs);
	script_stage_end(&stage);
	text_fini(&made);
}

static void happens(uint64_t time_ns, uint32_t thread, const char *name, uint32_t argument)
{
	struct named_event event = *script_stage_own(&stage, time_ns, "net", name, argument);

	event.thread = event.other_thread = thread;
	pairs_on_event(pairs, &event);
}

TEST(each_word_is_known_alone_and_behind_an_underscore)
{
	static const char *const begins[] = { "BEGIN", "LOCK", "START", "ENTER" };
	static const char *const ends[] = { "END", "UNLOCK", "STOP", "EXIT" };

	for (size_t i = 0; i < 4; i++) {
		struct text name = { 0 };

		CHECK_EQUAL(event_words_of(begins[i]).part, PART_BEGIN);
		CHECK_EQUAL(event_words_of(ends[i]).part, PART_END);
		CHECK_EQUAL(event_words_of(begins[i]).family, event_words_of(ends[i]).family);
		text_printf(&name, "A_B_%s", ends[i]);
		CHECK_EQUAL(event_words_of(name.bytes).part, PART_END);
		CHECK_EQUAL(event_words_of(name.bytes).stem_length, 3);
		text_fini(&name);
	}
	CHECK_EQUAL(event_words_of("SEND").part, PART_SEND);
	CHECK_EQUAL(event_words_of("PAGE_RECEIVE").part, PART_RECEIVE);
}

TEST(other_names_are_of_no_pair)
{
	static const char *const names[] = { "", "APPEND", "SUSPEND", "BEGINNING", "begin", "WEEKEND", "BLOCK", "_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK_EQUAL(event_words_of(names[i]).part, PART_NONE);
}

TEST(a_pair_lies_in_one_thread)
{
	begin();
	happens(1000, 1, "REQUEST_BEGIN", 7);
	happens(2000, 2, "REQUEST_BEGIN", 7);
	happens(3000, 3, "REQUEST_END", 7);
	happens(4000, 1, "REQUEST_END", 7);
	happens(6000, 2, "REQUEST_END", 7);
	assert_string_equal(made.bytes, "net.REQUEST 1000-4000 1 argument=7\nnet.REQUEST 2000-6000 2 argument=7\n");
	end();
}

TEST(what_one_thread_begins_another_one_ends_if_only_one_has_the_argument)
{
	begin();
	happens(1000, 1, "REQUEST_BEGIN", 7);
	happens(1500, 1, "REQUEST_BEGIN", 8);
	happens(2000, 2, "REQUEST_END", 8);
	happens(3000, 2, "REQUEST_END", 7);
	happens(4000, 2, "REQUEST_END", 7);
	assert_string_equal(made.bytes, "net.REQUEST 1500-2000 1 argument=8 end_thread=2\n"
					"net.REQUEST 1000-3000 1 argument=7 end_thread=2\n");
	end();
}

TEST(equal_arguments_tell_overlapping_pairs_apart)
{
	begin();
	happens(1000, 1, "BEGIN", 1);
	happens(2000, 1, "BEGIN", 2);
	happens(3000, 1, "END", 1);
	happens(4000, 1, "END", 2);
	happens(5000, 1, "BEGIN", 3);
	happens(6000, 1, "END", 9);
	assert_string_equal(made.bytes, "net 1000-3000 1 argument=1\nnet 2000-4000 1 argument=2\n");
	end();
}

TEST(where_arguments_say_something_else_the_last_beginning_ends_first)
{
	begin();
	happens(1000, 1, "CALL_ENTER", 100);
	happens(2000, 1, "CALL_ENTER", 200);
	happens(3000, 1, "CALL_EXIT", 1);
	happens(4000, 1, "CALL_EXIT", 2);
	assert_string_equal(made.bytes, "net.CALL 2000-3000 1 argument=200 end_argument=1\n"
					"net.CALL 1000-4000 1 argument=100 end_argument=2\n");
	end();
}

TEST(words_of_different_families_do_not_end_each_other)
{
	begin();
	happens(1000, 1, "X_BEGIN", 1);
	happens(2000, 1, "X_STOP", 1);
	happens(3000, 1, "X_UNLOCK", 1);
	happens(4000, 1, "X_EXIT", 1);
	CHECK_EQUAL(count, 0);
	happens(5000, 1, "X_LOCK", 1);
	happens(6000, 1, "X_UNLOCK", 1);
	assert_string_equal(made.bytes, "net.X_LOCK 5000-6000 1 argument=1\n");
	end();
}

TEST(messages_are_received_in_any_thread_in_the_order_of_sending)
{
	begin();
	happens(1000, 1, "PAGE_SEND", 5);
	happens(1500, 1, "PAGE_SEND", 6);
	happens(2000, 2, "PAGE_SEND", 5);
	happens(3000, 3, "PAGE_RECEIVE", 5);
	happens(4000, 3, "PAGE_RECEIVE", 5);
	happens(5000, 3, "PAGE_RECEIVE", 5);
	happens(6000, 4, "PAGE_RECEIVE", 6);
	assert_string_equal(made.bytes, "net.PAGE 1000-3000 1 argument=5 receiver=3\n"
					"net.PAGE 2000-4000 2 argument=5 receiver=3\n"
					"net.PAGE 1500-6000 1 argument=6 receiver=4\n");
	end();
}

TEST(beginnings_without_ends_are_bounded_and_the_oldest_ones_go)
{
	enum { MORE = 1000, ALL = (1 << 16) + MORE };

	begin();
	happens(0, 1, "X_BEGIN", 1);
	happens(0, 1, "X_END", 1); /* arguments tell pairs apart */
	count = 0;
	for (uint32_t i = 1; i <= ALL; i++)
		happens(i, 1 + i % 7, i % 2 ? "X_BEGIN" : "X_SEND", i);
	CHECK_EQUAL(pairs_dropped(pairs), MORE);
	happens(ALL + 1, 1 + 1 % 7, "X_END", 1);
	happens(ALL + 1, 1, "X_RECEIVE", 2);
	CHECK_EQUAL(count, 0);
	happens(ALL + 1, 1 + ALL % 7, ALL % 2 ? "X_END" : "X_RECEIVE", ALL);
	CHECK_EQUAL(count, 1);
	end();
}
