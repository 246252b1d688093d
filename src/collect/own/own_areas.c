/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/own_areas.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "area/area.h"
#include "area/control.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/own/own_merge.h"
#include "collect/own/own_offers.h"
#include "collect/own/own_schemas.h"
#include "collect/own/tick_clock.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "session/threads.h"
#include "symbol/symbol.h"

enum {
	AREAS_MAX = 4096,
	AREAS_OF_PROCESS_MAX = 16,
	LOOKS_MAX = 65536,
	LOOKS_AT_ONCE = 16, /* of processes that lived already; each takes some 50 us */
	TAKES_MAX = 64,     /* of one area, one after the other */
	PENDING_BYTES_MAX = 32 << 20,
};

/* Rings are taken when the fastest one is so full, as far as can be foreseen; and of what was foreseen so much stays each time. */
static const double FILL_WANTED = 0.25, RATE_LEFT = 0.9;
static const uint64_t wait_ns_max = 1000000000;

/* How long a ring takes to be full, of a program of which nothing is known yet. */
static const double FULL_NS_FIRST = 4e6;

/* How long the stream waits for a thread that is writing an event: it may have been stopped there, or have died. */
static const uint64_t patience_ns = 50000000;

/* A process to look at. */
struct look {
	uint32_t pid;
	uint32_t ns_pid; /* 0: whatever it has is its own */
	bool is_older;   /* it lived already: only what comes after the stream's last event counts */
};

/* Of a thread's events: times of two readings of the clock may differ by more than its events do. */
struct own_ring {
	uint32_t tid;
	uint64_t last_ns;
	struct own_run *run; /* borrowed */
};

struct own_area {
	struct area *area;
	struct own_areas *all;
	uint32_t pid;
	bool is_ended; /* nothing more is written */
	struct own_schema_list schemas;
	uint64_t taken_ns;     /* all events up to then have been pushed */
	struct table *rings;   /* struct own_ring, by tid */
	struct own_ring *ring; /* the last one that was asked for */
};

struct own_areas {
	struct session *session;
	struct own_merge *merge;
	struct symbols *symbols;
	const struct threads *threads;
	struct own_schemas *schemas;
	struct own_offers *offers;
	struct own_area *list;
	size_t count, capacity;
	struct look *looks;
	size_t look_count, look_capacity;
	struct tick_clock clock;
	uint64_t limit_ns;
	double fill;      /* of the fullest ring */
	double fill_rate; /* how much of it each ns */
	uint64_t taken_ns, due_ns;
	uint64_t refused; /* events for which the session had no space */
	uint64_t lost_events, lost_slots, unread_processes, broken_areas;
	uint64_t counter_programs; /* whose time stamps are the counter's */
	struct ev_user_read *read; /* with space for any payload */
};

/* --- Whom to look at ----------------------------------------------------------------------- */

static void expect(struct own_areas *areas, const struct look *look)
{
	if (areas->look_count == LOOKS_MAX)
		return;
	ARRAY_GROW(areas->looks, areas->look_count, areas->look_capacity, 16);
	areas->looks[areas->look_count++] = *look;
}

void own_areas_announced(struct own_areas *areas, uint32_t pid)
{
	expect(areas, &(struct look){ .pid = pid });
}

/* Listed again after losses: what is known is not opened again. */
static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;

	if (thread_is_traced(header->thread) && e->tid == e->pid)
		expect(data, &(struct look){ .pid = e->pid, .ns_pid = e->ns_pid, .is_older = true });
}

static void end(struct own_areas *areas, uint32_t pid)
{
	for (size_t i = 0; i < areas->count; i++)
		if (areas->list[i].pid == pid)
			areas->list[i].is_ended = true;
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	end(data, ((const struct ev_space_exit *)header)->pid);
}

/* --- What was read, as an event of a thread ------------------------------------------------ */

/* By then the thread is known, and by its id alone nobody else is. */
static uint32_t number_of(const struct own_areas *areas, uint32_t pid, uint32_t ns_tid)
{
	const struct thread *thread = threads_find_own(areas->threads, pid, ns_tid);

	return thread ? thread->number : 0;
}

