/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/own_areas_internal.h"

#include <stdlib.h>
#include <string.h>

#include "area/area.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "collect/own/own_merge.h"
#include "collect/own/own_offers.h"
#include "session/session.h"

enum {
	TAKES_MAX = 64, /* of one area, one after the other */
	PENDING_BYTES_MAX = 32 << 20,
};

/* Rings are taken when the fastest one is so full, as far as can be foreseen; and of what was foreseen so much stays each time. */
static const double FILL_WANTED = 0.25, RATE_LEFT = 0.9;
static const uint64_t wait_ns_max = 1000000000;

/* How long the stream waits for a thread that is writing an event: it may have been stopped there, or have died. */
static const uint64_t patience_ns = 50000000;

/* Of a thread's events: times of two readings of the clock may differ by more than its events do. */
struct own_ring {
	uint32_t tid;
	uint64_t last_ns;
	struct own_run *run; /* borrowed */
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
	own_areas_follow_processes(areas);
	own_areas_follow_stream(areas);
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

/* --- Taking -------------------------------------------------------------------------------- */

/* An area's time stamps at a moment of CLOCK_MONOTONIC that has just been read. */
static uint64_t ticks_of_now(const struct own_areas *areas, const struct area_facts *facts)
{
	return facts->clock == PINCHTRACE_CLOCK_TSC ? areas->clock.last.ticks : areas->clock.last.ns;
}

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
	own_areas_look(areas);
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
