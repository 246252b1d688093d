/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/memory.h"
#include "collect/governor.h"

/*
 * A side-band record has its time before its place, and what a slot ring says of its state
 * takes a moment to reach another CPU: this much later both have surely arrived.
 */
static const uint64_t DELAY_NS = 2 * 1000 * 1000;

/* Losing records all the time must not mean listing the threads all the time. */
static const uint64_t LIST_PERIOD_NS = 200 * 1000 * 1000;

struct collector {
	struct session *session;
	struct kernel *kernel;
	struct sideband *sideband;
	struct governor governor;
	unsigned int ring_count;
	uint64_t *last_ns;		/* by ring: time of the last record taken from it */
	double fill;
	bool has_gap;			/* since the threads were listed last */
	uint64_t listed_ns;
	uint64_t lost_told;		/* records that a collect.GAP has told of */
	/* The ring being drained. */
	unsigned int ring;
};

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

unsigned int collector_stream_count(const struct kernel *kernel)
{
	return kernel_ring_count(kernel) + 2;	/* the side band's and our own */
}

static unsigned int sideband_stream(const struct collector *collector)
{
	return collector->ring_count;
}

static unsigned int own_stream(const struct collector *collector)
{
	return collector->ring_count + 1;
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const void *)header;
	struct collector *collector = data;

	collector->has_gap = true;
	collector->lost_told += e->lost;
}

struct collector *collector_new(struct session *session, struct kernel *kernel,
				struct sideband *sideband)
{
	static const struct event_handler handlers[] = {
		{ EV_COLLECT_GAP, on_gap }, { 0, NULL },
	};
	struct collector *collector = xcalloc(1, sizeof(*collector));

	collector->session = session;
	collector->kernel = kernel;
	collector->sideband = sideband;
	collector->ring_count = kernel_ring_count(kernel);
	collector->last_ns = xcalloc(collector->ring_count, sizeof(*collector->last_ns));
	governor_init(&collector->governor, kernel_cpu_count(kernel), now_ns());
	session_subscribe(session, handlers, collector);
	return collector;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	free(collector->last_ns);
	free(collector);
}

static int push_own(struct collector *collector, enum event_id id)
{
	struct ev_header header = {
		.time_ns = now_ns(), .subsys = id >> 16, .event = id & 0xffff,
	};

	return session_push(collector->session, own_stream(collector), &header, sizeof(header));
}

int collector_list_threads(struct collector *collector)
{
	int err;

	collector->listed_ns = now_ns();
	if (push_own(collector, EV_COLLECT_SYNC_BEGIN))
		return 0;	/* the session is full: has_gap stays, and it is tried again */
	collector->has_gap = false;
	err = kernel_list_threads(collector->kernel);
	if (push_own(collector, EV_COLLECT_SYNC_END))
		collector->has_gap = true;
	return err;
}

static int on_record(void *data, const void *record, size_t size_bytes)
{
	struct collector *collector = data;
	const struct ev_header *header = record;

	if (session_push(collector->session, collector->ring, record, size_bytes) == -ENOSPC)
		return -ENOSPC;
	if (size_bytes >= sizeof(*header))
		collector->last_ns[collector->ring] = header->time_ns;
	return 0;
}

/* Drains all rings; returns the time before which nothing can come any more. */
static uint64_t drain(struct collector *collector)
{
	/* Read first: what is reserved after this moment has a later time. */
	uint64_t until_ns = now_ns();

	collector->fill = kernel_fill(collector->kernel);
	for (unsigned int i = 0; i < collector->ring_count; i++) {
		collector->ring = i;
		if (!kernel_drain(collector->kernel, i, on_record, collector) &&
		    collector->last_ns[i] < until_ns)
			until_ns = collector->last_ns[i];
	}
	if (collector->sideband)
		sideband_drain(collector->sideband, collector->session,
			       sideband_stream(collector));
	return until_ns;
}

void collector_poll(struct collector *collector)
{
	uint64_t until_ns = drain(collector);
	struct kernel_counts counts = kernel_counts(collector->kernel);

	if (until_ns > DELAY_NS)
		session_advance(collector->session, until_ns - DELAY_NS);
	kernel_set_keep_all_above(collector->kernel,
				  governor_update(&collector->governor, now_ns(),
						  counts.stacks));
	if (collector->has_gap && now_ns() - collector->listed_ns > LIST_PERIOD_NS)
		collector_list_threads(collector);
}

void collector_finish(struct collector *collector)
{
	uint64_t lost;

	/* Whatever stopped a drain, a record being written or the session's bound, is short. */
	for (int i = 0; i < 100; i++) {
		drain(collector);
		session_advance(collector->session, now_ns());
		if (collector->fill == 0)
			break;
	}
	session_finish(collector->session);
	lost = kernel_counts(collector->kernel).lost;
	if (lost > collector->lost_told) {
		struct ev_collect_gap e = { .lost = lost - collector->lost_told };

		e.header = (struct ev_header){
			.time_ns = now_ns(), .subsys = EV_COLLECT_GAP >> 16,
			.event = EV_COLLECT_GAP & 0xffff,
		};
		session_push(collector->session, own_stream(collector), &e, sizeof(e));
		session_finish(collector->session);
	}
}

double collector_fill(const struct collector *collector)
{
	return collector->fill;
}
