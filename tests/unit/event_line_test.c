/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "base/text.h"
#include "rows/event_line.h"
#include "events.h"
#include "session/event_kinds.h"

#define HEADER(subsys_, event_)                                                       \
	{                                                                             \
		.time_ns = 3000000007, .thread = 4, .subsys = TRACE_SUBSYS_##subsys_, \
		.event = TRACE_EVENT_##subsys_##_##event_                             \
	}

static void check_text(const void *event, const char *expected)
{
	const struct ev_header *header = event;
	struct text text = { 0 };

	event_line_put(&text, &(struct event_line){ .kind = event_kind_find(header->subsys, header->event),
						    .header = header,
						    .size_bytes = event_bytes(header),
						    .first_ns = 1000000000 });
	CHECK_STRING(text.bytes, expected);
	text_fini(&text);
}

static void check_json(const void *event, const char *expected)
{
	const struct ev_header *header = event;
	struct text text = { 0 };

	event_line_put_json(&text, &(struct event_line){ .kind = event_kind_find(header->subsys, header->event),
							 .header = header,
							 .size_bytes = event_bytes(header) });
	CHECK_STRING(text.bytes, expected);
	text_fini(&text);
}

TEST(numbers_above_65535_are_hexadecimal_in_text_and_decimal_in_json)
{
	struct ev_collect_gap e = { .header = HEADER(COLLECT, GAP), .lost = 65536 };

	check_text(&e, "2.000000007 4 collect.GAP lost=0x10000 cpu=0 reserved=0\n");
	check_json(&e, "{\"time_ns\": 3000000007, \"thread\": 4, \"event\": \"collect.GAP\", "
		       "\"fields\": {\"lost\": 65536, \"cpu\": 0, \"reserved\": 0}}\n");
	e.lost = 65535;
	check_text(&e, "2.000000007 4 collect.GAP lost=65535 cpu=0 reserved=0\n");
}

TEST(an_event_before_the_first_has_a_negative_time)
{
	struct ev_collect_sync_end e = { .header = HEADER(COLLECT, SYNC_END) };

	e.header.time_ns = 999999999;
	check_text(&e, "-0.000000001 4 collect.SYNC_END\n");
}

TEST(a_name_can_neither_end_its_string_nor_its_line)
{
	struct ev_thread_name e = { .header = HEADER(THREAD, NAME), .name = "a\"\\\n\x1b\xff b=1" };

	check_text(&e, "2.000000007 4 thread.NAME name=\"a\\\"\\\\\\x0a\\x1b\\xff b=1\"\n");
	check_json(&e, "{\"time_ns\": 3000000007, \"thread\": 4, \"event\": \"thread.NAME\", "
		       "\"fields\": {\"name\": \"a\\\"\\\\\\u000a\\u001b\\ufffd b=1\"}}\n");
}

TEST(a_name_without_an_end_ends_with_its_field)
{
	struct ev_thread_name e = { .header = HEADER(THREAD, NAME) };

	memset(e.name, 'x', sizeof(e.name));
	check_text(&e, "2.000000007 4 thread.NAME name=\"xxxxxxxxxxxxxxxx\"\n");
}

/* An event with so many bytes behind it. */
static void *with_data(const void *event, size_t size_bytes, const void *data, size_t data_bytes)
{
	char *whole = calloc(1, size_bytes + data_bytes);

	memcpy(whole, event, size_bytes);
	memcpy(whole + size_bytes, data, data_bytes);
	return whole;
}

