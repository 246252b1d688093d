/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events a request chooses. */
#pragma once

#include "activity/event_filter.h"
#include "base/text.h"

struct arena;
struct request;
struct table;
struct trace_states;

struct asked_filter {
	struct event_filter filter;
	struct text key;       /* the same as one text */
	struct arena *arena;   /* of words */
	struct table *threads; /* that words name; NULL: they are not looked up, or there are none */
};

/*
 * Reads host, cpu, process, thread, subsystem and event: words, which may be repeated; from, to: ns since the first event. 0, or a negative
 * errno: a word cannot be one. asked_filter_fini() in any case.
 */
int asked_filter_read(const struct request *request, struct asked_filter *asked);
void asked_filter_fini(struct asked_filter *asked);

/* Whether it chooses at all. */
bool asked_filter_is_set(const struct asked_filter *asked);

/* Looks names of threads up in the history of states. 0, or -ENOENT: there is none of that name. */
int asked_filter_find_threads(struct asked_filter *asked, const struct trace_states *states, const char *trace_path);
