/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of areas, on what the library writes, and on what no library writes. */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "area/area.h"
#include "pinchtrace_programs.h"

enum { NET = 3, DISK };

/* --- What a reader has seen -------------------------------------------------------------- */

struct seen {
	uint64_t events, slots, lost_slots, losses;
	uint64_t last_ticks, lost_from, lost_before;
	uint32_t tid; /* only events of this thread; 0: all */
	uint32_t lost_tid, argument;
	bool is_ordered, has_sound_payloads;
};

/* The payload of an event with this argument. */
static uint32_t payload_bytes(uint32_t argument)
{
	return argument % 5 ? 0 : argument % (PINCHTRACE_PAYLOAD_MAX + 1);
}

static unsigned char payload_byte(uint32_t argument, uint32_t at)
{
	return argument * 7 + at;
}

static uint32_t slots_of(uint32_t size_bytes)
{
	return 1 + (size_bytes + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD;
}

static void on_event(void *data, const struct area_event *event)
{
	const unsigned char *payload = event->payload;
	struct seen *seen = data;

	if (seen->tid && event->tid != seen->tid)
		return;
	if (event->ticks < seen->last_ticks || (seen->events && event->argument <= seen->argument))
		seen->is_ordered = false;
	if (event->payload_bytes != payload_bytes(event->argument))
		seen->has_sound_payloads = false;
	for (uint32_t i = 0; i < event->payload_bytes; i++)
		if (payload[i] != payload_byte(event->argument, i))
			seen->has_sound_payloads = false;
	seen->last_ticks = event->ticks;
	seen->argument = event->argument;
	seen->events++;
	seen->slots += slots_of(event->payload_bytes);
}

static void on_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	struct seen *seen = data;

	if (seen->tid && tid != seen->tid)
		return;
	seen->losses++;
	seen->lost_slots += slots;
	seen->lost_tid = tid;
	seen->lost_from = from_ticks;
	seen->lost_before = before_ticks;
}

static void write_event(uint32_t argument)
{
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];
	uint32_t size_bytes = payload_bytes(argument);

	for (uint32_t i = 0; i < size_bytes; i++)
		payload[i] = payload_byte(argument, i);
	if (size_bytes)
		trace_event_payload(NET, 1, argument, payload, size_bytes);
	else
		trace_event(NET, 1, argument);
}

/* --- Areas ------------------------------------------------------------------------------- */

