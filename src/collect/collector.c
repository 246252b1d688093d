/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "collect/governor.h"
#include "collect/own/own_areas.h"
#include "collect/probe/loop_watch.h"
#include "collect/urgency.h"

/*
 * A side-band record has its time before its place, and what a slot ring says of its state
 * takes a moment to reach another CPU: this much later both have surely arrived.
 */
static const uint64_t DELAY_NS = 2 * 1000 * 1000;

/*
 * With this much in the session, half of what it takes at most, only records of the next moment
 * come in: those that it waits for to deliver the rest. All others stay in their rings.
 */
static const int64_t PENDING_BYTES_HALF = 64 << 20;
static const uint64_t HORIZON_NS = 10 * 1000 * 1000;

/* Between two looks at the rings: longer than any nap, and at most while events are delivered. */
static const uint64_t LATE_NS = 400 * 1000 * 1000, DRAIN_PERIOD_NS = 10 * 1000 * 1000;

/* Of events that are delivered at once. */
static const uint64_t DELIVERY_NS = 5 * 1000 * 1000;

/* The first time that a reader is late may be too late. */
static const uint64_t LOAD_PERIOD_NS = 10ull * 1000 * 1000 * 1000;

static const double FILL_LATE = 0.6;

/* Rounds of taking in and delivering, in one poll; and those without progress at the end. */
enum { ROUNDS_MAX = 16, STUCK_ROUNDS_MAX = 100, LIST_ROUNDS_MAX = 1000, ENTRY_BYTES = 16 };

/* Losing records all the time must not mean listing the threads all the time. */
static const uint64_t LIST_PERIOD_NS = 200 * 1000 * 1000;

/* As fine as a report on a part of a trace can be. */
static const uint64_t HOLDS_PERIOD_NS = 1000 * 1000 * 1000;

/* Connections come and go faster, but full queues last; and a period is at least so many times what listing them takes. */
static const uint64_t LISTENERS_PERIOD_NS = 100 * 1000 * 1000;
enum { LISTENERS_COST = 500 };

/*
 * After a look that found new input comes a second one, to see how much of it still lies there: by turns so much later, and twice
 * as much as the time before, for it finds no age above that, and nothing that has been read meanwhile.
 */
static const uint64_t SECOND_LOOK_NS = 8 * 1000 * 1000;
enum { SECOND_LOOKS = 4 };

/*
 * The stack of a wait is kept or left out by how long the thread's waits before it were: one that is far longer would most likely
 * have none. As many at once as are worth it, and a period is at least so many times what listing them takes.
 */
static const uint64_t LONG_WAIT_NS = 100 * 1000 * 1000, LONG_WAITS_PERIOD_NS = 100 * 1000 * 1000;
enum { LONG_WAITS_MAX = 16, LONG_WAITS_COST = 200 };

struct collector {
	struct session *session;
	struct kernel *kernel;
	struct sideband *sideband;
	struct own_areas *own_areas; /* NULL: events of programs' own are not read */
	struct governor governor;
	struct urgency urgency;
	uint64_t drained_ns;    /* 0: not yet */
	uint64_t load_asked_ns; /* the machine's, 0: not yet */
	unsigned int ring_count;
	uint64_t *complete_ns;  /* by ring: its records before that have been taken in */
	uint64_t until_ns;      /* the least of them */
	uint64_t delivered_ns;  /* to the session's handlers, all before that */
	int64_t capacity_bytes; /* in the session; below 0: HORIZON_NS holds */
	bool is_refused;        /* a record, in the last round */
	double fill, sideband_fill;
	bool has_gap; /* since the threads were listed last */
	uint64_t listed_ns;
	uint64_t holds_listed_ns;
	uint64_t listeners_due_ns, long_waits_due_ns;
	uint64_t listeners_took_ns;
	bool is_second_look_due; /* instead of a first one */
	unsigned int second_looks;
	uint64_t lost_reported; /* lost records that a collect.GAP has reported */
	/* The ring being drained. */
	unsigned int ring;
};

