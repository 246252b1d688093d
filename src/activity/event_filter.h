/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events are looked at: the same for all that a command shows of a trace. Words of one kind are alternatives, and an event has
 * to be chosen by each kind that has words. The caller owns the struct, which begins zeroed; words are borrowed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct named_event;
struct table;
struct text;

enum filter_kind {
	FILTER_HOST,
	FILTER_CPU,
	FILTER_PROCESS,
	FILTER_THREAD,
	FILTER_SUBSYSTEM,
	FILTER_EVENT,
	FILTER_KINDS
};

enum { FILTER_WORDS_MAX = 64 };

struct filter_words {
	const char *words[FILTER_WORDS_MAX];
	bool is_met[FILTER_WORDS_MAX]; /* an event was there that it names */
	size_t count;                  /* 0: all */
};

struct event_filter {
	uint64_t from_ns, to_ns; /* since the first event; to_ns: 0: to the end */
	struct filter_words words[FILTER_KINDS];
	const struct table
		*threads; /* by the numbers of those that words of FILTER_THREAD name; NULL: the words are asked */
	/* Asked of each event's thread and time, CLOCK_MONOTONIC, with moments; NULL: all pass. */
	bool (*has_moment)(void *moments, uint32_t thread, uint64_t time_ns);
	void *moments;
};

/* The option that adds to it, without dashes: "subsystem". */
const char *filter_kind_name(enum filter_kind kind);

/* Whether it chooses by words. */
bool event_filter_is_set(const struct event_filter *filter);

/* 0; -E2BIG: there are too many words of this kind; -EINVAL: the word cannot be one of them. */
int event_filter_add(struct event_filter *filter, enum filter_kind kind, const char *word);

bool event_filter_passes(struct event_filter *filter, const struct named_event *event);

/* Puts what it chooses by: "--cpu 1 --subsystem net". */
void event_filter_put(const struct event_filter *filter, struct text *text);