static int own_fd(void)
{
	char path[512] = "";
	int fd;

	CHECK_EQUAL(mapped_areas(getpid(), path, sizeof(path)), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_THAT(fd, >=, 0);
	return fd;
}

static struct area *open_own(void)
{
	struct area *area = NULL;

	CHECK_EQUAL(area_open(own_fd(), &area), 0);
	return area;
}

static uint64_t now_ticks(const struct area *area)
{
	struct timespec now;

#ifdef __x86_64__
	if (area_facts(area)->clock == PINCHTRACE_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Takes all that there is; the moment up to which it is. */
static uint64_t take(struct area *area, struct seen *seen)
{
	struct area_listener listener = { on_event, on_lost, seen };
	uint64_t until_ticks;

	do {
		until_ticks = now_ticks(area);
		CHECK_EQUAL(area_take(area, &listener, &until_ticks), 0);
	} while (area_has_more(area));
	return until_ticks;
}

/* Of this thread, from here on. */
static struct seen see_own(struct area *area)
{
	struct seen seen = { .tid = gettid(), .is_ordered = true, .has_sound_payloads = true };

	area_skip(area, now_ticks(area));
	return seen;
}

/* A copy of an area that nobody writes but the test. */
struct forged {
	int fd;
	unsigned char *base;
	struct pinchtrace_header *header;
	struct pinchtrace_ring *ring; /* the first one, with six events of a thread 77 */
	struct pinchtrace_slot *slots;
};

static void forge(struct forged *forged)
{
	uint64_t size_bytes = 1 << 20;
	struct pinchtrace_header *header;

	forged->fd = memfd_create("forged", MFD_CLOEXEC);
	CHECK(forged->fd >= 0 && ftruncate(forged->fd, size_bytes) == 0);
	forged->base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, forged->fd, 0);
	CHECK(forged->base != MAP_FAILED);
	header = forged->header = (struct pinchtrace_header *)forged->base;
	*header = (struct pinchtrace_header){
		.magic = PINCHTRACE_MAGIC,
		.version = PINCHTRACE_VERSION,
		.header_bytes = sizeof(*header),
		.pid = 7,
		.clock = PINCHTRACE_CLOCK_MONOTONIC,
		.area_bytes = size_bytes,
		.control_offset = 1024,
		.switches_offset = 65536,
		.schema_offset = 2 * 65536,
		.schema_bytes_max = 65536,
		.rings_offset = 3 * 65536,
		.ring_bytes = 4096 + 256 * PINCHTRACE_SLOT_BYTES,
		.slots_offset = 4096,
		.ring_capacity = 256,
		.ring_count_max = 8,
		.program = "forged",
		.ring_count = 1,
	};
	forged->ring = (struct pinchtrace_ring *)(forged->base + header->rings_offset);
	forged->slots = (struct pinchtrace_slot *)((unsigned char *)forged->ring + header->slots_offset);
	*forged->ring = (struct pinchtrace_ring){
		.state = PINCHTRACE_RING_LIVE,
		.owner_changes = 2,
		.tid = 77,
		.claim = 6,
		.head = 6,
	};
	/* Arguments without those that have payloads. */
	for (uint32_t i = 0; i < 256; i++)
		forged->slots[i] = (struct pinchtrace_slot){ 100 + i, NET, 1, 1 + i + i / 4 };
}

static void forged_fini(struct forged *forged)
{
	munmap(forged->base, 1 << 20);
	close(forged->fd);
}

static struct area *forged_open(const struct forged *forged)
{
	struct area *area = NULL;

	CHECK_EQUAL(area_open(dup(forged->fd), &area), 0);
	return area;
}

/* --- The programs ------------------------------------------------------------------------ */

static void write_forever(void)
{
	for (uint32_t i = 1;; i++)
		write_event(i);
}

static void *write_and_end(void *data)
{
	for (uint32_t i = 1; i <= 10; i++)
		write_event(i + *(uint32_t *)data);
	return NULL;
}

static void have_thread(uint32_t first)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, write_and_end, &first) == 0);
	pthread_join(thread, NULL);
}

static uint64_t seen_slots;

static void count_slots(void *data, const struct area_event *event)
{
	(void)data;
	seen_slots += slots_of(event->payload_bytes);
}

static void count_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	(void)tid;
	(void)from_ticks;
	(void)before_ticks;
	*(uint64_t *)data += slots;
}

/* Two rings; threads come and go, and each has the ring of one before it. */
static void change_owners(void)
{
	uint64_t lost = 0, until = UINT64_MAX, before = 0;
	struct area_listener listener = { count_slots, count_lost, &lost };
	struct area *area = open_own();

	write_event(1);
	have_thread(0);
	MUST(area_take(area, &listener, &until) == 0);
	MUST(lost == 0 && seen_slots == 1 + 12);
	before = seen_slots;
	/* Of three, one is read. */
	for (uint32_t i = 0; i < 3; i++)
		have_thread(0);
	MUST(area_take(area, &listener, &until) == 0);
	MUST(seen_slots - before == 12 && lost == 24);
	MUST(area_facts(area)->overwritten > 0);
	area_close(area);
}

const struct program programs[] = {
	{ "write_forever", write_forever },
	{ "change_owners", change_owners },
	{ 0 },
};

/* --- The tests --------------------------------------------------------------------------- */

