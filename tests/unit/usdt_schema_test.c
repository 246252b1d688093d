/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an event of a USDT probe is called: as those read it who read events of programs' own. */
#include "test.h"

#include "base/memory.h"
#include "base/text.h"
#include "collect/usdt_schema.h"
#include "own/own_events.h"
#include "own/own_span.h"
#include "session/event_kinds.h"
#include "symbol/symbol.h"

enum { SCHEMA = 5, TIME_NS = 1000, THREAD = 3 };

static struct own_events *own;
static struct {
	struct ev_user_event e;
	uint64_t values[USDT_ARGUMENTS_MAX];
} hit;
static struct own_event event;

static void read_schema(const struct usdt_place *place)
{
	struct text text = { 0 };
	struct ev_user_schema *schema;

	usdt_schema_put(&text, place);
	schema = xcalloc(1, sizeof(*schema) + text.length + 1);
	schema->schema = SCHEMA;
	schema->text_bytes = text.length + 1;
	memcpy(schema->text, text.bytes, text.length);
	own = own_events_new();
	own_events_take(own, schema);
	free(schema);
	text_fini(&text);
}

static void find(size_t value_count)
{
	hit.e = (struct ev_user_event){
		.header = { .time_ns = TIME_NS, .thread = THREAD },
		.schema = SCHEMA,
		.payload_bytes = value_count * sizeof(*hit.values),
	};
	for (size_t i = 0; i < value_count; i++)
		hit.values[i] = -1 - (int64_t)i;
	own_events_find(own, &hit.e, &event);
}

static bool has_key(const char *span, uint64_t *value)
{
	struct own_span parsed;
	struct text why = { 0 };
	bool has;

	CHECK(!own_span_parse(span, &parsed, &why));
	CHECK(own_span_is(&parsed, OWN_SPAN_BEGINS, &event));
	has = own_span_key(&parsed, &event, value);
	own_span_fini(&parsed);
	return has;
}

TEST(a_hit_has_the_names_of_its_probe_and_its_arguments_as_fields)
{
	struct usdt_place place = {
		.provider = "postgresql",
		.name = "query__start",
		.argument_count = 3,
		.arguments = { { .kind = USDT_REGISTER, .size_bytes = 4, .is_signed = true },
			       { .kind = USDT_UNREADABLE },
			       { .kind = USDT_MEMORY, .size_bytes = 8 } },
	};
	uint64_t value;

	read_schema(&place);
	find(6);
	CHECK_STRING(event.subsystem, "postgresql");
	CHECK(event.kind);
	CHECK_STRING(event.kind->event, "query__start");
	CHECK(has_key("postgresql:query__start..query__done[key=arg1]", &value));
	CHECK_EQUAL(value, -1);
	CHECK(!has_key("postgresql:query__start..query__done[key=arg2]", &value));
	CHECK(has_key("postgresql:query__start..query__done[key=arg3]", &value));
	CHECK_EQUAL(value, -3);
	CHECK(!has_key("postgresql:query__start..query__done[key=arg4]", &value));
	own_events_free(own);
}

TEST(a_probe_without_arguments_has_no_fields)
{
	struct usdt_place place = { .provider = "p", .name = "n" };
	uint64_t value;

	read_schema(&place);
	find(2);
	CHECK(event.kind);
	CHECK(has_key("p:n..m[key=argument]", &value));
	CHECK(!has_key("p:n..m[key=arg1]", &value));
	own_events_free(own);
}

TEST(the_longest_names_and_all_arguments_are_read)
{
	struct usdt_place place = { .argument_count = USDT_ARGUMENTS_MAX };
	const struct event_field *field;
	struct event_fields fields;
	size_t size_bytes, count = 0;
	const void *bytes;

	memset(place.provider, 'p', sizeof(place.provider) - 1);
	memset(place.name, 'n', sizeof(place.name) - 1);
	for (size_t i = 0; i < USDT_ARGUMENTS_MAX; i++)
		place.arguments[i] =
			(struct usdt_argument){ .kind = USDT_CONSTANT, .size_bytes = 8, .is_signed = i & 1 };
	read_schema(&place);
	find(USDT_ARGUMENTS_MAX);
	CHECK(event.kind);
	CHECK_STRING(event.kind->event, place.name);
	fields = event_fields_of(event.kind, event.stored, event.stored_bytes);
	while (event_fields_next(&fields, &field, &bytes, &size_bytes))
		CHECK_EQUAL(event_field_number(field, bytes), -1 - (int64_t)count++);
	CHECK_EQUAL(count, USDT_ARGUMENTS_MAX);
	own_events_free(own);
}
