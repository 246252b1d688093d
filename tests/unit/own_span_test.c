/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans between two events of a program's own: what is meant, and which executions they give, against a simple model. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "own/own_events.h"
#include "own/own_span.h"
#include "session/event_kinds.h"
#include "spans/own_spans.h"

static const char schema[] = "{\"3\":{\"name\":\"request\",\"events\":{"
			     "\"0\":{\"name\":\"BEGIN\",\"text\":\"\",\"size\":16,\"fields\":[]},"
			     "\"7\":{\"name\":\"END\",\"text\":\"\",\"size\":24,\"fields\":["
			     "{\"name\":\"number\",\"type\":\"u64\",\"offset\":16}]},"
			     "\"8\":\"a text\"}},"
			     "\"40000\":{\"name\":\"net\",\"events\":{\"65534\":\"GOT\"}}}";

enum { THREADS = 4, EVENTS = 4000, KEYS = 50 };

static void check_bad(const char *text)
{
	struct text why = { 0 };
	struct own_span span;

	CHECK_EQUAL(own_span_parse(text, &span, &why), -EINVAL);
	CHECK(why.length);
	text_fini(&why);
}

TEST(a_span_of_events_has_a_subsystem_before_its_dots)
{
	struct text why = { 0 };
	struct own_span span;

	CHECK(own_span_is_meant("request:BEGIN..END"));
	CHECK(!own_span_is_meant("accept4..close"));
	CHECK(!own_span_is_meant("../lib/x.so:f"));
	CHECK(!own_span_is_meant("mariadbd:dispatch_command"));
	CHECK_EQUAL(own_span_parse("net:GOT..request:END[key=number]", &span, &why), 0);
	CHECK_STRING(span.subsystems[OWN_SPAN_BEGINS], "net");
	CHECK_STRING(span.events[OWN_SPAN_BEGINS], "GOT");
	CHECK_STRING(span.subsystems[OWN_SPAN_ENDS], "request");
	CHECK_STRING(span.events[OWN_SPAN_ENDS], "END");
	CHECK_STRING(span.key, "number");
	own_span_fini(&span);
	CHECK_EQUAL(own_span_parse("request:BEGIN..END", &span, &why), 0);
	CHECK_STRING(span.subsystems[OWN_SPAN_ENDS], "request");
	CHECK(!span.key);
	own_span_fini(&span);
	text_fini(&why);
	check_bad("request:..END");
	check_bad("BEGIN..END");
	check_bad("request:BEGIN..");
	check_bad("request:BEGIN..END[argument]");
	check_bad("request:BEGIN..END[key=]");
	check_bad("request:BEGIN..END[key=a]b");
	check_bad("a b:BEGIN..END");
}

static struct ev_user_schema *schema_event(void)
{
	struct ev_user_schema *e = calloc(1, sizeof(*e) + sizeof(schema));

	e->header = (struct ev_header){ .subsys = TRACE_SUBSYS_USER, .event = TRACE_EVENT_USER_SCHEMA };
	e->schema = 77;
	e->text_bytes = sizeof(schema);
	memcpy(e->text, schema, sizeof(schema));
	return e;
}

static void take(struct own_spans *own, uint64_t time_ns, uint32_t thread, uint16_t event, uint64_t number)
{
	struct {
		struct ev_user_event e;
		uint64_t number;
	} out = { .e = { .header = { .time_ns = time_ns,
				     .thread = thread,
				     .subsys = TRACE_SUBSYS_USER,
				     .event = TRACE_EVENT_USER_EVENT },
			 .schema = 77,
			 .subsystem = 3,
			 .event = event,
			 .argument = number,
			 .payload_bytes = event == 7 ? sizeof(uint64_t) : 0 } };

	memcpy(out.e.payload, &number, out.e.payload_bytes);
	own_spans_take(own, &out.e.header);
}

static struct own_spans *spans_of(const char *spec, struct executions *all, struct span *spans)
{
	struct own_spans *own = own_spans_new(all, spans);
	struct ev_user_schema *e = schema_event();

	own_spans_add(own, 2, spec);
	CHECK(own_spans_are_wanted(own));
	own_spans_take(own, &e->header);
	free(e);
	return own;
}

static bool lives(void *data, uint32_t thread)
{
	(void)data;
	return thread != 1;
}

