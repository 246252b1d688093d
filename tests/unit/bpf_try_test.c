/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who sleeps because a file is locked, tries again after it, and who has the lock meanwhile. */
#include "file_fixture.h"
#include "test.h"

enum {
	READ = 0,
	WRITE = 1,
	NONE = 2,
	AGAIN = -11,
	DESCRIPTOR = 3,
	CALL_SLEEP = 60,
	CALL_LOCK = 61,
	SETLK = 6,
	SETLKW = 7,
	FLOCK_NB = 2 | 4,
	SOON_NS = 1000000,
	HARDIRQ = 1 << 16,
	TOO_MANY = 64,
};

static struct super_block disk = { .s_dev = 8 };
static struct dentry root = { .d_parent = &root, .d_name.name = (const unsigned char *)"orders.db" };
static struct file_lock_context context;
static struct inode inode = { .i_mode = 0100600, .i_nlink = 1, .i_ino = 12, .i_sb = &disk, .i_flctx = &context };
static struct file file = { .f_inode = &inode, .f_path.dentry = &root };
static struct world_task *holder;
static struct file_lock held[TOO_MANY + 1], wanted;
static int owners[3];

static struct file_lock lock_of(struct world_task *task, int type, long long first, long long last)
{
	return (struct file_lock){
		.c = { .flc_owner = &owners[task == holder], .flc_type = type },
		.fl_start = first,
		.fl_end = last,
	};
}

static void begin(void)
{
	files_begin();
	holder = add_reader();
	shim_set_option(wait_arguments[CALL_SLEEP], ARGUMENT_TIME);
	descriptors[DESCRIPTOR] = &file;
	context.flc_posix.next = &context.flc_posix;
	context.flc_flock.next = &context.flc_flock;
	shim_current = &holder->task;
	held[0] = lock_of(holder, WRITE, 100, 200);
	lock_posix(NULL, &inode, &held[0], 0);
	lock_flock(NULL, &inode, &held[0], 0);
	shim_current = &reader->task;
}

/* These are in the file's list. */
static void put_in_list(struct list_head *list, size_t count)
{
	struct list_head *last = list;

	for (size_t i = 0; i < count; i++) {
		last->next = &held[i].c.flc_list;
		last = last->next;
	}
	last->next = list;
}

/* The reader tries to take the lock, and does not get it. */
static void try(int type, long long first, long long last)
{
	reader->registers.orig_ax = CALL_LOCK;
	reader->registers.di = DESCRIPTOR;
	reader->registers.si = SETLK;
	wanted = lock_of(reader, type, first, last);
	lock_posix(NULL, &inode, &wanted, AGAIN);
}

static struct ev_sched_switch sleep_after(uint64_t ns)
{
	struct ev_sched_switch e = { 0 };
	const struct ev_header *header;

	shim_now_ns += ns;
	reader->registers.orig_ax = CALL_SLEEP;
	reader->registers.di = 1;
	reader->registers.si = 2;
	reader->task.__state = 1;
	cpu_counts[0].next_recorded = 0;
	sched_switch(NULL, false, &reader->task, &world.idle[0].task, 1);
	while ((header = shim_read(&rings, 0, NULL)))
		if (header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SWITCH)
			memcpy(&e, header, sizeof(e));
	return e;
}

static struct ev_sched_wake wake(void)
{
	struct ev_sched_wake e = { 0 };
	const struct ev_header *header;

	shim_now_ns += 5000;
	shim_current = &world.idle[0].task;
	shim_set_preempt_count(0, HARDIRQ);
	sched_waking(NULL, &reader->task);
	shim_set_preempt_count(0, 0);
	while ((header = shim_read(&rings, 0, NULL)))
		if (header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_WAKE)
			memcpy(&e, header, sizeof(e));
	shim_thread(&reader->task)->phase = PHASE_RUNNING;
	shim_current = &reader->task;
	return e;
}

static void check_is_sleep(const struct ev_sched_switch *e)
{
	CHECK_EQUAL(e->syscall, CALL_SLEEP);
	CHECK_EQUAL(e->object, 1);
	CHECK_EQUAL(e->value, 2);
}

