/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More files than there is space for: what is left out of the rows is not taken for something else. */
#include "waits_fixture.h"

enum { FILES = 70000, ROOM = 65536, WAIT_NS = 10, STACK = 7 };

static void wait_for(uint64_t file, uint64_t stack)
{
	wait_long_for(file, stack, 0, WAIT_NS);
}

TEST(files_without_a_row_share_one)
{
	uint64_t rows = 0, others = 0, waited_ns = 0;
	const struct wait_file *file;
	size_t cursor = 0;

	begin();
	for (uint64_t i = 1; i <= FILES; i++) {
		emit_pipe(name_of(i, KIND_PIPE));
		wait_for(name_of(i, KIND_PIPE), STACK);
	}
	finish();
	while ((file = waits_next_file(waits, &cursor))) {
		rows++;
		waited_ns += file->sum.wait_ns;
		if (file->file)
			continue;
		others += file->sum.count;
		CHECK_EQUAL(file->cause, CAUSE_PIPE);
	}
	CHECK_EQUAL(rows, ROOM + 1);
	CHECK_EQUAL(others, FILES - ROOM);
	CHECK_EQUAL(waited_ns, (uint64_t)FILES * WAIT_NS);
	end();
}

TEST(what_a_file_is_that_did_not_fit_its_name_reports)
{
	begin();
	for (uint64_t i = 1; i <= FILES; i++) {
		emit_pipe(name_of(i, KIND_PIPE));
		wait_for(name_of(i, KIND_PIPE), STACK);
	}
	wait_for(name_of(FILES + 1, KIND_SOCKET), STACK);
	finish();
	CHECK(!files_find(files, name_of(FILES, KIND_PIPE)));
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_PIPE).count, FILES);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_SOCKET).count, 1);
	CHECK(!waits_by_cause(waits, CAUSE_FILE).count);
	end();
}

TEST(call_paths_are_distinguished_beyond_the_space_for_what_they_wait_for)
{
	uint64_t early = 0, late = 0;
	const struct wait_path *path;
	size_t cursor = 0;

	begin();
	for (uint64_t i = 1; i <= FILES; i++)
		wait_for(name_of(i, KIND_PIPE), STACK);
	for (uint64_t i = 1; i <= 100; i++)
		wait_for(name_of(FILES + i, KIND_SOCKET), STACK + 1);
	finish();
	while ((path = waits_next_path(waits, &cursor))) {
		if (path->stack == STACK) {
			early += path->count;
			CHECK_EQUAL(path->cause, CAUSE_PIPE);
		} else {
			late += path->count;
			CHECK_EQUAL(path->stack, STACK + 1);
			CHECK_EQUAL(path->cause, CAUSE_SOCKET);
			CHECK(path->has_many_objects && !path->object);
		}
	}
	CHECK_EQUAL(early, FILES);
	CHECK_EQUAL(late, 100);
	end();
}

/* Even of call paths there are too many: those that are left over are distinguished by cause. */
TEST(beyond_all_bounds_causes_stay_apart)
{
	uint64_t count[CAUSES] = { 0 };
	const struct wait_path *path;
	size_t cursor = 0, paths = 0;

	begin();
	for (uint64_t i = 1; i <= FILES; i++)
		wait_for(name_of(1, KIND_PIPE), STACK + i);
	for (uint64_t i = 1; i <= 100; i++)
		wait_for(name_of(2, KIND_SOCKET), STACK + FILES + i);
	finish();
	for (; (path = waits_next_path(waits, &cursor)); paths++)
		count[path->cause] += path->count;
	CHECK_EQUAL(paths, ROOM + 4096 + 2);
	CHECK_EQUAL(count[CAUSE_PIPE], FILES);
	CHECK_EQUAL(count[CAUSE_SOCKET], 100);
	end();
}
