/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "graph/graph_label.h"
#include "report/report_frame.h"
#include "stacks/fold.h"
#include "whatif/code_choice.h"

/* Innermost first: start() calls main(), which calls run() by way of a library, which calls two others. */
static const struct report_frame frames[] = {
	{ .function = "copy(char*, int)", .file = "/src/lib/copy.c", .line = 12, .is_inlined = true },
	{ .function = "pack(int)", .file = "/src/pack.c", .line = 30 },
	{ .function = "run", .file = "/src/run.c", .line = 7 },
	{ .function = "__libc_call", .module = "libc.so.6" },
	{ .function = "main", .file = "main.c", .line = 3 },
};
enum { COUNT = sizeof(frames) / sizeof(*frames) };

TEST(a_function_is_found_by_its_name_with_its_arguments_or_without)
{
	CHECK(frames_have_function(frames, COUNT, "pack"));
	CHECK(frames_have_function(frames, COUNT, "pack(int)"));
	CHECK(frames_have_function(frames, COUNT, "copy"));
	CHECK(!frames_have_function(frames, COUNT, "pac"));
	CHECK(!frames_have_function(frames, COUNT, "pack(long)"));
	CHECK(!frames_have_function(frames, COUNT, ""));
	CHECK(!frames_have_function(frames, 0, "pack"));
}

TEST(a_line_is_found_by_the_end_of_its_path)
{
	CHECK(frames_have_line(frames, COUNT, "pack.c:30"));
	CHECK(frames_have_line(frames, COUNT, "/src/pack.c:30"));
	CHECK(frames_have_line(frames, COUNT, "lib/copy.c:12"));
	CHECK(frames_have_line(frames, COUNT, "main.c:3"));
	CHECK(!frames_have_line(frames, COUNT, "ack.c:30"));
	CHECK(!frames_have_line(frames, COUNT, "pack.c:31"));
	CHECK(!frames_have_line(frames, COUNT, "pack.c"));
	CHECK(!frames_have_line(frames, COUNT, ":30"));
}

TEST(a_path_is_a_row_of_calls_without_gaps_but_for_libraries)
{
	struct fold_rules *fold = fold_rules_new();
	struct graph_labels *labels = graph_labels_new(&(struct graph_names){ .fold = fold });

	CHECK(frames_have_path(labels, frames, COUNT, "main;run;pack;copy"));
	CHECK(frames_have_path(labels, frames, COUNT, "run;pack"));
	CHECK(frames_have_path(labels, frames, COUNT, "main;__libc_call;run"));
	CHECK(frames_have_path(labels, frames, COUNT, "pack(int)"));
	CHECK(!frames_have_path(labels, frames, COUNT, "main;pack"));
	CHECK(!frames_have_path(labels, frames, COUNT, "pack;run"));
	CHECK(!frames_have_path(labels, frames, COUNT, "copy;copy"));
	CHECK(!frames_have_path(labels, frames, COUNT, "run;;pack"));
	CHECK(!frames_have_path(labels, frames, COUNT, ";"));
	CHECK(!frames_have_path(labels, frames, COUNT, ""));
	graph_labels_free(labels);
	fold_rules_free(fold);
}
