/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More files than there is room for: what is left out of the rows is not taken for something else. */
#include "test.h"

#include <string.h>
#include <sys/syscall.h>

#include "analysis/criticality.h"
#include "analysis/files.h"
#include "analysis/others.h"
#include "analysis/stacks.h"
#include "analysis/untold.h"
#include "analysis/waits.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

enum { FILES = 70000, ROOM = 65536, WAIT_NS = 10, STACK = 7, KIND_PIPE = 1, KIND_SOCKET = 014 };

static struct session *session;
static struct threads *threads;
static struct stacks *stacks;
static struct files *files;
static struct others *others;
static struct untold *untold;
static struct waits *waits;
static struct criticality *criticality;
static uint64_t now_ns;

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = now_ns, .thread = thread, .subsys = id >> 16, .event = id & 0xffff,
	};
}

static void push(const void *event, size_t size_bytes)
{
	CHECK(!session_push(session, 0, event, size_bytes));
}

static void begin(void)
{
	struct ev_thread_found e;

	now_ns = 1000;
	session = session_new(1, 256 << 20);
	threads = threads_new(session);
	stacks = stacks_new(session, 0);
	files = files_new(session, 0);
	others = others_new(session);
	untold = untold_new(session);
	waits = waits_new(files, others, untold);
	criticality = criticality_new(session, threads, &(struct criticality_options){
		.stacks = stacks, .waits = waits,
	});
	e = (struct ev_thread_found){
		.header = header_of(EV_THREAD_FOUND, 1), .tid = 1, .pid = 1, .phase = PHASE_RUNNING,
	};
	push(&e, sizeof(e));
}

static void end(void)
{
	criticality_free(criticality);
	waits_free(waits);
	others_free(others);
	untold_free(untold);
	files_free(files);
	stacks_free(stacks);
	threads_free(threads);
	session_free(session);
}

static uint64_t name_of(uint64_t number, uint64_t kind)
{
	return number << 5 | kind << 1 | 1;
}

/* The kernel side tells of each pipe when it is first waited for. */
static void tell_pipe(uint64_t file)
{
	struct {
		struct ev_file_path path;
		char name[8];
	} e = { .path = {
		.header = header_of(EV_FILE_PATH, 0), .file = file, .inode = file >> 5,
		.mode = 0010600, .links = 1, .name_bytes = 1,
	} };

	push(&e, sizeof(e.path) + 1);
}

static void wait_for(uint64_t file, uint64_t stack)
{
	struct ev_sched_switch out = {
		.header = header_of(EV_SCHED_SWITCH, 1), .state = SWITCH_SLEEPING,
		.flags = SWITCH_HAS_STACK, .stack = stack, .syscall = SYS_read, .object = file,
	};
	struct ev_sched_switch in = { .next = 1, .syscall = SYSCALL_NONE };
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };

	push(&out, sizeof(out));
	now_ns += WAIT_NS;
	wake.header = header_of(EV_SCHED_WAKE, 1);
	push(&wake, sizeof(wake));
	in.header = header_of(EV_SCHED_SWITCH, 0);
	push(&in, sizeof(in));
	now_ns += WAIT_NS;
}

static void finish(void)
{
	session_finish(session);
	criticality_finish(criticality, now_ns);
}

TEST(files_without_a_row_share_one)
{
	uint64_t rows = 0, others = 0, waited_ns = 0;
	const struct wait_file *file;
	size_t cursor = 0;

	begin();
	for (uint64_t i = 1; i <= FILES; i++) {
		tell_pipe(name_of(i, KIND_PIPE));
		wait_for(name_of(i, KIND_PIPE), STACK);
	}
	finish();
	while ((file = waits_next_file(waits, &cursor))) {
		rows++;
		waited_ns += file->sum.wait_ns;
		if (file->file)
			continue;
		others += file->sum.count;
		CHECK(file->cause == CAUSE_PIPE);
	}
	CHECK(rows == ROOM + 1 && others == FILES - ROOM);
	CHECK(waited_ns == (uint64_t)FILES * WAIT_NS);
	end();
}

TEST(what_a_file_is_that_found_no_room_its_name_tells)
{
	begin();
	for (uint64_t i = 1; i <= FILES; i++) {
		tell_pipe(name_of(i, KIND_PIPE));
		wait_for(name_of(i, KIND_PIPE), STACK);
	}
	wait_for(name_of(FILES + 1, KIND_SOCKET), STACK);
	finish();
	CHECK(!files_find(files, name_of(FILES, KIND_PIPE)));
	CHECK(waits_by_cause(waits, CAUSE_PIPE).count == FILES);
	CHECK(waits_by_cause(waits, CAUSE_SOCKET).count == 1);
	CHECK(!waits_by_cause(waits, CAUSE_FILE).count);
	end();
}

TEST(call_paths_are_told_apart_beyond_the_room_for_what_they_wait_for)
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
			CHECK(path->cause == CAUSE_PIPE);
		} else {
			late += path->count;
			CHECK(path->stack == STACK + 1 && path->cause == CAUSE_SOCKET);
			CHECK(path->has_many_objects && !path->object);
		}
	}
	CHECK(early == FILES && late == 100);
	end();
}

/* Even of call paths there are too many: those that are left over are told apart by cause. */
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
	CHECK(paths == ROOM + 4096 + 2);
	CHECK(count[CAUSE_PIPE] == FILES && count[CAUSE_SOCKET] == 100);
	end();
}
