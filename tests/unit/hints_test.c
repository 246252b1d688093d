/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is unusual among events is said, and nothing else. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "activity/decode/hints.h"
#include "activity/decode/pairs.h"
#include "script_fixture.h"

static struct script_stage stage;
static struct pairs *pairs;
static struct hints *hints;
static struct hint found[HINTS_MAX];
static size_t count;
static uint64_t now_ns;

static void take(void *data, const struct activity *activity)
{
	(void)data;
	(void)activity;
}

static void begin(void)
{
	script_stage_begin(&stage);
	pairs = pairs_new((struct activity_sink){ take, NULL });
	hints = hints_new();
	now_ns = 1000000000;
	srandom(1);
}

static void end(void)
{
	hints_free(hints);
	pairs_free(pairs);
	script_stage_end(&stage);
}

static void happens(uint32_t thread, const char *name, uint32_t argument)
{
	struct named_event event = *script_stage_own(&stage, now_ns, "net", name, argument);

	event.thread = event.other_thread = thread;
	pairs_on_event(pairs, &event);
	hints_on_event(hints, &event);
}

static void find(void)
{
	count = hints_find(hints, pairs, stage.context, found);
}

/* Requests of three threads, each with a look and a write between; lengths vary. */
static void serve(uint32_t requests)
{
	for (uint32_t i = 0; i < requests; i++) {
		uint32_t thread = 1 + random() % 3;

		happens(thread, "REQUEST_BEGIN", i + 1);
		now_ns += 1000 + random() % 100000;
		happens(thread, "LOOK", i + 1);
		now_ns += 1000 + random() % 100000;
		happens(thread, "WRITE", i + 1);
		now_ns += 1000 + random() % 100000;
		happens(thread, "REQUEST_END", i + 1);
		now_ns += random() % 300000;
	}
}

TEST(of_what_is_as_always_nothing_is_said)
{
	begin();
	happens(1, "APP_HELLO", 0);
	serve(4000);
	happens(1, "APP_BYE", 0);
	find();
	CHECK_EQUAL(count, 0);
	end();
}

TEST(a_beginning_without_an_end_among_many_with_one)
{
	begin();
	serve(1000);
	happens(2, "REQUEST_BEGIN", 5000);
	now_ns += 1000;
	happens(2, "LOOK", 5000);
	serve(1000);
	find();
	CHECK(count >= 1);
	CHECK_EQUAL(found[0].kind, HINT_UNENDED);
	CHECK_STRING(found[0].name, "net.REQUEST");
	CHECK_EQUAL(found[0].count, 1);
	CHECK_EQUAL(found[0].others, 2000);
	end();
}

TEST(what_has_only_just_begun_has_no_end_yet)
{
	begin();
	serve(1000);
	happens(2, "REQUEST_BEGIN", 5000);
	now_ns += 1000;
	happens(2, "LOOK", 5000);
	find();
	for (size_t i = 0; i < count; i++)
		CHECK(found[i].kind != HINT_UNENDED);
	end();
}

TEST(an_order_that_else_never_is)
{
	begin();
	serve(3000);
	happens(1, "WRITE", 9000);
	now_ns += 1000;
	happens(1, "LOOK", 9000);
	serve(3000);
	find();
	CHECK(count >= 1);
	CHECK_EQUAL(found[0].kind, HINT_ORDER);
	/* Once behind an end, and once the other way round than always. */
	for (size_t i = 0; i < count; i++) {
		CHECK_EQUAL(found[i].kind, HINT_ORDER);
		CHECK_EQUAL(found[i].count, 1);
		CHECK(found[i].others > 2000);
	}
	end();
}

TEST(a_silence_far_longer_than_usual)
{
	begin();
	serve(3000);
	now_ns += 5000000000;
	serve(3000);
	find();
	CHECK_EQUAL(count, 1);
	CHECK_EQUAL(found[0].kind, HINT_SILENCE);
	CHECK(found[0].ns >= 5000000000);
	CHECK(found[0].usual_ns < 10000000);
	end();
}

/* Batches, and long pauses between them. */
TEST(silences_that_come_again_and_again_are_how_a_program_works)
{
	begin();
	for (int batch = 0; batch < 30; batch++) {
		serve(1000);
		now_ns += 60000000000;
	}
	find();
	CHECK_EQUAL(count, 0);
	end();
}

TEST(a_burst_far_above_the_usual)
{
	begin();
	serve(8000);
	for (uint32_t i = 0; i < 3000; i++) {
		happens(1, "LOOK", i);
		now_ns += 1000;
	}
	serve(8000);
	find();
	CHECK(count >= 1);
	CHECK_EQUAL(found[count - 1].kind, HINT_BURST);
	CHECK_STRING(found[count - 1].name, "net.LOOK");
	/* The stretches of time may divide it. */
	CHECK(found[count - 1].count >= 1500);
	end();
}

TEST(bursts_that_come_again_and_again_are_how_a_program_works)
{
	begin();
	for (int second = 0; second < 20; second++) {
		serve(3000);
		for (uint32_t i = 0; i < 3000; i++) {
			happens(4, "FLUSH", i);
			now_ns += 1000;
		}
	}
	find();
	CHECK_EQUAL(count, 0);
	end();
}

/* Each of the events is common, and one of the orders is rare by chance alone. */
TEST(of_events_in_any_order_nothing_is_said)
{
	static const char *const names[] = { "A", "B", "C", "D", "E", "F", "G", "H", "RARE" };

	begin();
	for (uint32_t i = 0; i < 100000; i++) {
		happens(1 + random() % 3, names[random() % 500 ? random() % 8 : 8], random());
		now_ns += random() % 10000;
	}
	find();
	CHECK_EQUAL(count, 0);
	end();
}

/* Whatever comes, it stays bounded. */
TEST(no_more_than_the_few_that_matter_are_said)
{
	static const char *const names[] = { "A", "B", "C", "D", "E", "F", "G", "H" };

	begin();
	for (uint32_t i = 0; i < 200000; i++) {
		happens(1 + random() % 50, names[random() % 8], random());
		now_ns += random() % 1000 ? random() % 10000 : 3000000000;
	}
	find();
	CHECK(count <= HINTS_MAX);
	end();
}