static void on_read(void *data, const struct ev_header *header)
{
	const struct ev_user_read *read = (const struct ev_user_read *)header;
	struct own_areas *areas = data;
	struct {
		struct ev_user_event e;
		uint8_t payload[PINCHTRACE_PAYLOAD_MAX];
	} out = {
		.e = {
			.header = {
				.time_ns = header->time_ns,
				.thread = number_of(areas, read->pid, read->ns_tid),
				.subsys = TRACE_SUBSYS_USER,
				.event = TRACE_EVENT_USER_EVENT,
			},
			.schema = read->schema,
			.subsystem = read->subsystem,
			.event = read->event,
			.argument = read->argument,
			.payload_bytes = read->payload_bytes,
		},
	};

	memcpy(out.e.payload, read->payload, read->payload_bytes);
	session_hand_out(areas->session, &out.e.header);
}

static void on_read_lost(void *data, const struct ev_header *header)
{
	const struct ev_user_read_lost *read = (const struct ev_user_read_lost *)header;
	struct own_areas *areas = data;
	struct ev_user_lost e = {
		.header = {
			.time_ns = header->time_ns,
			.thread = number_of(areas, read->pid, read->ns_tid),
			.subsys = TRACE_SUBSYS_USER,
			.event = TRACE_EVENT_USER_LOST,
		},
		.from_ns = read->from_ns,
		.slots = read->slots,
	};

	session_hand_out(areas->session, &e.header);
}

/* --- Programs ------------------------------------------------------------------------------ */

static void hand_out_program(struct own_areas *areas, const struct own_area *own)
{
	const struct area_facts *facts = area_facts(own->area);
	struct ev_user_program e = {
		.header = {
			.time_ns = session_time_ns(areas->session),
			.subsys = TRACE_SUBSYS_USER,
			.event = TRACE_EVENT_USER_PROGRAM,
		},
		.pid = own->pid,
		.ring_capacity = facts->ring_capacity,
	};

	_Static_assert(sizeof(e.program) == sizeof(facts->program), "copied as it is");
	memcpy(e.program, facts->program, sizeof(e.program));
	session_hand_out(areas->session, &e.header);
}

/* In the stream's order: behind the start of this program, with which the name of the one before goes. */
static void on_announced(void *data, const struct ev_header *header)
{
	const struct ev_user_announced *e = (const struct ev_user_announced *)header;
	struct own_areas *areas = data;

	size_t i = areas->count;

	while (i && areas->list[i - 1].pid != e->pid)
		i--;
	if (i)
		hand_out_program(areas, &areas->list[i - 1]);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_FOUND, on_found },       { EV_SPACE_EXIT, on_exit_of },       { EV_USER_READ, on_read },
	{ EV_USER_READ_LOST, on_read_lost }, { EV_USER_ANNOUNCED, on_announced }, { 0, NULL },
};

struct own_areas *own_areas_new(struct session *session, unsigned int stream, struct symbols *symbols,
				const struct threads *threads)
{
	struct own_areas *areas = xcalloc(1, sizeof(*areas));

	areas->session = session;
	areas->merge = own_merge_new(session, stream);
	areas->symbols = symbols;
	areas->threads = threads;
	areas->schemas = own_schemas_new(session);
	areas->offers = own_offers_open();
	areas->read = xcalloc(1, sizeof(*areas->read) + PINCHTRACE_PAYLOAD_MAX);
	session_subscribe(session, handlers, areas);
	tick_clock_read(&areas->clock);
	return areas;
}

static void close_area(struct own_area *own)
{
	struct own_ring *ring;
	size_t cursor = 0;

	while ((ring = table_next(own->rings, &cursor))) {
		own_merge_end(ring->run);
		free(ring);
	}
	table_free(own->rings);
	own_schema_list_fini(&own->schemas);
	area_close(own->area);
}

void own_areas_free(struct own_areas *areas)
{
	if (!areas)
		return;
	for (size_t i = 0; i < areas->count; i++)
		close_area(&areas->list[i]);
	own_merge_free(areas->merge);
	own_schemas_free(areas->schemas);
	own_offers_close(areas->offers);
	free(areas->list);
	free(areas->looks);
	free(areas->read);
	free(areas);
}

/* --- Looking ------------------------------------------------------------------------------- */

/* A forked child shows that of its parent. */
static bool is_known(const struct own_areas *areas, const struct area_facts *facts)
{
	for (size_t i = 0; i < areas->count; i++) {
		const struct area_facts *known = area_facts(areas->list[i].area);

		if (known->pid == facts->pid && known->start_ns == facts->start_ns)
			return true;
	}
	return false;
}