/* A key is open in one place at a time, whatever thread it is in. */
TEST(with_a_key_an_end_belongs_to_the_beginning_of_the_same_value_in_any_thread)
{
	struct {
		uint64_t begin_ns;
		uint32_t thread;
	} open[KEYS] = { { 0, 0 } };
	struct span spans[SPANS_MAX] = { { 0 } };
	struct executions all = { 0 };
	struct own_spans *own = spans_of("request:begin..END[key=argument]", &all, spans);
	uint64_t again = 0, alone = 0, left = 0;

	srandom(1);
	for (uint64_t now_ns = 1; now_ns <= EVENTS; now_ns++) {
		uint32_t thread = 1 + random() % THREADS, key = random() % KEYS;
		size_t before = all.count;

		if (random() % 2) {
			again += open[key].begin_ns != 0;
			open[key].begin_ns = now_ns;
			open[key].thread = thread;
			take(own, now_ns, thread, 0, key);
			CHECK_EQUAL(all.count, before);
			continue;
		}
		take(own, now_ns, thread, 7, key);
		alone += !open[key].begin_ns;
		CHECK_EQUAL(all.count, before + (open[key].begin_ns != 0));
		if (open[key].begin_ns) {
			CHECK_EQUAL(all.list[before].begin_ns, open[key].begin_ns);
			CHECK_EQUAL(all.list[before].end_ns, now_ns);
			CHECK_EQUAL(all.list[before].begin_thread, open[key].thread);
			CHECK_EQUAL(all.list[before].thread, thread);
			CHECK_EQUAL(all.list[before].span, 2);
		}
		open[key].begin_ns = 0;
	}
	own_spans_finish(own, lives, NULL);
	for (int key = 0; key < KEYS; key++)
		left += open[key].begin_ns != 0;
	CHECK(all.count > EVENTS / 8);
	CHECK_EQUAL(spans[2].count, all.count);
	CHECK_EQUAL(spans[2].begun_anew, again);
	CHECK_EQUAL(spans[2].ends_alone, alone);
	CHECK_EQUAL(spans[2].unfinished, left);
	own_spans_free(own);
	free(all.list);
}

TEST(without_a_key_an_end_belongs_to_the_last_beginning_of_its_thread)
{
	uint64_t stacks[THREADS + 1][EVENTS], alone = 0, died = 0, unfinished = 0;
	uint32_t depths[THREADS + 1] = { 0 };
	struct span spans[SPANS_MAX] = { { 0 } };
	struct executions all = { 0 };
	struct own_spans *own = spans_of("request:BEGIN..END", &all, spans);

	srandom(2);
	for (uint64_t now_ns = 1; now_ns <= EVENTS; now_ns++) {
		uint32_t thread = 1 + random() % THREADS;
		size_t before = all.count;

		if (random() % 2) {
			stacks[thread][depths[thread]++] = now_ns;
			take(own, now_ns, thread, 0, 0);
			continue;
		}
		take(own, now_ns, thread, 7, 1);
		alone += !depths[thread];
		CHECK_EQUAL(all.count, before + (depths[thread] != 0));
		if (!depths[thread])
			continue;
		CHECK_EQUAL(all.list[before].begin_ns, stacks[thread][--depths[thread]]);
		CHECK_EQUAL(all.list[before].depth, depths[thread]);
		CHECK_EQUAL(all.list[before].thread, thread);
		CHECK_EQUAL(all.list[before].begin_thread, thread);
	}
	own_spans_finish(own, lives, NULL);
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		*(thread == 1 ? &died : &unfinished) += depths[thread];
	CHECK_EQUAL(spans[2].ends_alone, alone);
	CHECK_EQUAL(spans[2].died, died);
	CHECK_EQUAL(spans[2].unfinished, unfinished);
	own_spans_free(own);
	free(all.list);
}

TEST(events_have_names_also_where_they_are_texts_alone)
{
	struct own_events *own = own_events_new();
	struct ev_user_schema *e = schema_event();
	struct ev_user_event event = { .schema = 77, .subsystem = 40000, .event = 65534, .argument = 5 };
	struct own_event found;

	own_events_find(own, &event, &found);
	CHECK(!found.kind);
	own_events_take(own, e);
	own_events_find(own, &event, &found);
	CHECK_STRING(found.kind->subsys, "net");
	CHECK_STRING(found.kind->event, "GOT");
	CHECK_EQUAL(found.argument, 5);
	event.subsystem = 3;
	event.event = 8;
	own_events_find(own, &event, &found);
	CHECK_STRING(found.kind->event, "8");
	CHECK_STRING(found.kind->text, "a text");
	/* Too short for its field. */
	event.event = 7;
	own_events_find(own, &event, &found);
	CHECK(!found.kind);
	CHECK_STRING(found.subsystem, "request");
	free(e);
	own_events_free(own);
}