unsigned int collector_stream_count(const struct kernel *kernel)
{
	return kernel_ring_count(kernel) + 3; /* the side band's, our own and that of programs */
}

static unsigned int sideband_stream(const struct collector *collector)
{
	return collector->ring_count;
}

static unsigned int own_stream(const struct collector *collector)
{
	return collector->ring_count + 1;
}

unsigned int collector_own_stream(const struct collector *collector)
{
	return collector->ring_count + 2;
}

void collector_set_own_areas(struct collector *collector, struct own_areas *areas)
{
	collector->own_areas = areas;
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const void *)header;
	struct collector *collector = data;

	collector->has_gap = true;
	collector->lost_reported += e->lost;
}

struct collector *collector_new(struct session *session, struct kernel *kernel, struct sideband *sideband)
{
	static const struct event_handler handlers[] = {
		{ EV_COLLECT_GAP, on_gap },
		{ 0, NULL },
	};
	struct collector *collector = xcalloc(1, sizeof(*collector));

	collector->session = session;
	collector->kernel = kernel;
	collector->sideband = sideband;
	collector->ring_count = kernel_ring_count(kernel);
	collector->complete_ns = xcalloc(collector->ring_count, sizeof(*collector->complete_ns));
	governor_init(&collector->governor, kernel_cpu_count(kernel), clock_ns());
	collector->delivered_ns = clock_ns();
	/* Not at once: a program that begins must not wait for that. */
	collector->listeners_due_ns = clock_ns() + LISTENERS_PERIOD_NS;
	session_subscribe(session, handlers, collector);
	return collector;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	free(collector->complete_ns);
	free(collector);
}

static int push_own(struct collector *collector, enum event_id id)
{
	struct ev_header header = {
		.time_ns = clock_ns(),
		.subsys = id >> 16,
		.event = id & 0xffff,
	};

	return session_push(collector->session, own_stream(collector), &header, sizeof(header));
}

int collector_list_threads(struct collector *collector)
{
	int err;

	collector->listed_ns = clock_ns();
	if (push_own(collector, EV_COLLECT_SYNC_BEGIN))
		return 0; /* the session is full: has_gap stays, and it is tried again */
	collector->has_gap = false;
	err = kernel_list_threads(collector->kernel);
	if (push_own(collector, EV_COLLECT_SYNC_END))
		collector->has_gap = true;
	return err;
}

/* Before its time comes to be delivered: the process may end. */
static void note_announced(struct collector *collector, const struct ev_user_announced *e)
{
	if (collector->own_areas)
		own_areas_announced(collector->own_areas, e->pid);
}

static bool is_announcement(const struct ev_header *header, size_t size_bytes)
{
	return size_bytes == sizeof(struct ev_user_announced) && header->subsys == TRACE_SUBSYS_USER &&
	       header->event == TRACE_EVENT_USER_ANNOUNCED;
}

static int on_record(void *data, const void *record, size_t size_bytes)
{
	struct collector *collector = data;
	const struct ev_header *header = record;
	uint64_t *complete_ns = &collector->complete_ns[collector->ring];
	bool is_full = collector->capacity_bytes < 0 && size_bytes >= sizeof(*header) &&
		       header->time_ns > collector->until_ns + HORIZON_NS;

	if (is_full || session_push(collector->session, collector->ring, record, size_bytes) == -ENOSPC)
		collector->is_refused = is_full = true;
	else
		collector->capacity_bytes -= size_bytes + ENTRY_BYTES;
	if (!is_full && is_announcement(header, size_bytes))
		note_announced(collector, record);
	if (size_bytes >= sizeof(*header) && header->time_ns > *complete_ns)
		*complete_ns = header->time_ns;
	return is_full ? -ENOSPC : 0;
}

/* Whoever is kept from the CPU by others loses records. */
static void hurry(struct collector *collector, uint64_t begin_ns)
{
	bool is_late =
		collector->drained_ns && (begin_ns - collector->drained_ns > LATE_NS || collector->fill > FILL_LATE);

	if (begin_ns - collector->load_asked_ns > LOAD_PERIOD_NS) {
		collector->load_asked_ns = begin_ns;
		is_late |= urgency_is_expected();
	}
	urgency_apply(&collector->urgency, begin_ns, is_late);
	collector->drained_ns = begin_ns;
}

