/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces of other versions: their events are read by the description that they carry. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rows/event_line.h"
#include "trace/event_code.h"
#include "trace/trace_reader.h"
#include "trace/trace_schema.h"
#include "trace_fixture.h"

/* Of 30 and 31 nobody here knows; thread.NAME has one word more. */
static const char newer[] =
	"{\"pinch\":\"99\",\"schema\":{"
	"\"0\":{\"name\":\"sched\",\"events\":{"
	"\"30\":{\"name\":\"MIGRATE\",\"text\":\"\",\"size\":32,\"fields\":["
	"{\"name\":\"to\",\"type\":\"u32\",\"offset\":16,\"about\":\"thread\"},"
	"{\"name\":\"count\",\"type\":\"u16\",\"offset\":20},{\"name\":\"delta\",\"type\":\"s16\",\"offset\":22},"
	"{\"name\":\"load\",\"type\":\"u64\",\"offset\":24},"
	"{\"name\":\"cpus\",\"type\":\"u16\",\"offset\":32,\"flexible\":true,\"length\":[\"count\"]},"
	"{\"name\":\"reason\",\"type\":\"char\",\"offset\":32,\"flexible\":true,\"strings\":1}]},"
	"\"31\":{\"name\":\"TICK\",\"text\":\"A clock ticks\",\"size\":16,\"fields\":[]}}},"
	"\"1\":{\"name\":\"thread\",\"events\":{\"2\":{\"name\":\"NAME\",\"text\":\"\",\"size\":40,\"fields\":["
	"{\"name\":\"name\",\"type\":\"char\",\"offset\":16,\"count\":16},"
	"{\"name\":\"cookie\",\"type\":\"u64\",\"offset\":32}]}}}}}";

/* Their codes: kind, time since the one before, thread, words that differ, these; then the bytes behind. */
/* clang-format off */
#define WORD(...) 0, 0x10, __VA_ARGS__
static const uint8_t codes[] = {
	/* MIGRATE: to 9, count 2, delta -2, load 7 */
	30, 20, 5, 3, WORD(9, 0, 0, 0, 2, 0, 0xfe, 0xff), WORD(7, 0, 0, 0, 0, 0, 0, 0), 9,
	1, 0, 3, 0, 'h', 'o', 't', ' ', 0,
	/* TICK */
	31, 2, 0, 0,
	/* NAME: "name", cookie 80000 */
	34, 2, 5, 5, WORD('n', 'a', 'm', 'e', 0, 0, 0, 0), WORD(0x80, 0x38, 1, 0, 0, 0, 0, 0),
};
/* clang-format on */

static struct event_decoder *decoder_of_newer(void)
{
	struct event_forms forms;
	struct event_decoder *decoder;

	event_forms_here(&forms);
	forms.of[30] = (struct event_form){ 32, true };
	forms.of[31] = (struct event_form){ 16, false };
	forms.of[34] = (struct event_form){ 40, false };
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, codes, sizeof(codes));
	return decoder;
}

TEST(events_of_kinds_that_are_not_known_are_skipped_and_counted)
{
	struct event_decoder *decoder = decoder_of_newer();
	struct ev_header *event;

	CHECK(event_decoder_next(decoder, &event) == 1);
	CHECK(event->event == TRACE_EVENT_THREAD_NAME && !strcmp(((struct ev_thread_name *)event)->name, "name"));
	CHECK(event_decoder_next(decoder, &event) == 0);
	CHECK(event_decoder_unknown(decoder) == 2);
	event_decoder_free(decoder);
}

TEST(events_are_printed_as_the_trace_describes_them)
{
	struct trace_schema *schema = trace_schema_parse(newer, sizeof(newer) - 1);
	struct event_decoder *decoder = decoder_of_newer();
	const struct ev_header *stored;
	struct ev_header *event;
	struct text lines = { 0 };
	size_t size_bytes;

	CHECK(schema);
	while (event_decoder_next_stored(decoder, &event, &stored, &size_bytes) == 1)
		event_line_put(&lines, &(struct event_line){ .kind = trace_schema_find(schema, stored->subsys,
										       stored->event, size_bytes),
							     .header = stored,
							     .size_bytes = size_bytes });
	assert_string_equal(lines.bytes,
			    "0.000000010 5 sched.MIGRATE to=9 count=2 delta=-2 load=7 cpus=[1,3] reason=[\"hot \"]\n"
			    "0.000000011 0 sched.TICK\n"
			    "0.000000012 5 thread.NAME name=\"name\" cookie=0x13880\n");
	text_fini(&lines);
	event_decoder_free(decoder);
	trace_schema_free(schema);
}