TEST(who_sleeps_after_it_did_not_get_a_lock_waits_for_that_lock_and_its_holder)
{
	struct ev_sched_switch e;
	struct ev_sched_wake woken;
	uint64_t name;

	begin();
	name = wait_for(DESCRIPTOR);
	put_in_list(&context.flc_posix, 1);
	try(READ, 150, 150);
	e = sleep_after(SOON_NS);
	CHECK_EQUAL(e.syscall, CALL_LOCK);
	CHECK_EQUAL(e.operation, SETLKW);
	CHECK_EQUAL(e.value, DESCRIPTOR);
	CHECK_EQUAL(e.object, name);
	woken = wake();
	CHECK_EQUAL(woken.context, WAKE_THREAD);
	CHECK_EQUAL(woken.waker, holder->number);
	CHECK_EQUAL(woken.tid, (uint32_t)holder->task.pid);
	CHECK_EQUAL(woken.pid, (uint32_t)holder->task.tgid);
	CHECK_EQUAL(woken.syscall, SYSCALL_NONE);
	CHECK(!(woken.flags & WAKE_HAS_STACK));
	/* The next sleep is one. */
	e = sleep_after(0);
	check_is_sleep(&e);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(a_sleep_later_than_that_is_one)
{
	struct ev_sched_switch e;

	begin();
	put_in_list(&context.flc_posix, 1);
	try(READ, 150, 150);
	e = sleep_after(SOON_NS + 1);
	check_is_sleep(&e);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(any_other_wait_after_a_try_is_what_it_is)
{
	struct ev_sched_switch e;

	begin();
	put_in_list(&context.flc_posix, 1);
	try(READ, 150, 150);
	wait_for(DESCRIPTOR);
	e = sleep_after(0);
	check_is_sleep(&e);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(locks_that_are_not_in_the_way_have_no_holder)
{
	begin();
	put_in_list(&context.flc_posix, 1);
	try(WRITE, 201, 300);
	CHECK_EQUAL(sleep_after(0).syscall, CALL_LOCK);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	try(WRITE, 0, 99);
	sleep_after(0);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	held[0].c.flc_type = READ;
	try(READ, 150, 150);
	sleep_after(0);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	try(WRITE, 150, 150);
	sleep_after(0);
	CHECK_EQUAL(wake().waker, holder->number);
	held[0].c.flc_owner = &owners[0];
	try(WRITE, 150, 150);
	sleep_after(0);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(a_holder_that_is_not_traced_is_nobody)
{
	begin();
	put_in_list(&context.flc_posix, 1);
	held[0].c.flc_owner = &owners[2];
	try(WRITE, 150, 150);
	CHECK_EQUAL(sleep_after(0).syscall, CALL_LOCK);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(of_very_many_locks_the_first_are_looked_at)
{
	begin();
	for (size_t i = 0; i < TOO_MANY; i++)
		held[i] = lock_of(holder, WRITE, 1000 + i, 1000 + i);
	held[TOO_MANY] = lock_of(holder, WRITE, 100, 200);
	put_in_list(&context.flc_posix, TOO_MANY);
	try(WRITE, 1000 + TOO_MANY - 1, 2000);
	sleep_after(0);
	CHECK_EQUAL(wake().waker, holder->number);
	put_in_list(&context.flc_posix, TOO_MANY + 1);
	try(WRITE, 150, 150);
	sleep_after(0);
	CHECK_EQUAL(wake().context, WAKE_HARDIRQ);
	files_end();
}

TEST(a_lock_of_flock_is_of_another_kind)
{
	struct ev_sched_switch e;

	begin();
	put_in_list(&context.flc_flock, 1);
	reader->registers.orig_ax = CALL_LOCK;
	reader->registers.di = DESCRIPTOR;
	reader->registers.si = FLOCK_NB;
	wanted = lock_of(reader, WRITE, 0, INT64_MAX);
	lock_flock(NULL, &inode, &wanted, AGAIN);
	e = sleep_after(0);
	CHECK_EQUAL(e.operation, FLOCK_NB & ~4);
	CHECK_EQUAL(wake().waker, holder->number);
	files_end();
}

TEST(who_is_not_traced_and_what_is_neither_taken_nor_refused_is_not_noted)
{
	begin();
	put_in_list(&context.flc_posix, 1);
	shim_current = &world.idle[0].task;
	try(WRITE, 150, 150);
	shim_current = &reader->task;
	lock_posix(NULL, &inode, &wanted, -9);
	CHECK_EQUAL(sleep_after(0).syscall, CALL_SLEEP);
	wake();
	reader->registers.orig_ax = SYSCALLS_MAX;
	lock_posix(NULL, &inode, &wanted, AGAIN);
	CHECK_EQUAL(sleep_after(0).syscall, CALL_SLEEP);
	wake();
	reader->task.thread_info.status = COMPAT_STATUS;
	try(WRITE, 150, 150);
	reader->task.thread_info.status = 0;
	CHECK_EQUAL(sleep_after(0).syscall, CALL_SLEEP);
	files_end();
}
