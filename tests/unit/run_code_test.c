/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places where an interpreter ran before it was known to be one. */
#include "test.h"

#include "events.h"
#include "report/report_frame.h"
#include "whatif/run_code.h"

static const struct report_frame native[] = {
	{ .function = "evaluate", .module = "python3.11" },
	{ .function = "main", .module = "python3.11" },
};
static const struct report_frame library[] = { { .function = "deflate", .module = "libz.so.1" } };
static const struct report_frame python[] = {
	{ .function = "evaluate", .module = "python3.11" },
	{ .function = "hot", .module = "[python]" },
	{ .function = "main", .module = "python3.11" },
};
static const struct report_frame called[] = {
	{ .function = "deflate", .module = "libz.so.1" },
	{ .function = "evaluate", .module = "python3.11" },
	{ .function = "hot", .module = "[python]" },
};

static void add(struct run_code *code, uint32_t pid, uint64_t time_ns, const struct report_frame *frames, size_t count)
{
	struct run_place *place;

	run_code_add(code, pid, &(struct ev_sched_sample){ .header.time_ns = time_ns, .ip = 1000 * pid + time_ns });
	place = &code->places[code->place_count - 1];
	place->frames = frames;
	place->frame_count = count;
	place->is_named = true;
}

TEST(what_an_interpreter_did_before_its_first_function_was_seen_is_not_known_and_nothing_else)
{
	static const struct {
		uint32_t pid;
		uint64_t time_ns;
		const struct report_frame *frames;
		size_t count;
		bool is_partial;
	} places[] = {
		{ 1, 10, native, 2, true },  { 1, 20, library, 1, false }, { 1, 90, called, 3, false },
		{ 1, 50, python, 3, false }, { 1, 60, native, 2, false },  { 1, 30, native, 2, true },
		{ 2, 10, native, 2, false }, { 2, 99, library, 1, false }, { 3, 10, python, 3, false },
		{ 3, 11, native, 2, false },
	};
	struct run_code code;

	run_code_init(&code);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		add(&code, places[i].pid, places[i].time_ns, places[i].frames, places[i].count);
	run_code_name(&code, NULL);
	/* The first place is that of those which are too many. */
	CHECK_THAT(code.place_count, >=, 2);
	for (size_t i = 1, at = 0; i < code.place_count; i++, at++)
		CHECK_EQUAL(code.places[i].is_partial, places[at].is_partial);
	run_code_fini(&code);
}
