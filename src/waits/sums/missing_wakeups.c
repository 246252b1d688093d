/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/missing_wakeups.h"

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

/* Cases come in the order of their ends, except for records that come late. */
static const uint64_t late_ns_max = 10000000;

/* Events of some CPU are missing between these moments. */
struct silence {
	uint64_t begin_ns, end_ns;
	enum missing_reason reason;
};

struct missing_wakeup {
	uint64_t begin_ns, end_ns;
	bool is_open;
	enum missing_kind kind;
	struct case_row {
		struct arena *arena;
		struct wait_waker **list;
		uint64_t wait_ns;
		double weight;
	} rows[LISTS_MAX];
	size_t row_count;
};

struct missing_wakeups {
	struct silence silences[REASONS_KEPT];
	size_t silence_count; /* of all so far */
	struct missing_wakeup cases[CASES_MAX];
	size_t case_count; /* of all so far */
	uint64_t counts[MISSING_KINDS][MISSING_REASONS];
	uint64_t recorded_ns[CPUS_MAX]; /* the last switch of each CPU */
};

static bool is_within(const struct silence *silence, uint64_t begin_ns, uint64_t end_ns)
{
	return silence->begin_ns <= end_ns && begin_ns <= silence->end_ns;
}

static void explain(struct missing_wakeups *missing, struct missing_wakeup *one, enum missing_reason reason)
{
	one->is_open = false;
	missing->counts[one->kind][MISSING_ODD]--;
	missing->counts[one->kind][reason]++;
	if (reason != MISSING_HIDDEN)
		return;
	for (size_t i = 0; i < one->row_count; i++) {
		const struct case_row *row = &one->rows[i];

		wait_wakers_hide(row->arena, row->list, row->wait_ns, row->weight);
	}
}

static void add_silence(struct missing_wakeups *missing, enum missing_reason reason, uint64_t begin_ns, uint64_t end_ns)
{
	struct silence *silence = &missing->silences[missing->silence_count++ % REASONS_KEPT];
	size_t first = missing->case_count > CASES_MAX ? missing->case_count - CASES_MAX : 0;

	*silence = (struct silence){ begin_ns, end_ns, reason };
	for (size_t i = missing->case_count; i > first; i--) {
		struct missing_wakeup *one = &missing->cases[(i - 1) % CASES_MAX];

		if (one->end_ns + late_ns_max < begin_ns)
			break;
		if (one->is_open && is_within(silence, one->begin_ns, one->end_ns))
			explain(missing, one, reason);
	}
}

static void on_switch(void *data, const struct ev_header *header)
{
	struct missing_wakeups *missing = data;

	missing->recorded_ns[((const struct ev_sched_switch *)header)->cpu] = header->time_ns;
}

static void on_hidden(void *data, const struct ev_header *header)
{
	const struct ev_sched_hidden *e = (const struct ev_sched_hidden *)header;
	struct missing_wakeups *missing = data;

	add_silence(missing, MISSING_HIDDEN, e->begin_ns ? e->begin_ns : missing->recorded_ns[e->cpu], header->time_ns);
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const struct ev_collect_gap *)header;
	struct missing_wakeups *missing = data;

	add_silence(missing, MISSING_LOST, e->cpu < CPUS_MAX ? missing->recorded_ns[e->cpu] : 0, header->time_ns);
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_HIDDEN, on_hidden },
	{ EV_COLLECT_GAP, on_gap },
	{ 0, NULL },
};

struct missing_wakeups *missing_wakeups_new(struct session *session)
{
	struct missing_wakeups *missing = xcalloc(1, sizeof(*missing));

	session_subscribe(session, handlers, missing);
	return missing;
}

void missing_wakeups_free(struct missing_wakeups *missing)
{
	free(missing);
}

static enum missing_reason find_reason(const struct missing_wakeups *missing, uint64_t begin_ns, uint64_t end_ns)
{
	size_t count = missing->silence_count;
	size_t first = count > REASONS_KEPT ? count - REASONS_KEPT : 0;

	for (size_t i = count; i > first; i--) {
		const struct silence *silence = &missing->silences[(i - 1) % REASONS_KEPT];

		if (is_within(silence, begin_ns, end_ns))
			return silence->reason;
	}
	return MISSING_ODD;
}

enum missing_reason missing_wakeups_add(struct missing_wakeups *missing, enum missing_kind kind, uint64_t begin_ns,
					uint64_t end_ns, struct missing_wakeup **open)
{
	enum missing_reason reason = find_reason(missing, begin_ns, end_ns);
	struct missing_wakeup *one = NULL;

	missing->counts[kind][reason]++;
	if (reason == MISSING_ODD) {
		one = &missing->cases[missing->case_count++ % CASES_MAX];
		*one = (struct missing_wakeup){ begin_ns, end_ns, .is_open = true, .kind = kind };
	}
	if (open)
		*open = one;
	return reason;
}

void missing_wakeups_note_waker(struct missing_wakeup *open, struct arena *arena, struct wait_waker **list,
				uint64_t wait_ns, double weight)
{
	if (!open || !weight)
		return;
	assert(open->row_count < LISTS_MAX);
	open->rows[open->row_count++] = (struct case_row){ arena, list, wait_ns, weight };
}

uint64_t missing_wakeups_count(const struct missing_wakeups *missing, enum missing_kind kind,
			       enum missing_reason reason)
{
	return missing->counts[kind][reason];
}
