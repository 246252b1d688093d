/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A traced thread that waits for the files of a table of descriptors, and what is recorded of them. */
#pragma once

#include "test.h"
#include "world.h"

enum { DESCRIPTORS = 8 };

static struct world world;
static struct world_task *reader;
static struct file *descriptors[DESCRIPTORS];
static struct fdtable descriptor_table = { DESCRIPTORS, descriptors };
static struct files_struct files = { &descriptor_table };

/* The file's record that came with the last wait. */
static _Alignas(8) uint8_t recorded[sizeof(struct file_scratch)];
static size_t recorded_bytes;

/* One more, on no CPU. */
static inline struct world_task *add_reader(void)
{
	struct world_task *task = world_add_task(&world, NULL);

	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake_in(&world, 0, task, WAKE_HARDIRQ);
	task->task.files = &files;
	return task;
}

static inline void files_begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	memset(descriptors, 0, sizeof(descriptors));
	reader = add_reader();
	world_leave(&world, 0, LEAVE_PREEMPTED, reader);
}

static inline void files_end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

/* The reader blocks in a call on the descriptor. */
static inline void block_on(uint64_t descriptor)
{
	reader->registers.orig_ax = CALL_FILE;
	reader->registers.di = descriptor;
	reader->task.__state = 1;
	shim_now_ns += 1000;
	cpu_counts[0].next_recorded = 0; /* how it got the CPU does not matter */
	sched_switch(NULL, false, &reader->task, &world.idle[0].task, 1);
}

/* What its wait says of the file, if it is recorded. */
static inline uint64_t wait_for(uint64_t descriptor)
{
	const struct ev_header *header;
	uint64_t object;
	size_t bytes;

	block_on(descriptor);
	header = shim_read(&rings, 0, NULL);
	while (header->subsys != TRACE_SUBSYS_SCHED) /* of a gap */
		header = shim_read(&rings, 0, NULL);
	CHECK_EQUAL(((const struct ev_sched_switch *)header)->syscall, CALL_FILE);
	CHECK_EQUAL(((const struct ev_sched_switch *)header)->value, (uint32_t)descriptor);
	object = ((const struct ev_sched_switch *)header)->object;
	recorded_bytes = 0;
	while ((header = shim_read(&rings, 0, &bytes))) {
		if (header->subsys != TRACE_SUBSYS_FILE)
			continue;
		CHECK(!recorded_bytes);
		CHECK_THAT(bytes, <=, sizeof(recorded));
		memcpy(recorded, header, bytes);
		recorded_bytes = bytes;
	}
	shim_thread(&reader->task)->phase = PHASE_RUNNING;
	return object;
}

/* NULL: no path was recorded. */
static inline const struct ev_file_path *path_recorded(void)
{
	const struct ev_file_path *e = (const struct ev_file_path *)recorded;

	if (!recorded_bytes || e->header.event != TRACE_EVENT_FILE_PATH)
		return NULL;
	CHECK_EQUAL(recorded_bytes, sizeof(*e) + e->name_bytes);
	CHECK(e->name_bytes && !e->reserved);
	CHECK(!e->names[e->name_bytes - 1]);
	return e;
}

/* Only of a socket that has_process. */
static inline const char *peer_process(void)
{
	const char *path = (const char *)&recorded[sizeof(struct ev_file_socket)];

	return path + strlen(path) + 1;
}

/* NULL: no socket was recorded. */
static inline const struct ev_file_socket *socket_recorded(void)
{
	const struct ev_file_socket *e = (const struct ev_file_socket *)recorded;

	if (!recorded_bytes || e->header.event != TRACE_EVENT_FILE_SOCKET)
		return NULL;
	CHECK_THAT(recorded_bytes, >, sizeof(*e));
	CHECK(!recorded[recorded_bytes - 1]);
	CHECK_EQUAL(e->file & 0x1f, 014 << 1 | 1);
	CHECK_EQUAL(strlen(e->path) + 1 + (e->has_process ? strlen(peer_process()) + 1 : 0),
		    recorded_bytes - sizeof(*e));
	return e;
}

/* The names of the path: "file|directory|/". */
static inline const char *names_recorded(void)
{
	static char names[sizeof(recorded)];
	const struct ev_file_path *e = path_recorded();

	CHECK(e);
	memcpy(names, e->names, e->name_bytes);
	for (uint32_t i = 0; i + 1 < e->name_bytes; i++)
		if (!names[i])
			names[i] = '|';
	return names;
}

/* The reader waits for another file, so that it has to look the next one up. */
static inline void forget_last_file(void)
{
	static struct super_block super;
	static struct inode inode = { .i_mode = 0100600, .i_ino = 1, .i_sb = &super };
	static struct dentry dentry = { .d_parent = &dentry, .d_name.name = (const unsigned char *)"between" };
	static struct file file = { .f_inode = &inode, .f_path.dentry = &dentry };

	descriptors[DESCRIPTORS - 1] = &file;
	CHECK(wait_for(DESCRIPTORS - 1));
	descriptors[DESCRIPTORS - 1] = NULL;
}