TEST(events_are_handed_out_once_in_order_with_their_payloads)
{
	struct area *area = open_own();
	struct seen seen = see_own(area);
	uint64_t slots = 0, until;

	for (uint32_t i = 1; i <= 200; i++) {
		write_event(i);
		slots += slots_of(payload_bytes(i));
	}
	until = take(area, &seen);
	CHECK_EQUAL(seen.events, 200);
	CHECK_EQUAL(seen.slots, slots);
	CHECK_EQUAL(seen.lost_slots, 0);
	CHECK(seen.is_ordered && seen.has_sound_payloads);
	CHECK_THAT(until, >=, seen.last_ticks);
	CHECK(area_fill(area) > 0 && area_fill(area) < 1);
	take(area, &seen);
	CHECK_EQUAL(seen.events, 200);
	write_event(201);
	take(area, &seen);
	CHECK_EQUAL(seen.events, 201);
	CHECK_EQUAL(area_facts(area)->pid, getpid());
	CHECK_STRING(area_facts(area)->program, program_invocation_short_name);
	area_close(area);
}

TEST(what_was_overwritten_is_counted_between_the_events_around_it)
{
	struct area *area = open_own();
	struct seen seen = see_own(area);
	uint32_t capacity = area_facts(area)->ring_capacity;
	uint64_t first_ticks;

	trace_event(NET, 1, 1);
	take(area, &seen);
	first_ticks = seen.last_ticks;
	for (uint32_t i = 0; i < capacity + 10; i++)
		trace_event(NET, 1, 6 + 5 * i);
	take(area, &seen);
	CHECK_EQUAL(seen.events, 1 + capacity);
	CHECK_EQUAL(seen.losses, 1);
	CHECK_EQUAL(seen.lost_slots, 10);
	CHECK_EQUAL(seen.lost_from, first_ticks);
	CHECK(seen.lost_before > first_ticks && seen.lost_before <= seen.last_ticks);
	CHECK(area_fill(area) == 1);
	CHECK(seen.is_ordered);
	area_close(area);
}

TEST(what_is_skipped_is_neither_handed_out_nor_lost)
{
	struct area *area = open_own();
	struct seen seen = see_own(area);
	uint32_t capacity = area_facts(area)->ring_capacity;
	uint64_t until;

	for (uint32_t i = 0; i < 3 * capacity; i++)
		trace_event(NET, 1, 1);
	area_skip(area, now_ticks(area));
	until = take(area, &seen);
	CHECK(seen.events == 0 && seen.lost_slots == 0);
	CHECK_THAT(until, >, 0);
	/* A moment before the oldest event that is there: what lies between is lost. */
	for (uint32_t i = 0; i < capacity + 7; i++)
		trace_event(NET, 1, 1 + 5 * i);
	area_skip(area, until + 1);
	take(area, &seen);
	CHECK_EQUAL(seen.events, capacity);
	CHECK_EQUAL(seen.lost_slots, 7);
	area_close(area);
}

static void on_text(void *data, const char *text, size_t length)
{
	CHECK_EQUAL(strlen(text), length);
	strcat(strcat(data, text), ";");
}

TEST(schema_texts_are_handed_out_once)
{
	struct area *area = open_own();
	char texts[64] = "";

	CHECK_EQUAL(trace_register("{1}"), 0);
	CHECK_EQUAL(trace_register("{2}"), 0);
	CHECK_EQUAL(area_schemas(area, on_text, texts), 0);
	CHECK_STRING(texts, "{1};{2};");
	CHECK_EQUAL(trace_register("{3}"), 0);
	CHECK_EQUAL(area_schemas(area, on_text, texts), 0);
	CHECK_EQUAL(area_schemas(area, on_text, texts), 0);
	CHECK_STRING(texts, "{1};{2};{3};");
	area_close(area);
}

struct writer {
	bool is_over;
	uint32_t tid;
	uint64_t slots;
};

static void *write_until_over(void *data)
{
	struct writer *writer = data;

	for (uint32_t i = 1; i < 50000 || !__atomic_load_n(&writer->is_over, __ATOMIC_RELAXED); i++) {
		write_event(i);
		writer->slots += slots_of(payload_bytes(i));
	}
	return NULL;
}