/* An area's time stamps at a moment of CLOCK_MONOTONIC that has just been read. */
static uint64_t ticks_of_now(const struct own_areas *areas, const struct area_facts *facts)
{
	return facts->clock == PINCHTRACE_CLOCK_TSC ? areas->clock.last.ticks : areas->clock.last.ns;
}

/* And at a moment of the stream. */
static uint64_t ticks_at(const struct own_areas *areas, const struct area_facts *facts, uint64_t time_ns)
{
	return facts->clock == PINCHTRACE_CLOCK_TSC ? tick_clock_ticks(&areas->clock, time_ns) : time_ns;
}

static void take_in(struct own_areas *areas, const struct look *look, struct area *area)
{
	const struct area_facts *facts = area_facts(area);

	if (areas->count == AREAS_MAX || is_known(areas, facts) || (look->ns_pid && look->ns_pid != facts->pid)) {
		area_close(area);
		return;
	}
	if (look->is_older)
		area_skip(area, ticks_at(areas, facts, session_time_ns(areas->session)));
	ARRAY_GROW(areas->list, areas->count, areas->capacity, 16);
	areas->list[areas->count++] = (struct own_area){
		.area = area,
		.all = areas,
		.pid = look->pid,
		.rings = table_new(),
		.taken_ns = session_time_ns(areas->session),
	};
	areas->counter_programs += facts->clock == PINCHTRACE_CLOCK_TSC;
	if (areas->fill_rate < 1 / FULL_NS_FIRST)
		areas->fill_rate = 1 / FULL_NS_FIRST;
	if (look->is_older)
		hand_out_program(areas, &areas->list[areas->count - 1]);
}

static void look_into(struct own_areas *areas, const struct look *look, int fd)
{
	struct area *area;
	int err = area_open(fd, &area);

	if (err)
		close(fd);
	else
		take_in(areas, look, area);
	areas->broken_areas += err && !look->is_older;
}

static void look_at(struct own_areas *areas, const struct look *look)
{
	int fd = look->is_older ? -ENOENT : own_offers_take(areas->offers, look->pid);
	uint32_t found = 0;

	if (fd >= 0) {
		look_into(areas, look, fd);
		return;
	}
	while (found < AREAS_OF_PROCESS_MAX && (fd = symbols_open_area(areas->symbols, look->pid, found)) >= 0) {
		look_into(areas, look, fd);
		found++;
	}
	/* A program that takes the name that it has need have no area; one that has ended may have had one. */
	areas->unread_processes += !found && !look->is_older && fd != -ENOENT;
}

/* Others are announced meanwhile. */
static void look(struct own_areas *areas)
{
	struct look *looks = areas->looks;
	size_t count = areas->look_count, older = 0;

	areas->looks = NULL;
	areas->look_count = areas->look_capacity = 0;
	own_offers_step(areas->offers);
	for (size_t i = 0; i < count; i++)
		if (looks[i].is_older && older++ >= LOOKS_AT_ONCE)
			expect(areas, &looks[i]);
		else
			look_at(areas, &looks[i]);
	free(looks);
}

/* --- Taking -------------------------------------------------------------------------------- */

static struct own_ring *ring_of(struct own_area *own, uint32_t tid)
{
	if (own->ring && own->ring->tid == tid)
		return own->ring;
	own->ring = table_find(own->rings, tid + 1ull);
	if (!own->ring) {
		own->ring = xcalloc(1, sizeof(*own->ring));
		own->ring->tid = tid;
		own->ring->run = own_merge_begin(own->all->merge);
		table_put(own->rings, tid + 1ull, own->ring);
	}
	return own->ring;
}

static uint64_t ns_of(const struct own_area *own, uint64_t ticks)
{
	bool is_tsc = area_facts(own->area)->clock == PINCHTRACE_CLOCK_TSC;

	return is_tsc ? tick_clock_ns(&own->all->clock, ticks) : ticks;
}

/*
 * Times are the program's word: an event is not before the one before it in its ring, and not much after the last reading of the
 * clock, which is not older than the read of the ring takes.
 */