/* Drains all rings; sets the time before which nothing can come any more. */
static void drain(struct collector *collector)
{
	/* Read first: what is reserved after this moment has a later time. */
	uint64_t begin_ns = clock_ns(), until_ns = begin_ns;

	collector->fill = kernel_fill(collector->kernel);
	hurry(collector, begin_ns);
	collector->is_refused = false;
	collector->capacity_bytes = PENDING_BYTES_HALF - (int64_t)session_counts(collector->session).pending_bytes;
	for (unsigned int i = 0; i < collector->ring_count; i++) {
		uint64_t *complete_ns = &collector->complete_ns[i];

		collector->ring = i;
		if (kernel_drain(collector->kernel, i, on_record, collector))
			*complete_ns = begin_ns;
		if (*complete_ns < until_ns)
			until_ns = *complete_ns;
	}
	collector->until_ns = until_ns;
	if (collector->sideband) {
		collector->sideband_fill = sideband_fill(collector->sideband);
		sideband_drain(collector->sideband, collector->session, sideband_stream(collector));
	}
}

/* By small stretches of time: between them the rings are drained when that is due. */
static void deliver(struct collector *collector)
{
	uint64_t until_ns = collector->until_ns;

	if (until_ns <= DELAY_NS)
		return;
	until_ns -= DELAY_NS;
	while (collector->delivered_ns < until_ns) {
		uint64_t left_ns = until_ns - collector->delivered_ns;

		collector->delivered_ns += left_ns < DELIVERY_NS ? left_ns : DELIVERY_NS;
		session_advance(collector->session, collector->delivered_ns);
		if (clock_ns() - collector->drained_ns > DRAIN_PERIOD_NS)
			drain(collector);
	}
}

/* Where nobody watches what stacks cost, all of them are kept. */
static void govern(struct collector *collector)
{
	struct kernel_counts counts = kernel_counts(collector->kernel);

	kernel_set_keep_all_above(collector->kernel,
				  governor_update(&collector->governor, clock_ns(), counts.governed_ns));
}

/* When to do again what was begun then and has just been done: a period later, or so many times what it took. */
static uint64_t due_after(uint64_t begin_ns, uint64_t cost, uint64_t period_ns)
{
	uint64_t end_ns = clock_ns(), due_ns = end_ns + (end_ns - begin_ns) * cost;

	return due_ns > begin_ns + period_ns ? due_ns : begin_ns + period_ns;
}

int collector_list_listeners(struct collector *collector)
{
	uint64_t begin_ns = clock_ns();
	int err = kernel_list_listeners(collector->kernel, false);

	collector->listeners_took_ns = clock_ns() - begin_ns;
	collector->is_second_look_due = kernel_has_new_input(collector->kernel);
	if (collector->is_second_look_due)
		collector->listeners_due_ns = begin_ns + (SECOND_LOOK_NS << collector->second_looks++ % SECOND_LOOKS);
	else
		collector->listeners_due_ns = due_after(begin_ns, LISTENERS_COST, LISTENERS_PERIOD_NS);
	return err;
}

/* The next one comes as late as if both were one. */
static void look_again(struct collector *collector)
{
	uint64_t begin_ns = clock_ns() - collector->listeners_took_ns;

	kernel_list_listeners(collector->kernel, true);
	collector->is_second_look_due = false;
	collector->listeners_due_ns = due_after(begin_ns, LISTENERS_COST, LISTENERS_PERIOD_NS);
}

static void look_at_listeners(struct collector *collector)
{
	if (clock_ns() < collector->listeners_due_ns)
		return;
	if (collector->is_second_look_due)
		look_again(collector);
	else
		collector_list_listeners(collector);
}

int collector_wait_ms(const struct collector *collector)
{
	uint64_t now_ns = clock_ns(), due_ns = loop_watch_due_ns(kernel_loop_watch(collector->kernel));

	if (collector->listeners_due_ns < due_ns)
		due_ns = collector->listeners_due_ns;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000 + 1) : 0;
}

