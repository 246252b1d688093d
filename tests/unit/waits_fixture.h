/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that waits for files, as the analyses of waits see it. */
#pragma once

#include "test.h"

#include <sys/syscall.h>

#include "account/criticality.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"

enum { KIND_PIPE = 1, KIND_SOCKET = 014 };

static struct session *session;
static struct threads *threads;
static struct stacks *stacks;
static struct files *files;
static struct others *others;
static struct missing_wakeups *missing;
static struct waits *waits;
static struct criticality *criticality;
static uint64_t now_ns;

static inline struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static inline void push(const void *event, size_t size_bytes)
{
	CHECK(!session_push(session, 0, event, size_bytes));
}

static inline void begin(void)
{
	struct ev_thread_found e;

	now_ns = 1000;
	session = session_new(1, 256 << 20);
	threads = threads_new(session);
	stacks = stacks_new(session, 0);
	files = files_new(session, 0);
	others = others_new(session);
	missing = missing_wakeups_new(session);
	waits = waits_new(files, others, missing);
	criticality = criticality_new(session, threads,
				      &(struct criticality_options){
					      .stacks = stacks,
					      .waits = waits,
				      });
	e = (struct ev_thread_found){
		.header = header_of(EV_THREAD_FOUND, 1),
		.tid = 1,
		.pid = 1,
		.phase = PHASE_RUNNING,
	};
	push(&e, sizeof(e));
}

static inline void end(void)
{
	criticality_free(criticality);
	waits_free(waits);
	others_free(others);
	missing_wakeups_free(missing);
	files_free(files);
	stacks_free(stacks);
	threads_free(threads);
	session_free(session);
}

static inline uint64_t name_of(uint64_t number, uint64_t kind)
{
	return number << 5 | kind << 1 | 1;
}

/* The kernel side records each pipe when it is first waited for. */
static inline void emit_pipe(uint64_t file)
{
	struct {
		struct ev_file_path path;
		char name[8];
	} e = { .path = {
			.header = header_of(EV_FILE_PATH, 0),
			.file = file,
			.inode = file >> 5,
			.mode = 0010600,
			.links = 1,
			.name_bytes = 1,
		} };

	push(&e, sizeof(e.path) + 1);
}

/* keep: of its stack, 0 for certain. stack 0: it was not kept. flags: what the object is, besides a file. */
static inline void wait_long_in_read(uint64_t object, unsigned int flags, uint64_t stack, uint32_t keep,
				     uint64_t wait_ns)
{
	struct ev_sched_switch out = {
		.header = header_of(EV_SCHED_SWITCH, 1),
		.state = SWITCH_SLEEPING,
		.keep = keep,
		.flags = flags | (stack ? SWITCH_HAS_STACK : SWITCH_STACK_SKIPPED),
		.stack = stack,
		.syscall = SYS_read,
		.object = object,
	};
	struct ev_sched_switch in = { .next = 1, .syscall = SYSCALL_NONE };
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };

	push(&out, sizeof(out));
	now_ns += wait_ns;
	wake.header = header_of(EV_SCHED_WAKE, 1);
	push(&wake, sizeof(wake));
	in.header = header_of(EV_SCHED_SWITCH, 0);
	push(&in, sizeof(in));
	now_ns += 10;
}

static inline void wait_long_for(uint64_t file, uint64_t stack, uint32_t keep, uint64_t wait_ns)
{
	wait_long_in_read(file, 0, stack, keep, wait_ns);
}

static inline void wait_long_for_klock(uint64_t lock, uint64_t stack, uint32_t keep, uint64_t wait_ns)
{
	wait_long_in_read(lock, SWITCH_KERNEL_LOCK, stack, keep, wait_ns);
}

static inline void finish(void)
{
	session_finish(session);
	criticality_finish(criticality, now_ns);
}
