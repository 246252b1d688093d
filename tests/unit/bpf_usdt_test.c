/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is recorded of a site of a USDT probe: its arguments, each from where it is and as it is declared. */
#include "test.h"
#include "world.h"

int usdt_hit(struct pt_regs *context);

enum { AX = 10, BX = 5, SP = 19, NONE = USDT_NO_REGISTER };

static struct world world;
static struct world_task *server;
static struct pt_regs registers;

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
	shim_cookie = 0;
	shim_usdt_site = (struct usdt_site){ .schema = 77 };
	registers = (struct pt_regs){ .ax = 0x8877665544332211, .bx = 3, .sp = 0x10000 };
}

static void end(void)
{
	CHECK(!shim_read(&rings, 0, NULL) && !shim_records_open());
	world_fini(&world);
}

static void add(struct usdt_argument argument)
{
	shim_usdt_site.arguments[shim_usdt_site.argument_count++] = argument;
}

static void add_register(unsigned int word, unsigned int size_bytes, bool is_signed, unsigned int shift_bits)
{
	add((struct usdt_argument){ .kind = USDT_REGISTER,
				    .base = word,
				    .size_bytes = size_bytes,
				    .is_signed = is_signed,
				    .shift_bits = shift_bits });
}

/* The values of the record of a hit, of which there are so many. */
static const uint64_t *hit(size_t value_count)
{
	const struct ev_user_event *e;
	const uint64_t *values;
	size_t bytes;

	usdt_hit(&registers);
	e = (const void *)shim_read(&rings, 0, &bytes);
	CHECK(e);
	CHECK_EQUAL(bytes, sizeof(*e) + 8 * value_count);
	CHECK_EQUAL(e->header.thread, server->number);
	CHECK_EQUAL(e->header.subsys, TRACE_SUBSYS_USER);
	CHECK_EQUAL(e->header.event, TRACE_EVENT_USER_EVENT);
	CHECK_EQUAL(e->schema, 77);
	CHECK(!e->subsystem && !e->event && !e->reserved);
	CHECK_EQUAL(e->payload_bytes, 8 * value_count);
	values = (const uint64_t *)e->payload;
	CHECK_EQUAL(e->argument, (uint32_t)values[0]);
	return values;
}

TEST(registers_are_cut_to_their_size_and_keep_their_sign)
{
	static const uint64_t expected[] = { 0x8877665544332211, 0x44332211, 0x2211, 0x11, 0x22, 3 };
	const uint64_t *values;

	begin();
	add_register(AX, 8, false, 0);
	add_register(AX, 4, false, 0);
	add_register(AX, 2, true, 0);
	add_register(AX, 1, false, 0);
	add_register(AX, 1, false, 8);
	add_register(BX, 8, false, 0);
	values = hit(6);
	for (size_t i = 0; i < 6; i++)
		CHECK_EQUAL(values[i], expected[i]);
	registers.ax = 0xfffffffe;
	shim_usdt_site.argument_count = 0;
	add_register(AX, 4, true, 0);
	add_register(AX, 8, true, 0);
	values = hit(2);
	CHECK_EQUAL(values[0], -2);
	CHECK_EQUAL(values[1], 0xfffffffe);
	end();
}

TEST(memory_is_read_where_its_registers_lead_to)
{
	const int32_t far = -9;
	const uint64_t near = 0x1122334455667788;
	const uint64_t *values;

	begin();
	shim_plant(0x10000 - 16, &near, sizeof(near));
	shim_plant(0x10000 + (3 << 2) + 100, &far, sizeof(far));
	add((struct usdt_argument){ .kind = USDT_MEMORY, .base = SP, .index = NONE, .number = -16, .size_bytes = 8 });
	add((struct usdt_argument){ .kind = USDT_MEMORY,
				    .base = SP,
				    .index = BX,
				    .scale_shift = 2,
				    .number = 100,
				    .size_bytes = 4,
				    .is_signed = true });
	values = hit(2);
	CHECK_EQUAL(values[0], near);
	CHECK_EQUAL(values[1], -9);
	end();
}

TEST(constants_are_what_they_are_and_the_unreadable_is_0)
{
	const uint64_t *values;

	begin();
	add((struct usdt_argument){ .kind = USDT_CONSTANT, .number = -3, .size_bytes = 4, .is_signed = true });
	add((struct usdt_argument){ .kind = USDT_UNREADABLE });
	values = hit(2);
	CHECK_EQUAL(values[0], -3);
	CHECK_EQUAL(values[1], 0);
	end();
}

TEST(a_record_has_space_for_all_arguments_and_zeros_behind_them)
{
	static const size_t space[] = { 2, 2, 2, 6, 6, 6, 6, 12, 12, 12, 12, 12, 12 };

	begin();
	for (uint32_t count = 0; count <= USDT_ARGUMENTS_MAX; count++) {
		const uint64_t *values;

		shim_usdt_site.argument_count = 0;
		for (uint32_t i = 0; i < count; i++)
			add((struct usdt_argument){ .kind = USDT_CONSTANT, .number = i + 1, .size_bytes = 8 });
		values = hit(space[count]);
		for (size_t i = 0; i < space[count]; i++)
			CHECK_EQUAL(values[i], i < count ? i + 1 : 0);
	}
	end();
}

TEST(threads_that_are_not_traced_and_sites_that_nobody_knows_leave_nothing)
{
	struct world_task *other;

	begin();
	shim_cookie = 1;
	usdt_hit(&registers);
	shim_cookie = 0;
	other = world_add_task(&world, NULL);
	shim_current = &other->task;
	usdt_hit(&registers);
	end();
}
