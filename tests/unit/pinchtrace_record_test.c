/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads record, read while they do and after: against what they keep themselves. */
#include "pinchtrace_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>

enum { NET, DISK, OTHER = 65000 };

const struct program programs[] = { { 0 } };

static uint32_t own_tid(void)
{
	return syscall(SYS_gettid);
}

/* Of this thread. */
static struct snapshot own_snapshot(void)
{
	struct snapshot snapshot = { 0 };
	int number = ring_of(own_area(), own_tid());

	CHECK_THAT(number, >=, 0);
	CHECK(snapshot_take(&snapshot, own_area(), number));
	return snapshot;
}

static uint64_t own_head(void)
{
	int number = ring_of(own_area(), own_tid());

	return number < 0 ? 0 : area_ring(own_area(), number)->head;
}

static void in_thread(void *(*run)(void *), void *data)
{
	pthread_t thread;

	CHECK_EQUAL(pthread_create(&thread, NULL, run, data), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void *write_one(void *data)
{
	trace_event(NET, 9, *(uint32_t *)data);
	return NULL;
}

TEST(the_area_is_a_file_of_this_process_that_only_its_user_may_read)
{
	const struct pinchtrace_header *header;
	char path[512] = "", expected[128];
	struct stat status;

	CHECK_EQUAL(mapped_areas(getpid(), path, sizeof(path)), 1);
	header = own_area()->header;
	snprintf(expected, sizeof(expected), "%s%d.%llu", PINCHTRACE_NAME, getpid(),
		 (unsigned long long)header->start_ns);
	CHECK_STRING(strrchr(path, '/') + 1, expected);
	CHECK_EQUAL(stat(path, &status), 0);
	CHECK_EQUAL(status.st_mode & 07777, 0600);
	CHECK_EQUAL(header->pid, getpid());
	CHECK_STRING(header->program, program_invocation_short_name);
	CHECK_EQUAL(header->ring_capacity, 8192);
	CHECK_EQUAL(header->switches_offset % 65536, 0);
	CHECK_EQUAL(header->rings_offset % 4096, 0);
	CHECK_EQUAL(header->ring_bytes % 4096, 0);
}

TEST(an_event_has_what_was_given_and_a_time_between_before_and_after)
{
	uint64_t before, after;
	struct snapshot snapshot;
	struct read_event *last;

	trace_event(NET, 1, 2);
#ifdef __x86_64__
	if (own_area()->header->clock != PINCHTRACE_CLOCK_TSC)
		skip();
	before = __builtin_ia32_rdtsc();
	trace_event(OTHER, 65535, 0xdeadbeef);
	after = __builtin_ia32_rdtsc();
#else
	skip();
#endif
	snapshot = own_snapshot();
	CHECK_THAT(snapshot.event_count, >=, 2);
	last = &snapshot.events[snapshot.event_count - 1];
	CHECK_EQUAL(last[-1].subsystem, NET);
	CHECK_EQUAL(last[-1].event, 1);
	CHECK_EQUAL(last[-1].argument, 2);
	CHECK_EQUAL(last->subsystem, OTHER);
	CHECK_EQUAL(last->event, 65535);
	CHECK_EQUAL(last->argument, 0xdeadbeef);
	CHECK_EQUAL(last->payload_bytes, 0);
	CHECK(before <= last->time && last->time <= after);
	snapshot_free(&snapshot);
}

TEST(the_pairs_of_the_header_say_when_an_event_was)
{
	const struct pinchtrace_header *header = own_area()->header;
	struct snapshot snapshot;
	struct timespec now;
	double ns_per_tick, at_ns, before_ns, after_ns;
	uint32_t number = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	before_ns = now.tv_sec * 1e9 + now.tv_nsec;
	trace_event(NET, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	after_ns = now.tv_sec * 1e9 + now.tv_nsec;
	/* A pair is taken when a thread begins. */
	in_thread(write_one, &number);
	CHECK_THAT(header->last_pair.ticks, >, header->first_pair.ticks);
	ns_per_tick = (double)(header->last_pair.monotonic_ns - header->first_pair.monotonic_ns) /
		      (header->last_pair.ticks - header->first_pair.ticks);
	snapshot = own_snapshot();
	at_ns = header->last_pair.monotonic_ns -
		(header->last_pair.ticks - (double)snapshot.events[snapshot.event_count - 1].time) * ns_per_tick;
	/* The pairs say themselves how exact they are. */
	CHECK_THAT(at_ns, >=, before_ns - header->last_pair.error_ns - header->first_pair.error_ns - 1);
	CHECK_THAT(at_ns, <=, after_ns + header->last_pair.error_ns + header->first_pair.error_ns + 1);
	snapshot_free(&snapshot);
}

TEST(a_full_ring_has_the_last_events_and_says_how_many_are_gone)
{
	uint32_t capacity = own_area()->header->ring_capacity;
	uint64_t head = own_head();
	struct snapshot snapshot;

	for (uint32_t i = 0; i < 3 * capacity; i++)
		trace_event(NET, 0, i);
	snapshot = own_snapshot();
	CHECK_EQUAL(snapshot.head, head + 3 * capacity);
	CHECK_EQUAL(snapshot.event_count, capacity);
	CHECK_EQUAL(snapshot.missing_count, head + 2 * capacity - snapshot.begin);
	for (uint32_t i = 0; i < capacity; i++)
		CHECK_EQUAL(snapshot.events[i].argument, 2 * capacity + i);
	snapshot_free(&snapshot);
}

TEST(payloads_of_all_lengths_come_back_as_they_were)
{
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];
	struct snapshot snapshot;

	/* 1021 events of 43 slots on average: the ring is written five times over, and an event ends at each of its places. */
	for (uint32_t size = 0; size <= sizeof(payload); size++) {
		for (uint32_t i = 0; i < size; i++)
			payload[i] = size * 31 + i;
		trace_event_payload(DISK, 7, size, payload, size);
	}
	snapshot = own_snapshot();
	CHECK_THAT(snapshot.event_count, >=, own_area()->header->ring_capacity / 86 - 1);
	for (size_t i = 0; i < snapshot.event_count; i++) {
		const struct read_event *event = &snapshot.events[i];

		CHECK_EQUAL(event->argument, sizeof(payload) + 1 - snapshot.event_count + i);
		CHECK_EQUAL(event->payload_bytes, event->argument);
		for (uint32_t at = 0; at < event->payload_bytes; at++)
			CHECK_EQUAL(event->payload[at], (unsigned char)(event->argument * 31 + at));
	}
	snapshot_free(&snapshot);
}

TEST(a_reader_that_begins_anywhere_has_whole_events_only)
{
	unsigned char payload[100] = { 0 };
	struct snapshot snapshot;
	uint64_t begin = own_head();

	for (uint32_t i = 0; i < 60; i++) {
		memset(payload, i, sizeof(payload));
		trace_event_payload(DISK, 1, i, payload, i % 100);
		trace_event(NET, 2, i);
	}
	for (uint64_t from = begin; from < own_head(); from++) {
		CHECK(snapshot_take_from(&snapshot, own_area(), ring_of(own_area(), own_tid()), from));
		CHECK_THAT(snapshot.event_count, >, 0);
		for (size_t i = 0; i < snapshot.event_count; i++) {
			CHECK_EQUAL(snapshot.events[i].argument, 59 - (snapshot.event_count - 1 - i) / 2);
			if (snapshot.events[i].subsystem != DISK)
				continue;
			CHECK_EQUAL(snapshot.events[i].payload_bytes, snapshot.events[i].argument);
			for (uint32_t at = 0; at < snapshot.events[i].payload_bytes; at++)
				CHECK_EQUAL(snapshot.events[i].payload[at], snapshot.events[i].argument);
		}
		snapshot_free(&snapshot);
	}
}

TEST(a_payload_that_is_too_long_is_lost_and_counted)
{
	static const char payload[PINCHTRACE_PAYLOAD_MAX + 1];
	uint64_t lost = own_area()->header->lost, head = own_head();

	trace_event_payload(DISK, 1, 0, payload, sizeof(payload));
	CHECK_EQUAL(own_area()->header->lost, lost + 1);
	CHECK_EQUAL(own_head(), head);
}

TEST(only_what_is_enabled_is_recorded)
{
	uint64_t head = own_head();

	trace_disable(NET);
	trace_event(NET, 0, 0);
	trace_event(DISK, 0, 0);
	CHECK_EQUAL(own_head(), head + 1);
	trace_disable_all();
	trace_event(OTHER, 0, 0);
	trace_event_payload(DISK, 0, 0, "x", 1);
	CHECK_EQUAL(own_head(), head + 1);
	trace_enable(OTHER);
	trace_event(OTHER, 0, 0);
	trace_event(DISK, 0, 0);
	CHECK_EQUAL(own_head(), head + 2);
	trace_enable_all();
	trace_event(DISK, 0, 0);
	CHECK_EQUAL(own_head(), head + 3);
}

TEST(others_switch_a_subsystem_by_a_byte_in_the_file)
{
	uint64_t head = own_head();
	unsigned char byte = 0;
	char path[512] = "";
	int fd;

	mapped_areas(getpid(), path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK_THAT(fd, >=, 0);
	CHECK_EQUAL(pwrite(fd, &byte, 1, own_area()->header->switches_offset + DISK), 1);
	trace_event(DISK, 0, 0);
	trace_event(NET, 0, 0);
	CHECK_EQUAL(own_head(), head + 1);
	byte = PINCHTRACE_ON_RECORD;
	CHECK_EQUAL(pwrite(fd, &byte, 1, own_area()->header->switches_offset + DISK), 1);
	trace_event(DISK, 0, 0);
	CHECK_EQUAL(own_head(), head + 2);
	close(fd);
}

static void *leave_errno(void *data)
{
	errno = 12345;
	trace_event(NET, 0, 0);
	*(int *)data = errno;
	return NULL;
}

TEST(errno_is_left_alone_by_a_threads_first_event)
{
	int left = 0;

	in_thread(leave_errno, &left);
	CHECK_EQUAL(left, 12345);
}

/* --- Many threads ------------------------------------------------------------------------ */

enum { THREADS = 16 };

struct writer {
	uint32_t count; /* of events that it is to write */
	uint32_t tid;
	const bool *is_over; /* it stays that long */
};

static void *write_many(void *data)
{
	struct writer *writer = data;

	for (uint32_t i = 0; i < writer->count; i++)
		trace_event(i & 1 ? NET : DISK, 3, i);
	__atomic_store_n(&writer->tid, own_tid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(writer->is_over, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

TEST(the_events_of_16_threads_are_as_many_as_they_have_written)
{
	uint32_t count = (is_long() ? 100000000 : 10000000) / THREADS;
	uint64_t lost = own_area()->header->lost;
	struct writer writers[THREADS];
	pthread_t threads[THREADS];
	struct snapshot snapshot;
	bool is_over = false;

	for (int i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){ .count = count + i, .is_over = &is_over };
		CHECK_EQUAL(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		WAIT_FOR(__atomic_load_n(&writers[i].tid, __ATOMIC_ACQUIRE));
		CHECK(snapshot_take(&snapshot, own_area(), ring_of(own_area(), writers[i].tid)));
		CHECK_EQUAL(snapshot.head - snapshot.begin, writers[i].count);
		CHECK_EQUAL(snapshot.event_count, own_area()->header->ring_capacity);
		CHECK_EQUAL(snapshot.missing_count + snapshot.event_count, writers[i].count);
		for (size_t at = 0; at < snapshot.event_count; at++) {
			CHECK_EQUAL(snapshot.events[at].argument, snapshot.missing_count + at);
			CHECK(!at || snapshot.events[at].time >= snapshot.events[at - 1].time);
		}
		snapshot_free(&snapshot);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(own_area()->header->lost, lost);
}

/* Writes payloads whose bytes its argument says, among events without. */
static void *write_until(void *data)
{
	struct writer *writer = data;
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];
	uint32_t i = 0;

	while (!__atomic_load_n(writer->is_over, __ATOMIC_RELAXED)) {
		if (i % 7) {
			trace_event(NET, 3, i);
		} else {
			memset(payload, i, i % sizeof(payload));
			trace_event_payload(NET, 3, i, payload, i % sizeof(payload));
		}
		i++;
		if (i == 1)
			__atomic_store_n(&writer->tid, own_tid(), __ATOMIC_RELEASE);
	}
	return NULL;
}

TEST(a_snapshot_while_a_thread_writes_has_no_torn_event)
{
	bool is_over = false;
	struct writer writer = { .is_over = &is_over };
	struct snapshot snapshot;
	pthread_t thread;
	uint64_t events_seen = 0, head = 0;

	CHECK_EQUAL(pthread_create(&thread, NULL, write_until, &writer), 0);
	WAIT_FOR(__atomic_load_n(&writer.tid, __ATOMIC_ACQUIRE));
	for (int round = 0; round < (is_long() ? 20000 : 1000) || head < 10 * own_area()->header->ring_capacity;
	     round++) {
		CHECK(snapshot_take(&snapshot, own_area(), ring_of(own_area(), writer.tid)));
		for (size_t i = 0; i < snapshot.event_count; i++) {
			const struct read_event *event = &snapshot.events[i];

			CHECK_EQUAL(event->payload_bytes,
				    event->argument % 7 ? 0 : event->argument % PINCHTRACE_PAYLOAD_MAX);
			for (uint32_t at = 0; at < event->payload_bytes; at++)
				CHECK_EQUAL(event->payload[at], (unsigned char)event->argument);
			CHECK(!i || (event->argument == event[-1].argument + 1 && event->time >= event[-1].time));
		}
		events_seen += snapshot.event_count;
		head = snapshot.head - snapshot.begin;
		snapshot_free(&snapshot);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK_THAT(events_seen, >, 0);
}

TEST(rings_of_ended_threads_are_used_again_and_what_that_overwrites_is_counted)
{
	const struct pinchtrace_header *header = own_area()->header;
	uint64_t overwritten = header->overwritten, lost = header->lost, found = 0;
	uint32_t count = 3 * header->ring_count_max / 2;
	struct snapshot snapshot;

	for (uint32_t i = 0; i < count; i++)
		in_thread(write_one, &i);
	for (uint32_t i = 0; i < header->ring_count; i++) {
		if (!snapshot_take(&snapshot, own_area(), i))
			continue;
		for (size_t at = 0; at < snapshot.event_count; at++)
			found += snapshot.events[at].event == 9;
		snapshot_free(&snapshot);
	}
	CHECK_EQUAL(header->ring_count, header->ring_count_max);
	CHECK_EQUAL(header->lost, lost);
	CHECK_THAT(header->overwritten, >, overwritten);
	CHECK_THAT(found + header->overwritten - overwritten, >=, count);
	CHECK_THAT(found, <, count);
}

TEST(rings_that_were_read_are_used_first)
{
	const struct pinchtrace_header *header = own_area()->header;
	uint64_t overwritten;

	for (uint32_t i = 0; i < header->ring_count; i++)
		if (area_ring(own_area(), i)->state == PINCHTRACE_RING_ENDED)
			area_ring(own_area(), i)->read = area_ring(own_area(), i)->head;
	overwritten = header->overwritten;
	for (uint32_t i = 0; i < 50; i++)
		in_thread(write_one, &i);
	CHECK_EQUAL(header->overwritten, overwritten);
}

/* --- Signals ----------------------------------------------------------------------------- */

static uint32_t handled_count;

static void on_signal(int number)
{
	(void)number;
	trace_event(DISK, 1, handled_count++);
	trace_event_payload(DISK, 2, handled_count, "signal", 6);
}

static void *write_signalled(void *data)
{
	struct writer *writer = data;
	sigset_t signals;
	uint32_t i;

	__atomic_store_n(&writer->tid, own_tid(), __ATOMIC_RELEASE);
	for (i = 0; !__atomic_load_n(writer->is_over, __ATOMIC_RELAXED); i++)
		trace_event(NET, 0, i);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	__atomic_store_n(&writer->count, i, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&writer->is_over[1], __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

/* Reads on until head; counts of events by subsystem. */
static void follow(struct snapshot *snapshot, uint32_t tid, uint64_t *index, uint64_t *last_time, uint32_t *next)
{
	CHECK(snapshot_take_from(snapshot, own_area(), ring_of(own_area(), tid), *index));
	for (size_t i = 0; i < snapshot->event_count; i++) {
		const struct read_event *event = &snapshot->events[i];

		CHECK_THAT(event->time, >=, *last_time);
		*last_time = event->time;
		*index = event->index + event->slot_count;
		if (event->subsystem == NET) {
			CHECK_THAT(event->argument, >=, next[0]);
			next[0] = event->argument + 1;
		} else if (event->event == 1) {
			CHECK_THAT(event->argument, >=, next[1]);
			next[1] = event->argument + 1;
		} else {
			CHECK_EQUAL(event->payload_bytes, 6);
			CHECK(memcmp(event->payload, "signal", 6) == 0);
		}
	}
	snapshot_free(snapshot);
}

TEST(events_of_signal_handlers_come_between_whole_ones_in_the_order_of_time)
{
	struct sigaction action = { .sa_handler = on_signal };
	bool is_over[2] = { false, false };
	struct writer writer = { .is_over = is_over };
	const struct pinchtrace_ring *ring;
	struct snapshot snapshot;
	pthread_t thread;
	uint64_t index = 0, last_time = 0;
	uint32_t next[2] = { 0, 0 };

	handled_count = 0;
	sigaction(SIGUSR1, &action, NULL);
	CHECK_EQUAL(pthread_create(&thread, NULL, write_signalled, &writer), 0);
	WAIT_FOR(__atomic_load_n(&writer.tid, __ATOMIC_ACQUIRE) && ring_of(own_area(), writer.tid) >= 0);
	for (int i = 0; i < (is_long() ? 1000000 : 50000); i++) {
		pthread_kill(thread, SIGUSR1);
		if (i % 64 == 0)
			follow(&snapshot, writer.tid, &index, &last_time, next);
	}
	__atomic_store_n(&is_over[0], true, __ATOMIC_RELEASE);
	WAIT_FOR(__atomic_load_n(&writer.count, __ATOMIC_ACQUIRE));
	follow(&snapshot, writer.tid, &index, &last_time, next);
	ring = area_ring(own_area(), ring_of(own_area(), writer.tid));
	CHECK_EQUAL(ring->head, ring->claim);
	CHECK_EQUAL(ring->lost, 0);
	CHECK_THAT(handled_count, >, 0);
	/* A signal is an event of one slot and one of two. */
	CHECK_EQUAL(ring->head - ring->begin, writer.count + 3ull * handled_count);
	__atomic_store_n(&is_over[1], true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

#ifdef __x86_64__

/* What sanitizers add are thousands of instructions. */
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 31 };
#else
enum { STRIDE = 1 };
#endif

/* The handler of the trap behind each instruction; the kernel lets it run without traps of its own. */
static int step_count, step_wanted;
static uint32_t stepped_count;
static uint64_t step_index; /* from there on, slots were 0 in both words */
static uint64_t unwritten_count;

enum { STEP_SLOTS = 1000 };

static uint64_t *step_slot(uint64_t index)
{
	unsigned char *ring = (unsigned char *)area_ring(own_area(), ring_of(own_area(), own_tid()));

	return (uint64_t *)(ring + own_area()->header->slots_offset) + 2 * (index % own_area()->header->ring_capacity);
}

/* How many slots below head are not written. */
static uint64_t count_unwritten(void)
{
	uint64_t count = 0;

	for (uint64_t index = step_index; index < own_head(); index++)
		count += !step_slot(index)[0] || !step_slot(index)[1];
	return count;
}

/* What reads the kernel's clock has more instructions now and then, and times of another kind. */
static void need_counter(void)
{
	if (own_area()->header->clock != PINCHTRACE_CLOCK_TSC)
		skip();
}

static void on_step(int number)
{
	(void)number;
	if (step_wanted >= 0 ? step_count++ != step_wanted : step_count++ > 100)
		return;
	unwritten_count += count_unwritten();
	trace_event(DISK, 1, stepped_count++);
	unwritten_count += count_unwritten();
}

/* Apart from what is below the stack pointer, which the compiler may use. */
static inline __attribute__((always_inline)) void step_begin(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static inline __attribute__((always_inline)) void step_end(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

/* What was recorded since index: whole, in the order of time, and all of it. Where the interrupted event is. */
static size_t check_steps(uint64_t index, uint32_t payload_bytes, uint32_t first_argument)
{
	const struct pinchtrace_ring *ring = area_ring(own_area(), ring_of(own_area(), own_tid()));
	struct snapshot snapshot;
	size_t place = SIZE_MAX, disk_count = 0;

	CHECK_EQUAL(ring->head, ring->claim);
	CHECK(snapshot_take_from(&snapshot, own_area(), ring_of(own_area(), own_tid()), index));
	for (size_t i = 0; i < snapshot.event_count; i++) {
		const struct read_event *event = &snapshot.events[i];

		CHECK(!i || event->time >= event[-1].time);
		if (event->subsystem == NET) {
			CHECK_EQUAL(place, SIZE_MAX);
			CHECK_EQUAL(event->payload_bytes, payload_bytes);
			CHECK_EQUAL(event->argument, 42);
			place = i;
		} else {
			CHECK_EQUAL(event->argument, first_argument + disk_count++);
		}
	}
	CHECK_EQUAL(disk_count, stepped_count - first_argument);
	CHECK_THAT(place, <, snapshot.event_count);
	snapshot_free(&snapshot);
	return place;
}

TEST(a_handler_may_come_behind_any_instruction_of_an_event)
{
	unsigned char payload[30];
	struct sigaction action = { .sa_handler = on_step };
	size_t before_count, after_count;

	need_counter();
	memset(payload, 0xff, sizeof(payload));
	sigaction(SIGTRAP, &action, NULL);
	for (uint32_t payload_bytes = 0; payload_bytes <= sizeof(payload); payload_bytes += sizeof(payload)) {
		before_count = after_count = 0;
		/* The last of all: behind each of the first 100. */
		for (step_wanted = 0, step_count = 1; step_wanted >= 0;) {
			uint64_t index = own_head();
			uint32_t first = stepped_count;

			if (step_wanted >= step_count)
				step_wanted = -1;
			step_count = 0;
			step_index = index;
			for (uint64_t i = 0; i < STEP_SLOTS; i++)
				memset(step_slot(index + i), 0, PINCHTRACE_SLOT_BYTES);
			step_begin();
			if (payload_bytes)
				trace_event_payload(NET, 0, 42, payload, payload_bytes);
			else
				trace_event(NET, 0, 42);
			step_end();
			CHECK_EQUAL(unwritten_count, 0);
			if (check_steps(index, payload_bytes, first))
				before_count++;
			else
				after_count++;
			if (step_wanted < 0)
				break;
			CHECK_EQUAL(stepped_count, first + 1);
			step_wanted += STRIDE;
		}
		CHECK_THAT(before_count, >, 0);
		CHECK_THAT(after_count, >, 0);
	}
	signal(SIGTRAP, SIG_DFL);
}

/* Behind which instruction of an event each handler comes, by how many it interrupts; < 0: it has been. */
static int deep_wanted[2];
static int depth;

static void on_deep_step(int number)
{
	(void)number;
	if (depth == 2 || deep_wanted[depth]-- != 0)
		return;
	depth++;
	step_begin();
	trace_event(DISK, depth, 0);
	step_end();
	depth--;
}

static struct read_event *take_deep(struct snapshot *snapshot, uint64_t index, size_t count)
{
	const struct pinchtrace_ring *ring = area_ring(own_area(), ring_of(own_area(), own_tid()));

	CHECK_EQUAL(ring->head, ring->claim);
	CHECK(snapshot_take_from(snapshot, own_area(), ring_of(own_area(), own_tid()), index));
	CHECK_EQUAL(snapshot->event_count, count);
	return snapshot->events;
}

/* Each of the events is there once, and none is earlier than the one before it, or than the call that recorded it. */
static void check_deep(uint64_t index, size_t count, uint64_t begun)
{
	struct snapshot snapshot;
	const struct read_event *events = take_deep(&snapshot, index, count);
	unsigned int seen = 0;

	for (size_t i = 0; i < count; i++) {
		CHECK_THAT(events[i].time, >=, i ? events[i - 1].time : begun);
		seen |= 1u << (events[i].subsystem == NET ? 0 : events[i].event);
	}
	CHECK_EQUAL(seen, (1u << count) - 1);
	CHECK_THAT(events[count - 1].time, <=, __builtin_ia32_rdtsc());
	snapshot_free(&snapshot);
}

TEST(a_handler_may_interrupt_a_handler_behind_any_instruction)
{
	struct sigaction action = { .sa_handler = on_deep_step, .sa_flags = SA_NODEFER };
	size_t count = 3;

	need_counter();
	sigaction(SIGTRAP, &action, NULL);
	for (int outer = 0; count > 1; outer += STRIDE) {
		count = 3;
		for (int inner = 0; count == 3; inner += STRIDE) {
			uint64_t index = own_head(), begun = __builtin_ia32_rdtsc();

			deep_wanted[0] = outer;
			deep_wanted[1] = inner;
			step_begin();
			trace_event(NET, 0, 42);
			step_end();
			/* Where there are fewer instructions, fewer handlers have come. */
			count = 1 + (deep_wanted[0] < 0) + (deep_wanted[1] < 0);
			check_deep(index, count, begun);
		}
	}
	signal(SIGTRAP, SIG_DFL);
}

static void on_flooded_step(int number)
{
	(void)number;
	if (step_count++ != step_wanted)
		return;
	for (uint32_t i = 0; i < 2 * own_area()->header->ring_capacity; i++)
		trace_event(DISK, 1, i);
}

/* What was recorded since index, and what was lost: the interrupted event is whole, wherever it is among the last ones. */
static void check_flood(uint64_t index, uint64_t lost)
{
	const struct pinchtrace_ring *ring = area_ring(own_area(), ring_of(own_area(), own_tid()));
	uint64_t capacity = own_area()->header->ring_capacity;
	struct snapshot snapshot;
	size_t found = 0;

	CHECK_EQUAL(ring->head, ring->claim);
	CHECK_EQUAL(ring->head - index + ring->lost - lost, 2 * capacity + 1);
	CHECK(snapshot_take(&snapshot, own_area(), ring_of(own_area(), own_tid())));
	for (size_t i = 0; i < snapshot.event_count; i++)
		found += snapshot.events[i].subsystem == NET && snapshot.events[i].argument == 42 &&
			 snapshot.events[i].index >= index;
	/* With nothing lost it came before or behind all the others. */
	if (ring->lost != lost)
		CHECK_EQUAL(found, 1);
	snapshot_free(&snapshot);
}

TEST(handlers_that_come_round_to_the_event_that_they_interrupt_lose_theirs)
{
	const struct pinchtrace_ring *ring = area_ring(own_area(), ring_of(own_area(), own_tid()));
	size_t lost_count = 0;

	signal(SIGTRAP, on_flooded_step);
	for (step_wanted = 0, step_count = 1; step_wanted < step_count; step_wanted += STRIDE) {
		uint64_t index = own_head(), lost = ring->lost;

		step_count = 0;
		step_begin();
		trace_event(NET, 0, 42);
		step_end();
		if (step_wanted >= step_count)
			break;
		check_flood(index, lost);
		lost_count += ring->lost != lost;
	}
	CHECK_THAT(lost_count, >, 0);
	signal(SIGTRAP, SIG_DFL);
}

#endif
