/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What begins and ends tasks: which calls, of which descriptors, and functions. */
#include "test.h"
#include "world.h"

#include <errno.h>

enum { READ = 0, WRITE = 1, ACCEPT = 43, SOCKET_KIND = 0xc, FILE_KIND = 8, ANY = UINT32_MAX };

int span_call_begin(void *ctx, struct pt_regs *regs, long result);
int span_call_end(void *ctx, struct pt_regs *regs, long number);
int span_function_begin(struct pt_regs *context);
int span_function_end(struct pt_regs *context);

static struct world world;
static struct world_task *server;

static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	server = world_add_task(&world, NULL);
	shim_set_target(server->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, server);
	world_wake_in(&world, 0, server, WAKE_HARDIRQ);
	while (shim_read(&rings, 0, NULL))
		;
	shim_current = &server->task;
	server->task.thread_info.status = 0;
	server->task.ioac = (struct task_io_accounting){ .rchar = 5000, .wchar = 70, .syscr = 2, .syscw = 1 };
	server->task.min_flt = 10;
	server->task.maj_flt = 1;
	for (uint32_t i = 0; i < SYSCALLS_MAX; i++)
		*(struct span_call *)&span_calls[i] = (struct span_call){ 0 };
}

static void end(void)
{
	CHECK(!shim_read(&rings, 0, NULL) && !shim_records_open());
	world_fini(&world);
}

static void choose(uint32_t span, uint32_t first, struct span_rule begins, uint32_t second, struct span_rule ends)
{
	((struct span_call *)&span_calls[first])->begins |= 1 << span;
	((struct span_call *)&span_calls[second])->ends |= 1 << span;
	*(struct span_rule *)&span_rules[2 * span] = begins;
	*(struct span_rule *)&span_rules[2 * span + 1] = ends;
}

static void returns(uint32_t number, uint64_t first, long result)
{
	struct pt_regs registers = { .orig_ax = number, .di = first, .ax = result };

	span_call_begin(NULL, &registers, result);
}

static void enters(uint32_t number, uint64_t first)
{
	struct pt_regs registers = { .orig_ax = number, .di = first };

	span_call_end(NULL, &registers, number);
}

static void check_recorded(enum event_id id, uint32_t span, uint64_t value, uint32_t flags)
{
	size_t bytes;
	const struct ev_span_end *e = (const void *)shim_read(&rings, 0, &bytes);

	CHECK(e);
	CHECK_EQUAL(bytes, sizeof(*e));
	CHECK_EQUAL(e->header.thread, server->number);
	CHECK_EQUAL(e->header.subsys, id >> 16);
	CHECK_EQUAL(e->header.event, id & 0xffff);
	CHECK_EQUAL(e->span, span);
	CHECK_EQUAL(e->value, value);
	CHECK_EQUAL(e->flags, flags);
	CHECK_EQUAL(e->transfers, 3);
	CHECK_EQUAL(e->read_bytes, 5000);
	CHECK_EQUAL(e->written_bytes, 70);
	CHECK_EQUAL(e->faults, 11);
}

TEST(only_calls_that_succeed_begin_and_all_end)
{
	begin();
	choose(3, READ, (struct span_rule){ .fd = ANY, .least = 1 }, WRITE, (struct span_rule){ .fd = ANY });
	returns(READ, 5, -EAGAIN);
	returns(READ, 5, 0);
	returns(WRITE, 5, 1);
	enters(READ, 5);
	CHECK(!shim_read(&rings, 0, NULL));
	returns(READ, 5, 1);
	check_recorded(EV_SPAN_BEGIN, 3, 0, 0);
	enters(WRITE, 9);
	check_recorded(EV_SPAN_END, 3, 0, 0);
	end();
}

TEST(a_descriptor_that_is_made_is_the_one_that_ends)
{
	begin();
	choose(0, ACCEPT, (struct span_rule){ .fd = ANY, .makes_fd = 1, .is_by_fd = 1 }, WRITE,
	       (struct span_rule){ .fd = ANY, .is_by_fd = 1 });
	returns(ACCEPT, 3, 0);
	check_recorded(EV_SPAN_BEGIN, 0, 0, 0);
	returns(ACCEPT, 3, 7);
	check_recorded(EV_SPAN_BEGIN, 0, 7, 0);
	enters(WRITE, 7);
	check_recorded(EV_SPAN_END, 0, 7, 0);
	end();
}

TEST(conditions_are_of_the_descriptor_and_what_it_is)
{
	begin();
	world.files[1].inode.i_mode = 0140777;
	choose(1, READ, (struct span_rule){ .fd = ANY, .file_kind = SOCKET_KIND }, WRITE,
	       (struct span_rule){ .fd = 2, .file_kind = FILE_KIND });
	returns(READ, 0, 1);
	returns(READ, WORLD_DESCRIPTORS, 1);
	returns(READ, UINT32_MAX, 1);
	enters(WRITE, 1);
	enters(WRITE, 3);
	world_open(&world, 2, NULL);
	enters(WRITE, 2);
	CHECK(!shim_read(&rings, 0, NULL));
	world_open(&world, 2, &world.files[2]);
	returns(READ, 1, 1);
	check_recorded(EV_SPAN_BEGIN, 1, 0, 0);
	enters(WRITE, 2);
	check_recorded(EV_SPAN_END, 1, 0, 0);
	world.files[1].inode.i_mode = 0100644;
	end();
}

TEST(a_call_may_end_one_span_and_begin_others)
{
	begin();
	for (uint32_t span = 0; span < SPANS_MAX; span += 5)
		choose(span, READ, (struct span_rule){ .fd = ANY }, READ, (struct span_rule){ .fd = ANY });
	enters(READ, 0);
	for (uint32_t span = 0; span < SPANS_MAX; span += 5)
		check_recorded(EV_SPAN_END, span, 0, 0);
	returns(READ, 0, 0);
	for (uint32_t span = 0; span < SPANS_MAX; span += 5)
		check_recorded(EV_SPAN_BEGIN, span, 0, 0);
	end();
}

TEST(calls_of_32_bits_and_of_others_are_none)
{
	begin();
	choose(0, READ, (struct span_rule){ .fd = ANY }, READ, (struct span_rule){ .fd = ANY });
	server->task.thread_info.status = COMPAT_STATUS;
	returns(READ, 0, 1);
	enters(READ, 0);
	server->task.thread_info.status = 0;
	returns(SYSCALLS_MAX, 0, 1); /* the same place in the table */
	enters(SYSCALLS_MAX, 0);
	shim_current = &world_add_task(&world, NULL)->task;
	returns(READ, 0, 1);
	enters(READ, 0);
	span_function_begin(&(struct pt_regs){ .sp = 0x1000 });
	span_function_end(&(struct pt_regs){ .sp = 0x1000 });
	end();
}

TEST(a_function_is_known_by_its_frame)
{
	begin();
	shim_cookie = 9;
	span_function_begin(&(struct pt_regs){ .sp = 0x7fff12345678 });
	check_recorded(EV_SPAN_BEGIN, 9, 0x7fff12345678, 0);
	span_function_end(&(struct pt_regs){ .sp = 0x7fff12345678 });
	check_recorded(EV_SPAN_END, 9, 0x7fff12345678, 0);
	shim_cookie |= SPAN_PROBE_JUMPS;
	span_function_end(&(struct pt_regs){ .sp = 0x7fff12345670 });
	check_recorded(EV_SPAN_END, 9, 0x7fff12345670, SPAN_JUMPS);
	end();
}
