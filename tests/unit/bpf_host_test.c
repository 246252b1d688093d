/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts, as getaddrinfo() is given and answers them in a program's memory. */
#include "test.h"
#include "world.h"

enum {
	NAME = 0x7000,
	RESULT = 0x7100,
	LIST = 0x8000,
	ADDRESSES = 0x9000,
	STACK = 0x10000,
	CALLER = 0x401234,
	STEP = 0x100,
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
	FAMILY_UNIX = 1,
};

int resolve_begin(struct pt_regs *context);
int resolve_end(struct pt_regs *context);

/* struct addrinfo of a program. */
struct entry {
	int32_t flags, family, type, protocol;
	uint32_t address_bytes, reserved;
	uint64_t address, name, next;
};

static struct world world;
static struct world_task *asker;
static size_t entries;

static void plant_entry(int family, const void *address, uint64_t next)
{
	uint64_t at = LIST + entries * STEP, place = ADDRESSES + entries * STEP;
	struct entry entry = { .family = family, .address = place, .next = next };
	uint8_t bytes[28] = { family };

	memcpy(bytes + (family == FAMILY_IPV4 ? 4 : 8), address, family == FAMILY_IPV4 ? 4 : 16);
	shim_plant(at, &entry, sizeof(entry));
	shim_plant(place, bytes, sizeof(bytes));
	entries++;
}

static void begin(const char *name)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };
	uint64_t list = LIST, caller = CALLER;

	world_init(&world, &options);
	asker = world_add_task(&world, NULL);
	shim_set_target(asker->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, asker);
	world_wake_in(&world, 0, asker, WAKE_HARDIRQ);
	while (shim_read(&rings, 0, NULL))
		;
	shim_current = &asker->task;
	entries = 0;
	shim_plant(NAME, name, strlen(name) + 1);
	shim_plant(RESULT, &list, sizeof(list));
	shim_plant(STACK, &caller, sizeof(caller));
}

static void end(void)
{
	CHECK(!shim_read(&rings, 0, NULL) && !shim_records_open());
	world_fini(&world);
}

static void resolve(uint64_t name, uint64_t status)
{
	struct pt_regs registers = { .di = name, .cx = RESULT, .sp = STACK };

	resolve_begin(&registers);
	registers = (struct pt_regs){ .ax = status, .sp = STACK + 8 };
	resolve_end(&registers);
}

static const struct ev_file_host *recorded(void)
{
	size_t bytes;
	const struct ev_header *header = shim_read(&rings, 0, &bytes);

	if (!header)
		return NULL;
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_FILE);
	CHECK_EQUAL(header->event, TRACE_EVENT_FILE_HOST);
	CHECK_EQUAL(bytes, sizeof(struct ev_file_host));
	CHECK_EQUAL(header->thread, asker->number);
	return (const struct ev_file_host *)header;
}

TEST(each_address_is_recorded_once_whatever_the_types_of_socket)
{
	static const uint8_t four[] = { 192, 0, 2, 1 }, six[16] = { 0x20, 0x01, [15] = 7 };
	const struct ev_file_host *e;

	begin("db.example");
	for (uint32_t i = 1; i <= 3; i++)
		plant_entry(FAMILY_IPV6, six, LIST + i * STEP);
	for (uint32_t i = 4; i <= 6; i++)
		plant_entry(FAMILY_IPV4, four, i < 6 ? LIST + i * STEP : 0);
	resolve(NAME, 0);
	e = recorded();
	CHECK(e);
	CHECK_EQUAL(e->family, FAMILY_IPV6);
	CHECK(!memcmp(e->address, six, 16));
	CHECK_EQUAL(e->pid, (uint32_t)asker->task.tgid);
	CHECK(!e->reserved);
	CHECK_STRING(e->name, "db.example");
	e = recorded();
	CHECK(e);
	CHECK_EQUAL(e->family, FAMILY_IPV4);
	CHECK(!memcmp(e->address, four, 4));
	CHECK(!e->address[4]);
	CHECK_STRING(e->name, "db.example");
	end();
}

TEST(what_was_not_found_or_not_asked_for_is_not_recorded)
{
	begin("db.example");
	plant_entry(FAMILY_IPV4, "\1\2\3\4", 0);
	resolve(NAME, -2);
	resolve(0, 0); /* addresses to listen on */
	CHECK(!recorded());
	end();
}

TEST(a_list_that_is_a_circle_or_leads_nowhere_ends)
{
	uint8_t address[4] = { 10 };
	uint32_t count = 0;

	begin("circle.example");
	plant_entry(FAMILY_IPV4, address, LIST + STEP);
	address[3] = 1;
	plant_entry(FAMILY_IPV4, address, LIST);
	resolve(NAME, 0);
	while (recorded())
		count++;
	CHECK_EQUAL(count, 64);
	end();

	begin("nowhere.example");
	plant_entry(FAMILY_IPV4, address, 0xdead0000);
	resolve(NAME, 0);
	CHECK(recorded() && !recorded());
	end();
}

TEST(addresses_of_other_families_are_passed_over)
{
	begin("db.example");
	plant_entry(FAMILY_UNIX, "/run/db.socket.....", LIST + STEP);
	plant_entry(FAMILY_IPV4, "\1\2\3\4", 0);
	resolve(NAME, 0);
	CHECK(recorded() && !recorded());
	end();
}

TEST(who_is_not_traced_is_not_listened_to)
{
	begin("db.example");
	plant_entry(FAMILY_IPV4, "\1\2\3\4", 0);
	shim_current = &world_add_task(&world, NULL)->task;
	resolve(NAME, 0);
	CHECK(!recorded());
	end();
}

TEST(where_it_returns_to_is_known_while_it_lasts)
{
	struct pt_regs registers = { .di = NAME, .cx = RESULT, .sp = STACK };
	const struct host_call *call;

	begin("db.example");
	call = &shim_thread(&asker->task)->host;
	resolve_begin(&registers);
	CHECK_EQUAL(call->return_at, STACK);
	CHECK_EQUAL(call->return_address, CALLER);
	resolve_end(&(struct pt_regs){ .ax = -2 });
	CHECK(!call->return_at);
	end();
}