/* What an enemy says of lengths is no more than there is. */
TEST(an_event_that_is_shorter_than_it_says_is_printed_as_far_as_it_goes)
{
	struct trace_schema *schema = trace_schema_parse(newer, sizeof(newer) - 1);
	const struct event_kind *kind = trace_schema_find(schema, 0, 30, 32);
	struct {
		struct ev_header header;
		uint32_t to;
		uint16_t count, delta;
		uint64_t load;
		uint16_t cpus[2];
	} e = { .count = 50000, .cpus = { 1, 2 } };
	struct text line = { 0 };

	CHECK(!strcmp(event_field_meaning(kind, MEANS_THREAD, ROLE_ABOUT)->name, "to"));
	event_line_put(&line, &(struct event_line){ .kind = kind, .header = &e.header, .size_bytes = 36 });
	assert_string_equal(line.bytes,
			    "0.000000000 0 sched.MIGRATE to=0 count=50000 delta=0 load=0 cpus=[1,2] reason=[]\n");
	text_fini(&line);
	trace_schema_free(schema);
}

/* One description of sched.SWITCH; whether it is taken. */
static bool is_taken(const char *size, const char *fields)
{
	struct trace_schema *schema;
	char text[1000];
	bool is_taken;
	int length = snprintf(text, sizeof(text),
			      "{\"schema\":{\"0\":{\"name\":\"s\",\"events\":{\"0\":{\"name\":\"E\",\"text\":\"\","
			      "\"size\":%s,\"fields\":[%s]}}}}}",
			      size, fields);

	schema = trace_schema_parse(text, length);
	CHECK(schema);
	is_taken = trace_schema_find(schema, 0, 0, SIZE_MAX);
	trace_schema_free(schema);
	return is_taken;
}

#define FIELD(type, offset, more) "{\"name\":\"a\",\"type\":\"" type "\",\"offset\":" offset more "}"

TEST(descriptions_that_do_not_fit_together_are_left_out)
{
	CHECK(is_taken("24", FIELD("u64", "16", "")));
	CHECK(is_taken("24", FIELD("u64", "16", ",\"new\":[1,2]")));
	CHECK(!is_taken("24", FIELD("u64", "17", "")) && !is_taken("24", FIELD("u64", "8", "")));
	CHECK(!is_taken("24", FIELD("u64", "16", ",\"count\":2")) && !is_taken("24", FIELD("u64", "-1", "")));
	CHECK(!is_taken("24", FIELD("u64", "16", ",\"count\":1e3")) && !is_taken("24", FIELD("u128", "16", "")));
	CHECK(!is_taken("8", "") && !is_taken("1000000", "") && !is_taken("\"24\"", ""));
	CHECK(!is_taken("16", "{\"name\":\"a b\",\"type\":\"u8\",\"offset\":16,\"flexible\":true}"));
	CHECK(is_taken("16", FIELD("u8", "16", ",\"flexible\":true")));
	CHECK(!is_taken("24", FIELD("u8", "16", ",\"flexible\":true")));
	CHECK(!is_taken("16", FIELD("u8", "16", ",\"flexible\":true,\"length\":[\"a\"]")));
	CHECK(!is_taken("24", FIELD("s64", "16", "") "," FIELD("u8", "24", ",\"flexible\":true,\"length\":[\"a\"]")));
	CHECK(is_taken("24", FIELD("u64", "16", "") "," FIELD("u8", "24", ",\"flexible\":true,\"length\":[\"a\"]")));
	CHECK(!is_taken("24", FIELD("u64", "16", "") "," FIELD("u8", "24", ",\"flexible\":true,\"length\":[]")));
	CHECK(!is_taken("16", FIELD("u16", "16", ",\"flexible\":true,\"strings\":true")));
	CHECK(!is_taken("16", FIELD("u8", "16", ",\"flexible\":true,\"strings\":-1")));
	CHECK(!is_taken("24", FIELD("u8", "24", ",\"flexible\":true") "," FIELD("u64", "16", "")));
}

TEST(what_is_no_description_is_none)
{
	static const char *const texts[] = { "", "{}", "[]", "{\"schema\":3}", "{\"schema\":{}", "null" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK(!trace_schema_parse(texts[i], strlen(texts[i])));
	CHECK(!trace_schema_find(NULL, 0, 0, SIZE_MAX));
}
