/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread of a profile of Firefox Profiler has, in the order in which it comes: records in a spill until columns are made of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "export/spill.h"

struct export_thread;

struct firefox_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t stack;   /* from 1 on; 0: none is known */
	uint64_t cmetric_ns;
	uint64_t cpu_ns; /* what the thread ran since its previous record of this kind */
};

enum firefox_kind { FIREFOX_STATE, FIREFOX_WAKE, FIREFOX_EVENT, FIREFOX_ACTIVITY };

struct firefox_marker {
	enum firefox_kind kind;
	uint32_t name, category;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t wake;             /* STATE: the wake-up that it follows; WAKE: its number; 0: none */
	/* STATE. Strings and numbers are one more than they are; 0: not known. */
	uint32_t object, ended_by, cpu, stack;
	uint64_t cmetric_ns;
	uint32_t woken, tid; /* WAKE: a string, and the thread's */
	struct text fields;  /* EVENT, ACTIVITY; not escaped as JSON */
};

/* Of one thread; begins zeroed but for its strings of the spill. */
struct firefox_thread {
	const struct export_thread *thread;
	uint32_t samples, markers; /* of the spill */
	uint64_t sample_count, marker_count;
	uint64_t sample_ns, marker_ns; /* of the last ones */
	uint64_t first_ns, last_ns;    /* of the thread; first_ns: 0: nothing is known of it */
	uint64_t sampled_ns;           /* when it was seen running */
	uint64_t pending_ns;           /* what it ran since its last record; of that, slices that are over */
	uint64_t counted_ns;           /* what it ran since it was seen running, and records have already */
	uint64_t waited_ns;            /* when its last wait ended; 0: no record is wanted of that */
};

void firefox_put_sample(struct spill *spill, struct firefox_thread *thread, const struct firefox_sample *sample);
void firefox_put_marker(struct spill *spill, struct firefox_thread *thread, const struct firefox_marker *marker);

/* Records in the order of putting; the struct begins zeroed and is given back as it is. False: there are no more. */
bool firefox_next_sample(struct spill_reader *reader, struct firefox_sample *sample);
bool firefox_next_marker(struct spill_reader *reader, struct firefox_marker *marker);