static uint64_t time_of(struct own_area *own, uint32_t tid, uint64_t ticks)
{
	struct own_ring *ring = ring_of(own, tid);
	uint64_t ns = ns_of(own, ticks), last_ns = own->all->clock.last.ns + patience_ns;

	if (ns > last_ns)
		ns = last_ns;
	if (ns < ring->last_ns)
		ns = ring->last_ns;
	ring->last_ns = ns;
	return ns;
}

static void on_event(void *data, const struct area_event *event)
{
	struct own_area *own = data;
	struct own_areas *areas = own->all;
	struct ev_user_read *read = areas->read;
	uint64_t time_ns = time_of(own, event->tid, event->ticks);

	if (time_ns > areas->limit_ns)
		return;
	*read = (struct ev_user_read){
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_USER, .event = TRACE_EVENT_USER_READ },
		.schema = own_schema_list_find(&own->schemas, event->subsystem),
		.pid = own->pid,
		.ns_tid = event->tid,
		.subsystem = event->subsystem,
		.event = event->event,
		.argument = event->argument,
		.payload_bytes = event->payload_bytes,
	};
	if (event->payload_bytes)
		memcpy(read->payload, event->payload, event->payload_bytes);
	own_merge_add(areas->merge, own->ring->run, read, sizeof(*read) + event->payload_bytes);
}

static void on_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	struct own_area *own = data;
	struct own_areas *areas = own->all;
	struct ev_user_read_lost lost = {
		.header = { .time_ns = time_of(own, tid, before_ticks),
			    .subsys = TRACE_SUBSYS_USER,
			    .event = TRACE_EVENT_USER_READ_LOST },
		.from_ns = from_ticks ? ns_of(own, from_ticks) : 0,
		.slots = slots,
		.pid = own->pid,
		.ns_tid = tid,
	};

	if (lost.header.time_ns > areas->limit_ns)
		return;
	if (lost.from_ns > lost.header.time_ns)
		lost.from_ns = lost.header.time_ns;
	areas->lost_slots += slots;
	own_merge_add(areas->merge, own->ring->run, &lost, sizeof(lost));
}

static void on_text(void *data, const char *text, size_t length)
{
	struct own_area *own = data;

	own_schema_list_add(&own->schemas, own_schemas_take(own->all->schemas, text, length));
}

static bool has_space(const struct own_areas *areas)
{
	return session_counts(areas->session).pending_bytes + own_merge_bytes(areas->merge) < PENDING_BYTES_MAX;
}

/* All that the area has; how far that goes. */
static int take_area(struct own_area *own)
{
	struct own_areas *areas = own->all;
	const struct area_listener listener = { on_event, on_lost, own };
	int err = area_refresh(own->area), takes = 0;

	if (!err)
		err = area_schemas(own->area, on_text, own);
	while (!err && has_space(areas) && takes++ < TAKES_MAX) {
		uint64_t until_ticks, until_ns;

		tick_clock_read(&areas->clock);
		until_ticks = ticks_of_now(areas, area_facts(own->area));
		err = area_take(own->area, &listener, &until_ticks);
		if (!err && !area_has_more(own->area)) {
			until_ns = ns_of(own, until_ticks);
			if (until_ns > own->taken_ns)
				own->taken_ns = until_ns;
			break;
		}
	}
	return err;
}

static void count_lost(struct own_areas *areas, const struct own_area *own)
{
	areas->lost_events += area_facts(own->area)->lost;
}

/* A burst counts for some time. */
static void plan(struct own_areas *areas)
{
	uint64_t now_ns = clock_ns();
	double rate = areas->taken_ns ? areas->fill / (now_ns - areas->taken_ns + 1) : 0;
	double wait_ns;

	areas->fill_rate = rate > areas->fill_rate ? rate : areas->fill_rate * RATE_LEFT + rate * (1 - RATE_LEFT);
	wait_ns = areas->fill_rate > 0 ? FILL_WANTED / areas->fill_rate : (double)wait_ns_max;
	areas->taken_ns = now_ns;
	areas->due_ns = now_ns + (wait_ns < wait_ns_max ? (uint64_t)wait_ns : wait_ns_max);
}

/* Until when all events are there: a thread that stays in the middle of one is not waited for long. */
static uint64_t until_of(const struct own_areas *areas, const struct own_area *own)
{
	uint64_t now_ns = areas->clock.last.ns;

	if (own->taken_ns > now_ns)
		return now_ns;
	return own->taken_ns + patience_ns < now_ns ? now_ns - patience_ns : own->taken_ns;
}