TEST(while_a_thread_writes_each_slot_is_read_whole_or_lost)
{
	struct area *area = open_own();
	struct seen seen = { .is_ordered = true, .has_sound_payloads = true };
	struct writer writer = { 0 };
	pthread_t thread;

	area_skip(area, now_ticks(area));
	CHECK_EQUAL(pthread_create(&thread, NULL, write_until_over, &writer), 0);
	WAIT_FOR((take(area, &seen), seen.events > 10000 && seen.losses > 10));
	__atomic_store_n(&writer.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	take(area, &seen);
	CHECK(seen.is_ordered && seen.has_sound_payloads);
	CHECK_EQUAL(seen.slots + seen.lost_slots, writer.slots);
	area_close(area);
}

/* --- Order of time ----------------------------------------------------------------------- */

struct order {
	uint64_t until_ticks; /* of the last look */
	uint64_t events, late_ticks;
};

static void check_order(void *data, const struct area_event *event)
{
	struct order *order = data;

	order->events++;
	if (event->ticks < order->until_ticks && order->until_ticks - event->ticks > order->late_ticks)
		order->late_ticks = order->until_ticks - event->ticks;
}

static void ignore_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	(void)data, (void)tid, (void)from_ticks, (void)before_ticks, (void)slots;
}

static void take_in_order(struct area *area, struct order *order)
{
	struct area_listener listener = { check_order, ignore_lost, order };
	uint64_t until_ticks = now_ticks(area);

	CHECK_EQUAL(area_take(area, &listener, &until_ticks), 0);
	/* What threads store takes a moment to be seen: the engine waits 2 ms. */
	if (until_ticks > order->until_ticks)
		order->until_ticks = until_ticks;
}

static void *write_ones(void *data)
{
	while (!__atomic_load_n((bool *)data, __ATOMIC_RELAXED))
		trace_event(NET, 1, 1);
	return NULL;
}

/* Also threads that lose their CPU in the middle of one: more than there are CPUs. */
TEST(no_event_is_older_than_the_moment_up_to_which_all_have_been_handed_out)
{
	struct area *area = open_own();
	struct order order = { 0 };
	pthread_t threads[6];
	bool is_over = false;
	uint64_t begun, ticks_of_2_ms;

	begun = now_ticks(area);
	usleep(2000);
	ticks_of_2_ms = now_ticks(area) - begun;
	area_skip(area, begun);
	for (int i = 0; i < 6; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, write_ones, &is_over), 0);
	for (int i = 0; i < (is_long() ? 50000 : 2000); i++) {
		take_in_order(area, &order);
		usleep(200);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	CHECK_THAT(order.events, >, 100000);
	CHECK_THAT(order.late_ticks, <, ticks_of_2_ms);
	area_close(area);
}

static void see_killed(const char *path, void *data)
{
	struct seen seen = { .is_ordered = true, .has_sound_payloads = true };
	struct area *area = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQUAL(area_open(fd, &area), 0);
	take(area, &seen);
	CHECK(seen.is_ordered && seen.has_sound_payloads);
	CHECK(!area_facts(area)->has_ended);
	*(uint64_t *)data += seen.events;
	area_close(area);
}

static void count_events(const char *path, void *data)
{
	struct area *area;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct seen seen = { 0 };

	if (fd < 0)
		return;
	if (area_open(fd, &area)) {
		close(fd);
		return;
	}
	take(area, &seen);
	*(uint64_t *)data += seen.events;
	area_close(area);
}

TEST(what_a_killed_process_recorded_is_whole)
{
	for (int i = 0; i < (is_long() ? 200 : 10); i++) {
		const char *directory = directory_make();
		pid_t pid = program_start("write_forever", directory, NULL);
		uint64_t events = 0;

		WAIT_FOR((directory_each(directory, count_events, &events), events > 0));
		kill(pid, SIGKILL);
		program_wait(pid);
		events = 0;
		CHECK_EQUAL(directory_each(directory, see_killed, &events), 1);
		CHECK_THAT(events, >, 0);
		directory_remove(directory);
	}
}

