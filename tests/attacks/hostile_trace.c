// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostile_trace KIND FILE [ARGUMENT]
 * Writes a trace that is whole, every checksum right, and that, except for the first kind, no pinch would write:
 *   turns          nothing is wrong with it
 *   late           one event lies near 2^64, as its chunk says
 *   hidden-late    the same, but its chunk says otherwise
 *   waits          events have waits and ends at times that cannot be
 *   long           a day lies between two events, and then 200 years
 *   ages           a thousand threads wait for two years, one after the other a day long
 *   alive N        so many threads live at once, and each waits
 *   dead N         so many threads are born and die, one after the other
 *   path FILE      has no names, and says that this file has the code that ran
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_format.h"
#include "trace/trace_writer.h"
#include "values.h"

enum { PID = 1000, CODE = 0x400000, PATH_BYTES_MAX = 4096 };

static const uint64_t FIRST_NS = 1000000000000, MS = 1000000, YEAR_NS = 31536000ull * 1000000000;

static struct trace_writer *writer;
static uint64_t now_ns;

#define HEADER(number, subsystem, kind)                                                  \
	{                                                                                \
		.time_ns = now_ns, .thread = number, .subsys = TRACE_SUBSYS_##subsystem, \
		.event = TRACE_EVENT_##subsystem##_##kind                                \
	}

static void put(const void *event)
{
	trace_writer_event(writer, event);
}

static void put_run(void)
{
	static const char text[] = "command\0host\0kernel";
	uint64_t buffer[32] = { 0 };
	struct ev_collect_run *e = (struct ev_collect_run *)buffer;

	*e = (struct ev_collect_run){
		.header = HEADER(0, COLLECT, RUN),
		.sample_period_ns = 3 * MS,
		.cpu_count = 2,
		.text_bytes = sizeof(text),
	};
	memcpy(e->pids, text, sizeof(text));
	put(e);
}

static void put_born(uint32_t thread)
{
	struct ev_thread_born e = {
		.header = HEADER(thread, THREAD, BORN),
		.tid = PID + thread,
		.pid = PID,
		.ns_tid = PID + thread,
		.ns_pid = PID,
	};

	snprintf(e.name, sizeof(e.name), "t%u", thread);
	put(&e);
}

static void put_switch(uint32_t from, uint32_t to, uint8_t state, uint64_t stack)
{
	put(&(struct ev_sched_switch){
		.header = HEADER(from, SCHED, SWITCH),
		.next = to,
		.state = state,
		.stack = stack,
		.syscall = SYSCALL_NONE,
		.object = 0x1000 + from,
	});
}

static void put_wake(uint32_t thread, uint32_t waker)
{
	put(&(struct ev_sched_wake){
		.header = HEADER(thread, SCHED, WAKE),
		.waker = waker,
		.tid = PID + waker,
		.pid = PID,
		.syscall = SYSCALL_NONE,
	});
}

/* Two threads that take turns: what all is about. */
static void put_turns(unsigned int count)
{
	put_born(1);
	put_born(2);
	put_switch(0, 1, SWITCH_RUNNABLE, 0);
	for (unsigned int i = 0; i < count; i++) {
		now_ns += MS;
		put_wake(2, 1);
		put_switch(1, 2, SWITCH_SLEEPING, 0);
		now_ns += MS;
		put_wake(1, 2);
		put_switch(2, 1, SWITCH_SLEEPING, 0);
	}
}

static void put_end(uint64_t ended_ns)
{
	put(&(struct ev_collect_end){
		.header = HEADER(0, COLLECT, END),
		.ended_ns = ended_ns,
		.exit_status = 0,
	});
}

static void make_turns(void)
{
	put_turns(20);
	put_end(now_ns);
}

/* --- Times ----------------------------------------------------------------------------------- */

static void make_late(void)
{
	uint64_t before_ns;

	put_turns(20);
	before_ns = now_ns;
	now_ns = UINT64_MAX - 1000;
	put_wake(2, 1);
	now_ns = before_ns + MS;
	put_switch(1, 2, SWITCH_SLEEPING, 0);
	put_end(now_ns);
}

static void make_long(void)
{
	put_turns(20);
	now_ns += YEAR_NS / 365;
	put_wake(2, 1);
	put_switch(1, 2, SWITCH_SLEEPING, 0);
	trace_writer_flush(writer, now_ns, 0);
	now_ns += 200 * YEAR_NS;
	put_wake(1, 2);
	put_end(now_ns);
}

/* All of them together for longer than a number of 64 bits has nanoseconds. */
static void make_ages(void)
{
	enum { THREADS = 1000 };

	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		put_born(thread);
		put_switch(0, thread, SWITCH_RUNNABLE, 0);
		now_ns += MS;
		put_switch(thread, 0, SWITCH_SLEEPING, 0);
	}
	for (uint32_t day = 0; day < 2 * 365; day++) {
		now_ns += YEAR_NS / 365;
		put_wake(1 + day, 2 + day);
		put_switch(0, 1 + day, SWITCH_RUNNABLE, 0);
	}
	put_end(now_ns);
}