uint64_t own_areas_take(struct own_areas *areas, uint64_t limit_ns)
{
	uint64_t until_ns;
	size_t kept = 0;

	own_offers_step(areas->offers);
	if (!areas->count && !areas->look_count)
		return own_merge_push(areas->merge, UINT64_MAX);
	tick_clock_read(&areas->clock);
	areas->limit_ns = limit_ns;
	areas->fill = 0;
	look(areas);
	until_ns = UINT64_MAX;
	for (size_t i = 0; i < areas->count; i++) {
		struct own_area *own = &areas->list[i];
		bool was_ended = own->is_ended;
		int err = take_area(own);

		if (area_fill(own->area) > areas->fill)
			areas->fill = area_fill(own->area);
		areas->broken_areas += err != 0;
		if (err || (was_ended && !area_has_more(own->area))) {
			count_lost(areas, own);
			close_area(own);
			continue;
		}
		if (until_of(areas, own) < until_ns)
			until_ns = until_of(areas, own);
		areas->list[kept++] = *own;
	}
	areas->count = kept;
	plan(areas);
	return own_merge_push(areas->merge, until_ns);
}

void own_areas_finish(struct own_areas *areas)
{
	own_merge_push(areas->merge, UINT64_MAX);
	areas->refused = own_merge_count(areas->merge);
}

uint64_t own_areas_due_ns(const struct own_areas *areas)
{
	return areas->count ? areas->due_ns : UINT64_MAX;
}

/* --- Telling programs ------------------------------------------------------------------------------ */

/* Who handed it over can write it; what was found by its mapping was opened for reading. */
static int change_area(const struct own_area *own, int (*change)(int fd, uint64_t value), uint64_t value)
{
	int fd = area_fd(own->area), err = change(fd, value);
	char path[64];

	if (err != -EBADF)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = change(fd, value);
	close(fd);
	return err;
}

static int start_area(int fd, uint64_t unused)
{
	(void)unused;
	return area_control_start(fd);
}

int own_areas_start(struct own_areas *areas, uint32_t pid)
{
	int err = -ENOENT;

	for (size_t i = 0; i < areas->count; i++)
		if (areas->list[i].pid == pid && !areas->list[i].is_ended && err)
			err = change_area(&areas->list[i], start_area, 0);
	return err;
}

void own_areas_promise(struct own_areas *areas, uint64_t until_ns)
{
	for (size_t i = 0; i < areas->count; i++)
		if (!areas->list[i].is_ended)
			change_area(&areas->list[i], area_control_scope, until_ns);
}

/* --- What is missing ----------------------------------------------------------------------- */

void own_areas_put_notes(const struct own_areas *areas, struct text *notes)
{
	uint64_t lost_events = areas->lost_events;

	for (size_t i = 0; i < areas->count; i++)
		lost_events += area_facts(areas->list[i].area)->lost;
	if (areas->lost_slots) {
		text_printf(notes,
			    "%llu slots of programs' own events were overwritten before they were read: larger rings "
			    "(PINCHTRACE_EVENTS) keep more",
			    (unsigned long long)areas->lost_slots);
		text_put_bytes(notes, "", 1);
	}
	if (lost_events) {
		text_printf(notes, "programs had no space for %llu events of their own",
			    (unsigned long long)lost_events);
		text_put_bytes(notes, "", 1);
	}
	if (areas->refused) {
		text_printf(notes, "%llu events of programs' own were dropped: there were too many at once",
			    (unsigned long long)areas->refused);
		text_put_bytes(notes, "", 1);
	}
	if (areas->counter_programs && !tick_clock_is_trusted()) {
		text_printf(
			notes,
			"times of own events of %llu programs may be wrong: they are by the CPUs' counters, which the "
			"kernel does not trust; start them again, or with PINCHTRACE_CLOCK=monotonic",
			(unsigned long long)areas->counter_programs);
		text_put_bytes(notes, "", 1);
	}
	if (areas->broken_areas + areas->unread_processes) {
		text_printf(notes,
			    "events of their own of %llu processes are missing: their memory was unreadable, or they "
			    "ended too soon",
			    (unsigned long long)(areas->broken_areas + areas->unread_processes));
		text_put_bytes(notes, "", 1);
	}
}