TEST(rings_that_change_their_owner_lose_what_was_not_read)
{
	const char *directory = directory_make();

	CHECK_EQUAL(program_do("change_owners", directory, "PINCHTRACE_THREADS=2"), 0);
	directory_remove(directory);
}

/* --- Forged ones ------------------------------------------------------------------------- */

static struct seen see_forged(const struct forged *forged, uint64_t *until_ticks)
{
	struct seen seen = { .is_ordered = true, .has_sound_payloads = true };
	struct area_listener listener = { on_event, on_lost, &seen };
	struct area *area = forged_open(forged);

	*until_ticks = 10000;
	CHECK_EQUAL(area_take(area, &listener, until_ticks), 0);
	area_close(area);
	return seen;
}

TEST(a_thread_in_the_middle_of_an_event_holds_the_moment_back)
{
	struct forged forged;
	struct seen seen;
	uint64_t until;

	forge(&forged);
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 6 && until == 10000);
	forged.ring->claim = 7;
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 6 && until == 105);
	/* One that has ended writes nothing more. */
	forged.ring->state = PINCHTRACE_RING_ENDED;
	see_forged(&forged, &until);
	CHECK_EQUAL(until, 10000);
	forged_fini(&forged);
}

/* Its slots have 100 ns and more, by its own clock. */
TEST(times_of_a_process_whose_clock_is_shifted_are_the_machines)
{
	static const int64_t shifts[] = { 0, 90, -1000 };
	struct forged forged;
	struct seen seen;
	uint64_t until;

	forge(&forged);
	forged.header->first_pair.monotonic_ns = 5000;
	for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts); i++) {
		struct area *area;

		forged.header->shift_ns = shifts[i];
		seen = see_forged(&forged, &until);
		CHECK_EQUAL(seen.events, 6);
		CHECK_EQUAL(seen.last_ticks, 105 - (uint64_t)shifts[i]);
		area = forged_open(&forged);
		CHECK_EQUAL(area_facts(area)->first_pair.monotonic_ns, 5000 - (uint64_t)shifts[i]);
		area_close(area);
	}
	/* What cannot be does no harm. */
	forged.header->shift_ns = INT64_MIN;
	CHECK_EQUAL(see_forged(&forged, &until).events, 6);
	/* The counter is not shifted. */
	forged.header->clock = PINCHTRACE_CLOCK_TSC;
	forged.header->shift_ns = 90;
	seen = see_forged(&forged, &until);
	CHECK_EQUAL(seen.last_ticks, 105);
	/* An older library's header ends before that, with zeros behind it. */
	forged.header->header_bytes = PINCHTRACE_HEADER_BYTES_MIN;
	CHECK_EQUAL(see_forged(&forged, &until).events, 6);
	forged_fini(&forged);
}

TEST(a_head_that_jumps_loses_slots_and_nothing_else)
{
	struct forged forged;
	struct seen seen;
	uint64_t until;

	forge(&forged);
	forged.ring->head = forged.ring->claim = UINT64_C(1) << 40;
	seen = see_forged(&forged, &until);
	CHECK_EQUAL(seen.slots + seen.lost_slots, UINT64_C(1) << 40);
	/* Behind what was claimed, before the beginning. */
	forged.ring->claim = 6;
	CHECK_EQUAL(see_forged(&forged, &until).events, 0);
	forged.ring->head = 6;
	forged.ring->begin = 100;
	CHECK_EQUAL(see_forged(&forged, &until).events, 0);
	forged_fini(&forged);
}