static void make_waits(void)
{
	put_turns(20);
	put(&(struct ev_thread_waits){
		.header = HEADER(2, THREAD, WAITS),
		.begin_ns = UINT64_MAX - 5,
		.state = SWITCH_SLEEPING,
	});
	put(&(struct ev_klock_wait){
		.header = HEADER(1, KLOCK, WAIT),
		.begin_ns = UINT64_MAX / 2,
		.lock = 1,
		.tid = PID + 1,
	});
	put(&(struct ev_system_softirq){
		.header = HEADER(1, SYSTEM, SOFTIRQ),
		.begin_ns = UINT64_MAX - 100,
		.vector = 1,
	});
	put_end(UINT64_MAX - 1);
}

/* The same bytes again, with a chunk that hides how late one of its events is. */
static int hide(const char *path)
{
	FILE *file = fopen(path, "r+b");
	long at = sizeof(struct trace_header);
	struct trace_chunk chunk;

	if (!file)
		return -1;
	while (!fseek(file, at, SEEK_SET) && fread(&chunk, sizeof(chunk), 1, file) == 1 &&
	       chunk.magic == TRACE_CHUNK_MAGIC) {
		if (chunk.kind == TRACE_CHUNK_EVENTS) {
			chunk.last_ns = now_ns;
			chunk.checksum = XXH64(&chunk, offsetof(struct trace_chunk, checksum), 0);
			if (fseek(file, at, SEEK_SET) || fwrite(&chunk, sizeof(chunk), 1, file) != 1)
				return -1;
		}
		at += sizeof(chunk) + (chunk.stored_bytes + 7) / 8 * 8;
	}
	/* No index, which says the same of the chunks: readers then look at these. */
	if (fseek(file, 0, SEEK_END) || fseek(file, -(long)sizeof(struct trace_end), SEEK_CUR) ||
	    fwrite(&(struct trace_end){ .magic = TRACE_MAGIC }, sizeof(struct trace_end), 1, file) != 1)
		return -1;
	return fclose(file);
}

/* --- Threads --------------------------------------------------------------------------------- */

static void make_alive(uint32_t count)
{
	for (uint32_t thread = 1; thread <= count; thread++) {
		now_ns += 100;
		put_born(thread);
		put_switch(0, thread, SWITCH_RUNNABLE, 0);
		now_ns += 100;
		put_switch(thread, 0, SWITCH_SLEEPING, thread);
	}
	put_end(now_ns);
}

static void make_dead(uint32_t count)
{
	for (uint32_t thread = 1; thread <= count; thread++) {
		now_ns += 100;
		put_born(thread);
		put_switch(0, thread, SWITCH_RUNNABLE, 0);
		now_ns += 100;
		put_switch(thread, 0, SWITCH_DEAD, 0);
	}
	put_end(now_ns);
}

/* --- Paths ----------------------------------------------------------------------------------- */

static void put_map(const char *path)
{
	uint64_t buffer[(sizeof(struct ev_space_map) + PATH_BYTES_MAX) / sizeof(uint64_t)] = { 0 };
	struct ev_space_map *e = (struct ev_space_map *)buffer;

	*e = (struct ev_space_map){
		.header = HEADER(1, SPACE, MAP),
		.pid = PID,
		.start = CODE,
		.size = 1 << 20,
		.inode = 7,
	};
	strncpy(e->path, path, PATH_BYTES_MAX - 1);
	put(e);
}

static void put_frames(uint64_t stack)
{
	uint64_t buffer[sizeof(struct ev_stack_frames) / sizeof(uint64_t) + 2] = { 0 };
	struct ev_stack_frames *e = (struct ev_stack_frames *)buffer;

	*e = (struct ev_stack_frames){ .header = HEADER(0, STACK, FRAMES), .stack = stack, .user_count = 2 };
	e->frames[0] = CODE + 0x1100;
	e->frames[1] = CODE + 0x1200;
	put(e);
}

static void make_path(const char *path)
{
	put_map(path);
	put_frames(77);
	put_born(1);
	for (int i = 0; i < 20; i++) {
		put_switch(0, 1, SWITCH_RUNNABLE, 0);
		now_ns += 5 * MS;
		put(&(struct ev_sched_sample){ .header = HEADER(1, SCHED, SAMPLE), .ip = CODE + 0x1100 });
		now_ns += 5 * MS;
		put_switch(1, 0, SWITCH_SLEEPING, 77);
		now_ns += 5 * MS;
		put_wake(1, 0);
	}
	put_end(now_ns);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "", *argument = argc > 3 ? argv[3] : "";

	if (argc < 3 || trace_writer_open(argv[2], &writer))
		return 2;
	now_ns = FIRST_NS;
	put_run();
	if (!strcmp(kind, "turns"))
		make_turns();
	else if (!strcmp(kind, "late") || !strcmp(kind, "hidden-late"))
		make_late();
	else if (!strcmp(kind, "waits"))
		make_waits();
	else if (!strcmp(kind, "long"))
		make_long();
	else if (!strcmp(kind, "ages"))
		make_ages();
	else if (!strcmp(kind, "alive"))
		make_alive(strtoul(argument, NULL, 10));
	else if (!strcmp(kind, "dead"))
		make_dead(strtoul(argument, NULL, 10));
	else if (!strcmp(kind, "path"))
		make_path(argument);
	else
		return 2;
	if (trace_writer_close(writer))
		return 1;
	return !strcmp(kind, "hidden-late") ? hide(argv[2]) != 0 : 0;
}
