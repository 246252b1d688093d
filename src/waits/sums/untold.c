/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/untold.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "session/session.h"
#include "values.h"
#include "waits/sums/wait_wakers.h"

enum {
	REASONS_KEPT = 256, /* the last ones: a power of two */
	/* That may still be explained: the same. A disk ends thousands of waits while one thread runs. */
	CASES_MAX = 1 << 16,
	LISTS_MAX = 2, /* a path's and a lock's */
};

/* Cases come in the order of their ends, but for records that come late. */
static const uint64_t late_ns_max = 10000000;

/* Nobody was told of what happened on some CPU between these moments. */
struct silence {
	uint64_t begin_ns, end_ns;
	enum untold_reason reason;
};

struct untold_case {
	uint64_t begin_ns, end_ns;
	bool is_open;
	enum untold_kind kind;
	struct case_row {
		struct arena *arena;
		struct wait_waker **list;
		uint64_t wait_ns;
		double weight;
	} rows[LISTS_MAX];
	size_t row_count;
};

struct untold {
	struct silence silences[REASONS_KEPT];
	size_t silence_count; /* of all so far */
	struct untold_case cases[CASES_MAX];
	size_t case_count; /* of all so far */
	uint64_t counts[UNTOLD_KINDS][UNTOLD_REASONS];
	uint64_t told_ns[CPUS_MAX]; /* the last switch of each CPU */
};

static bool is_within(const struct silence *silence, uint64_t begin_ns, uint64_t end_ns)
{
	return silence->begin_ns <= end_ns && begin_ns <= silence->end_ns;
}

static void explain(struct untold *untold, struct untold_case *one, enum untold_reason reason)
{
	one->is_open = false;
	untold->counts[one->kind][UNTOLD_ODD]--;
	untold->counts[one->kind][reason]++;
	if (reason != UNTOLD_HIDDEN)
		return;
	for (size_t i = 0; i < one->row_count; i++) {
		const struct case_row *row = &one->rows[i];

		wait_wakers_hide(row->arena, row->list, row->wait_ns, row->weight);
	}
}

static void add_silence(struct untold *untold, enum untold_reason reason, uint64_t begin_ns, uint64_t end_ns)
{
	struct silence *silence = &untold->silences[untold->silence_count++ % REASONS_KEPT];
	size_t first = untold->case_count > CASES_MAX ? untold->case_count - CASES_MAX : 0;

	*silence = (struct silence){ begin_ns, end_ns, reason };
	for (size_t i = untold->case_count; i > first; i--) {
		struct untold_case *one = &untold->cases[(i - 1) % CASES_MAX];

		if (one->end_ns + late_ns_max < begin_ns)
			break;
		if (one->is_open && is_within(silence, one->begin_ns, one->end_ns))
			explain(untold, one, reason);
	}
}

static void on_switch(void *data, const struct ev_header *header)
{
	struct untold *untold = data;

	untold->told_ns[((const struct ev_sched_switch *)header)->cpu] = header->time_ns;
}

static void on_hidden(void *data, const struct ev_header *header)
{
	const struct ev_sched_hidden *e = (const struct ev_sched_hidden *)header;
	struct untold *untold = data;

	add_silence(untold, UNTOLD_HIDDEN, e->begin_ns ? e->begin_ns : untold->told_ns[e->cpu], header->time_ns);
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const struct ev_collect_gap *)header;
	struct untold *untold = data;

	add_silence(untold, UNTOLD_LOST, e->cpu < CPUS_MAX ? untold->told_ns[e->cpu] : 0, header->time_ns);
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_HIDDEN, on_hidden },
	{ EV_COLLECT_GAP, on_gap },
	{ 0, NULL },
};

struct untold *untold_new(struct session *session)
{
	struct untold *untold = xcalloc(1, sizeof(*untold));

	session_subscribe(session, handlers, untold);
	return untold;
}

void untold_free(struct untold *untold)
{
	free(untold);
}

static enum untold_reason find_reason(const struct untold *untold, uint64_t begin_ns, uint64_t end_ns)
{
	size_t count = untold->silence_count;
	size_t first = count > REASONS_KEPT ? count - REASONS_KEPT : 0;

	for (size_t i = count; i > first; i--) {
		const struct silence *silence = &untold->silences[(i - 1) % REASONS_KEPT];

		if (is_within(silence, begin_ns, end_ns))
			return silence->reason;
	}
	return UNTOLD_ODD;
}

enum untold_reason untold_add(struct untold *untold, enum untold_kind kind, uint64_t begin_ns, uint64_t end_ns,
			      struct untold_case **open)
{
	enum untold_reason reason = find_reason(untold, begin_ns, end_ns);
	struct untold_case *one = NULL;

	untold->counts[kind][reason]++;
	if (reason == UNTOLD_ODD) {
		one = &untold->cases[untold->case_count++ % CASES_MAX];
		*one = (struct untold_case){ begin_ns, end_ns, .is_open = true, .kind = kind };
	}
	if (open)
		*open = one;
	return reason;
}

void untold_note_waker(struct untold_case *open, struct arena *arena, struct wait_waker **list, uint64_t wait_ns,
		       double weight)
{
	if (!open || !weight)
		return;
	assert(open->row_count < LISTS_MAX);
	open->rows[open->row_count++] = (struct case_row){ arena, list, wait_ns, weight };
}

uint64_t untold_count(const struct untold *untold, enum untold_kind kind, enum untold_reason reason)
{
	return untold->counts[kind][reason];
}