TEST(slots_that_make_no_event_are_lost)
{
	struct forged forged;
	struct seen seen;
	uint64_t until;
	struct pinchtrace_more more = { 0, PINCHTRACE_MORE | 1 << 16 | 20, 0 }, last = { 0, PINCHTRACE_MORE | 20, 0 };

	forge(&forged);
	/* No event before them. */
	memcpy(&forged.slots[0], &more, sizeof(more));
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 5 && seen.lost_slots == 1 && seen.lost_before == 101);
	/* A payload of another length than its slots have. */
	forge(&forged);
	more.mark = PINCHTRACE_MORE | 1 << 16 | 2;
	memcpy(&forged.slots[2], &more, sizeof(more));
	memcpy(&forged.slots[3], &last, sizeof(last));
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 3 && seen.lost_slots == 3);
	CHECK(seen.lost_from == 100 && seen.lost_before == 104);
	/* A slot that says something else than the one before it. */
	more.mark = PINCHTRACE_MORE | 1 << 16 | 20;
	last.mark = PINCHTRACE_MORE | 21;
	memcpy(&forged.slots[2], &more, sizeof(more));
	memcpy(&forged.slots[3], &last, sizeof(last));
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 3 && seen.lost_slots == 3);
	/* The end of the ring within an event. */
	memcpy(&forged.slots[5], &more, sizeof(more));
	seen = see_forged(&forged, &until);
	CHECK(seen.events == 1 && seen.lost_slots == 5);
	forged_fini(&forged);
}

TEST(a_header_that_is_not_sound_is_refused)
{
	/* Fields, and what none of them may be. */
	static const struct {
		size_t offset, size_bytes;
		uint64_t value;
	} changes[] = {
#define CHANGE(field, value) \
	{ offsetof(struct pinchtrace_header, field), sizeof(((struct pinchtrace_header *)0)->field), value }
		CHANGE(magic, 0),
		CHANGE(version, 2),
		CHANGE(header_bytes, 8),
		CHANGE(clock, 7),
		CHANGE(area_bytes, UINT64_MAX),
		CHANGE(area_bytes, 3),
		CHANGE(control_offset, UINT64_MAX - 7),
		CHANGE(switches_offset, (1 << 20) - 8),
		CHANGE(schema_offset, 0),
		CHANGE(schema_bytes_max, UINT64_MAX),
		CHANGE(schema_bytes, 65537),
		CHANGE(rings_offset, UINT64_MAX - 7),
		CHANGE(ring_bytes, 4096),
		CHANGE(ring_bytes, UINT64_MAX - 7),
		CHANGE(slots_offset, UINT64_MAX - 7),
		CHANGE(slots_offset, 8),
		CHANGE(ring_capacity, 0),
		CHANGE(ring_capacity, 300),
		CHANGE(ring_capacity, 1u << 31),
		CHANGE(ring_count_max, UINT32_MAX),
		CHANGE(ring_count_max, 4096),
		CHANGE(ring_count, 9),
#undef CHANGE
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct forged forged;
		struct area *area, *none = NULL;

		forge(&forged);
		area = forged_open(&forged);
		memcpy(forged.base + changes[i].offset, &changes[i].value, changes[i].size_bytes);
		CHECK_EQUAL(area_refresh(area), -EBADMSG);
		area_close(area);
		CHECK_EQUAL(area_open(forged.fd, &none), -EBADMSG);
		CHECK(!none);
		forged_fini(&forged);
	}
}

TEST(a_file_that_is_cut_off_ends_the_reading)
{
	struct forged forged;
	struct area *area;
	struct seen seen = { 0 };
	struct area_listener listener = { on_event, on_lost, &seen };
	uint64_t until = 10000;

	forge(&forged);
	area = forged_open(&forged);
	CHECK_EQUAL(ftruncate(forged.fd, 3 * 65536), 0);
	CHECK_EQUAL(area_take(area, &listener, &until), -EBADMSG);
	CHECK_EQUAL(area_schemas(area, on_text, NULL), -EBADMSG);
	area_close(area);
	CHECK_EQUAL(ftruncate(forged.fd, 100), 0);
	CHECK_EQUAL(area_open(forged.fd, &area), -EBADMSG);
	forged_fini(&forged);
}

TEST(what_is_no_file_of_this_machine_is_refused)
{
	struct area *area;
	int pipes[2], fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pipe(pipes) == 0);
	CHECK_EQUAL(area_open(fd, &area), -EXDEV);
	CHECK_EQUAL(area_open(pipes[0], &area), -EINVAL);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}
