/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is unusual among programs' own events: beginnings without an end, an order of two events that else never is, a silence of a
 * kind of events, a burst of it. Each needs many events that are otherwise; of what is rare by itself nothing is said.
 * (Stolz and Grest, Trace Collection, Analysis, and Visualization for Barrelfish, section 6.1.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct event_context;
struct hints;
struct named_event;
struct pairs;

enum { HINTS_OF_KIND_MAX = 3, HINT_KINDS = HINT_BURST + 1, HINTS_MAX = HINT_KINDS * HINTS_OF_KIND_MAX };

struct hint {
	enum hint_kind kind;
	char name[160];    /* not escaped: of an event, of two events, or of a pair */
	uint64_t count;    /* how often that was */
	uint64_t others;   /* how often it was otherwise */
	uint64_t ns;       /* SILENCE: how long; BURST: of the stretch of time; else 0 */
	uint64_t usual_ns; /* SILENCE: 99 % of the others are as short; else 0 */
	uint64_t at_ns;    /* CLOCK_MONOTONIC: the first one */
	uint32_t tid;      /* its thread, as its host numbers it; 0: none, or not known */
	char thread_name[16];
};

struct hints *hints_new(void);
void hints_free(struct hints *hints);

/* An event of a program's own, in order. */
void hints_on_event(struct hints *hints, const struct named_event *event);

/* There are no more: what is unusual, kind by kind, the surest first, at most HINTS_MAX. The context names threads. */
size_t hints_find(const struct hints *hints, const struct pairs *pairs, const struct event_context *context,
		  struct hint *out);