/* Programs' own events, up to limit_ns: none before until_ns will come any more. */
static void take_own(struct collector *collector, uint64_t limit_ns)
{
	uint64_t until_ns;

	if (!collector->own_areas)
		return;
	until_ns = own_areas_take(collector->own_areas, limit_ns);
	if (until_ns < collector->until_ns)
		collector->until_ns = until_ns;
}

/* All that there is, of the kernel and of programs up to limit_ns. */
static void take_round(struct collector *collector, uint64_t limit_ns)
{
	drain(collector);
	take_own(collector, limit_ns);
	deliver(collector);
}

void collector_poll(struct collector *collector)
{
	for (int i = 0; i < ROUNDS_MAX && (!i || collector->is_refused); i++)
		take_round(collector, UINT64_MAX);
	if (collector->has_gap && clock_ns() - collector->listed_ns > LIST_PERIOD_NS)
		collector_list_threads(collector);
	if (clock_ns() - collector->holds_listed_ns > HOLDS_PERIOD_NS)
		collector_list_holds(collector);
	collector_look(collector);
}

void collector_look(struct collector *collector)
{
	govern(collector);
	look_at_listeners(collector);
	loop_watch_step(kernel_loop_watch(collector->kernel), clock_ns());
}

void collector_list_waits(struct collector *collector)
{
	int left = 0, rounds = 0;

	do {
		left = kernel_list_waits(collector->kernel);
		take_round(collector, UINT64_MAX);
	} while (left > 0 && ++rounds < LIST_ROUNDS_MAX);
}

void collector_list_long_waits(struct collector *collector)
{
	uint64_t begin_ns = clock_ns();

	if (!collector->governor.threshold_ns || begin_ns < collector->long_waits_due_ns)
		return;
	kernel_list_long_waits(collector->kernel, LONG_WAIT_NS, LONG_WAITS_MAX);
	collector->long_waits_due_ns = due_after(begin_ns, LONG_WAITS_COST, LONG_WAITS_PERIOD_NS);
}

void collector_list_holds(struct collector *collector)
{
	int left = 0, rounds = 0;

	collector->holds_listed_ns = clock_ns();
	do {
		left = kernel_list_holds(collector->kernel);
		take_round(collector, UINT64_MAX);
	} while (left > 0 && ++rounds < LIST_ROUNDS_MAX);
}

void collector_take_in(struct collector *collector)
{
	drain(collector);
	govern(collector);
	loop_watch_step(kernel_loop_watch(collector->kernel), clock_ns());
}

uint64_t collector_delivered_ns(const struct collector *collector)
{
	return collector->delivered_ns;
}

void collector_finish(struct collector *collector)
{
	uint64_t lost, before_ns, end_ns = clock_ns();
	int stuck_rounds = 0;

	/* Whatever stops a drain, a record being written or the session's bound, is short. */
	do {
		before_ns = collector->until_ns;
		take_round(collector, end_ns);
		stuck_rounds = collector->until_ns > before_ns ? 0 : stuck_rounds + 1;
	} while (collector->fill > 0 && stuck_rounds < STUCK_ROUNDS_MAX);
	if (collector->own_areas)
		own_areas_finish(collector->own_areas);
	urgency_end(&collector->urgency);
	session_finish(collector->session);
	lost = kernel_counts(collector->kernel).lost;
	if (lost > collector->lost_reported) {
		struct ev_collect_gap e = { .lost = lost - collector->lost_reported };

		e.header = (struct ev_header){
			.time_ns = clock_ns(),
			.subsys = EV_COLLECT_GAP >> 16,
			.event = EV_COLLECT_GAP & 0xffff,
		};
		session_push(collector->session, own_stream(collector), &e, sizeof(e));
		session_finish(collector->session);
	}
}

double collector_fill(const struct collector *collector)
{
	return collector->fill > collector->sideband_fill ? collector->fill : collector->sideband_fill;
}
