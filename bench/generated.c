// SPDX-License-Identifier: GPL-2.0-or-later
#include "generated.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "trace/trace_writer.h"

enum { FRAMES_MAX = 40, PROGRAM_BYTES = 8 << 20 };

static const uint64_t program_start = 0x555555554000, kernel_start = 0xffffffff81000000;

uint64_t generated_pick(struct generated *g, uint64_t below)
{
	g->random = g->random * 6364136223846793005ull + 1442695040888963407ull;
	return (g->random >> 33) % below;
}

static uint64_t stretched(const struct generated *g, uint64_t natural_ns)
{
	return g->natural_ns ? (unsigned __int128)natural_ns * g->written_ns / g->natural_ns : natural_ns;
}

/* Never the same twice: the events of several CPUs have one order. */
uint64_t generated_time(const struct generated *g)
{
	uint64_t time_ns = g->begin_ns + stretched(g, g->now_ns + 1 - g->begin_ns);

	return time_ns > g->last_ns ? time_ns : g->last_ns + 1;
}

void generated_put(struct generated *g, void *event, enum event_id id, uint32_t thread)
{
	struct ev_header *header = event;

	if (g->events + 1 >= g->events_max)
		return;
	*header = (struct ev_header){
		.time_ns = generated_time(g),
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
	if (g->writer)
		trace_writer_event(g->writer, header);
	g->now_ns++;
	g->last_ns = header->time_ns;
	g->events++;
}

uint64_t generated_stack(struct generated *g, unsigned int what)
{
	uint32_t each = g->stacks / GENERATED_REASONS;

	return hash_u64((what * each + generated_pick(g, each)) % g->stacks + 1);
}

uint64_t generated_lock(uint32_t lock)
{
	return 0x7f0000001000 + lock * 64ull;
}

uint64_t generated_channel(uint32_t channel)
{
	return channel % 2 ? hash_u64(channel) << 5 | (S_IFIFO >> 12) << 1 | 1 : 0x7f0000100000ull + channel * 64;
}

uint64_t generated_file(uint32_t file)
{
	return hash_u64(1000 + file) << 5 | (S_IFREG >> 12) << 1 | 1;
}

static void put_file(struct generated *g, uint64_t file, uint32_t mode, const char *names, size_t name_bytes)
{
	union {
		struct ev_file_path e;
		char bytes[sizeof(struct ev_file_path) + 64];
	} capacity = { .e = { .file = file, .inode = file >> 5, .mode = mode, .links = 1, .name_bytes = name_bytes } };

	memcpy(capacity.e.names, names, name_bytes);
	generated_put(g, &capacity, EV_FILE_PATH, 0);
}

static void put_files(struct generated *g)
{
	char names[48];
	int length;

	for (uint32_t i = 0; i < GENERATED_FILES; i++) {
		length = snprintf(names, sizeof(names), "table%u.ibd%cdata%c/", i, 0, 0);
		put_file(g, generated_file(i), S_IFREG | 0600, names, length + 1);
	}
	for (uint32_t i = 1; i < GENERATED_CHANNELS * g->shards; i += 2) {
		length = snprintf(names, sizeof(names), "pipe:[%u]", i);
		put_file(g, generated_channel(i), S_IFIFO | 0600, names, length + 1);
	}
}

static void put_program(struct generated *g)
{
	static const char path[] = "/usr/sbin/server";
	union {
		struct ev_space_found e;
		char bytes[sizeof(struct ev_space_found) + sizeof(path)];
	} capacity = { .e = { .pid = GENERATED_PID, .start = program_start, .size = PROGRAM_BYTES, .inode = 1 } };

	memcpy(capacity.e.path, path, sizeof(path));
	generated_put(g, &capacity, EV_SPACE_FOUND, 0);
}

uint64_t generated_address(uint64_t what)
{
	return program_start + hash_u64(what) % PROGRAM_BYTES;
}

/* Call paths that share their outer part, as those of one program do. */
static void put_stacks(struct generated *g)
{
	union {
		struct ev_stack_frames e;
		uint64_t words[sizeof(struct ev_stack_frames) / 8 + FRAMES_MAX];
	} capacity;

	for (uint32_t i = 0; i < g->stacks; i++) {
		unsigned int count = 8 + generated_pick(g, FRAMES_MAX - 12);

		capacity.e = (struct ev_stack_frames){
			.stack = hash_u64(i + 1),
			.kernel_count = 4,
			.user_count = count,
		};
		for (unsigned int k = 0; k < 4; k++)
			capacity.e.frames[k] = kernel_start + hash_u64(k + i % 5) % (1 << 24);
		for (unsigned int k = 0; k < count; k++)
			capacity.e.frames[4 + k] = generated_address(k < count / 2 ? i * 64 + k : count - k);
		generated_put(g, &capacity, EV_STACK_FRAMES, 0);
	}
}

static void put_run(struct generated *g, uint32_t cpu_count)
{
	static const char text[] = "server\0generated\0none";
	union {
		struct ev_collect_run e;
		char bytes[sizeof(struct ev_collect_run) + 4 + sizeof(text) + 8];
	} capacity = { .e = { .realtime_ns = 1700000000000000000ull,
			      .sample_period_ns = stretched(g, g->sample_ns),
			      .cpu_count = cpu_count,
			      .pid_count = 1,
			      .text_bytes = sizeof(text) } };

	memcpy(capacity.e.pids, &(uint32_t){ GENERATED_PID }, 4);
	memcpy(capacity.e.pids + 1, text, sizeof(text));
	generated_put(g, &capacity, EV_COLLECT_RUN, 0);
}

void generated_begin(struct generated *g, uint32_t cpu_count)
{
	put_run(g, cpu_count);
	put_program(g);
	put_stacks(g);
	put_files(g);
}

void generated_end(struct generated *g)
{
	struct ev_collect_end e = { .ended_ns = generated_time(g), .stacks = g->stacks, .events = g->events + 1 };

	g->events_max++;
	generated_put(g, &e, EV_COLLECT_END, 0);
}