/* Bytes behind an event whose kind says no more of them. */
static void check_data(const char *data, size_t size_bytes, const char *in_text, const char *in_json)
{
	static const struct event_field field = {
		.name = "data",
		.width_bytes = 1,
		.offset_bytes = sizeof(struct ev_header),
		.is_flexible = true,
	};
	static const struct event_kind kind = {
		.subsys = "some",
		.event = "BYTES",
		.size_bytes = sizeof(struct ev_header),
		.field_count = 1,
		.fields = &field,
	};
	struct ev_header header = { .time_ns = 3000000007, .thread = 4 };
	void *event = with_data(&header, sizeof(header), data, size_bytes);
	struct event_line line;
	struct text text = { 0 };
	char expected[200];

	line = (struct event_line){
		.kind = &kind,
		.header = event,
		.size_bytes = sizeof(header) + size_bytes,
		.first_ns = 1000000000,
	};
	event_line_put(&text, &line);
	event_line_put_json(&text, &line);
	snprintf(expected, sizeof(expected),
		 "2.000000007 4 some.BYTES data=%s\n"
		 "{\"time_ns\": 3000000007, \"thread\": 4, \"event\": \"some.BYTES\", \"fields\": {\"data\": %s}}\n",
		 in_text, in_json);
	CHECK_STRING(text.bytes, expected);
	text_fini(&text);
	free(event);
}

/* One word a value, whatever a program says: awk counts words. */
TEST(a_log_has_the_values_alone)
{
	struct ev_thread_name e = { .header = HEADER(THREAD, NAME), .name = "a b" };
	const uint32_t argument = 7;
	struct event_line line = {
		.kind = event_kind_find(e.header.subsys, e.header.event),
		.header = &e.header,
		.size_bytes = sizeof(e),
		.first_ns = 1000000000,
		.cpu = 3,
	};
	struct text text = { 0 };

	event_line_put_log(&text, &line);
	line.cpu = -1;
	line.argument = &argument;
	event_line_put_log(&text, &line);
	CHECK_STRING(text.bytes, "3 2.000000007 thread.NAME \"a\\x20b\"\n"
				 "- 2.000000007 thread.NAME 7 \"a\\x20b\"\n");
	text_fini(&text);
}

TEST(bytes_that_are_text_are_strings_and_of_others_the_size_is_recorded)
{
	check_data("one\0two", 8, "[\"one\",\"two\"]", "[\"one\",\"two\"]");
	check_data("", 0, "[]", "[]");
	check_data("one\0two", 7, "<7 bytes>", "{\"size_bytes\": 7}");
	check_data("one\0\0two", 9, "<9 bytes>", "{\"size_bytes\": 9}");
	check_data("one\x1f", 5, "<5 bytes>", "{\"size_bytes\": 5}");
}

TEST(arrays_behind_each_other_are_distinguished)
{
	struct ev_space_python_code e = {
		.header = HEADER(SPACE, PYTHON_CODE),
		.function_bytes = 4,
		.file_bytes = 5,
		.table_bytes = 3,
	};
	void *event = with_data(&e, sizeof(e), "run\0a.py\0\1\2\3", 12);

	check_text(event, "2.000000007 4 space.PYTHON_CODE pid=0 first_line=0 address=0 identity=0 function_bytes=4 "
			  "file_bytes=5 table_bytes=3 function=[\"run\"] file=[\"a.py\"] table=<3 bytes>\n");
	free(event);
}

TEST(names_behind_each_other_are_a_list)
{
	struct ev_file_path e = { .header = HEADER(FILE, PATH), .name_bytes = 6 };
	void *event = with_data(&e, sizeof(e), "a\nb\0/", 6);

	check_text(event, "2.000000007 4 file.PATH file=0 inode=0 major=0 minor=0 mode=0 links=0 "
			  "name_bytes=6 reserved=0 names=[\"a\\x0ab\",\"/\"]\n");
	free(event);
}

TEST(frames_are_addresses)
{
	struct ev_stack_frames e = { .header = HEADER(STACK, FRAMES), .stack = 1, .user_count = 2 };
	uint64_t frames[] = { 0x7fff00001000, 16 };
	void *event = with_data(&e, sizeof(e), frames, sizeof(frames));

	check_text(event, "2.000000007 4 stack.FRAMES stack=1 kernel_count=0 user_count=2 end=0 "
			  "reserved=[0,0,0] frames=[0x7fff00001000,0x10]\n");
	free(event);
}
