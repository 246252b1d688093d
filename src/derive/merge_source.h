/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of the traces that are merged: its events, read a little ahead, so that the records of one switch by
 * several pinches can be found together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "values.h"

struct carried_names;
struct merge_host;
struct space_numbers;
struct table;
struct prologue;
struct trace_reader;

struct merge_event {
	struct merge_event *next;
	struct merge_event *next_on_cpu; /* of a switch */
	uint64_t time_ns;                /* not before that of the event before */
	bool is_joined;                  /* another one's record has shown it: it was followed */
	struct ev_header header;         /* and what follows it */
};

struct merge_cpu {
	struct merge_event *first, *last; /* switches that were read and not taken */
	bool is_after_hidden; /* the last one taken was to a traced thread, after what the kernel has hidden */
};

struct merge_source {
	const char *name;        /* for messages; borrowed */
	struct merge_host *host; /* whose trace it is */
	struct trace_reader *reader;
	struct prologue *now; /* as of the last event taken, and of those joined */
	struct carried_names *names;
	struct table *numbers;      /* of threads: struct merge_thread */
	struct table *moved;        /* threads that have done something after the end of the trace that is made */
	struct ev_collect_run *run; /* copies; NULL: it has none */
	struct ev_collect_end *end;
	uint8_t spans[SPANS_MAX];         /* in the trace that is made, + 1; 0: none */
	struct merge_event *first, *last; /* read and not taken */
	size_t queued_bytes;
	size_t emission_count; /* of these, those that tell what threads do */
	struct merge_cpu *cpus;
	uint64_t last_ns;    /* of the events read */
	uint64_t begin_ns;   /* of the first event read */
	uint64_t floor_ns;   /* what is earlier happens then */
	uint64_t late_count; /* of such that are not of its beginning */
	size_t damaged_count;
	int err;         /* it cannot be read any more */
	bool is_growing; /* there may be more to read later */
	bool is_read;    /* all of it */
	bool is_silent;  /* its events of threads were taken */
	bool has_ended;  /* all of it was taken */
	bool is_in_gap, is_list_damaged;
	bool is_listed; /* its first list of threads is complete */
};

/* 0, or a negative errno after having said why it cannot be read. */
int merge_source_open(struct merge_source *source, const char *path, const char *name,
		      const struct space_numbers *written);
void merge_source_close(struct merge_source *source);

/* Reads ahead up to until_ns, or as far as there is space. */
void merge_source_fill(struct merge_source *source, uint64_t until_ns);

/* Takes the first event out, to be freed; NULL: there is none. */
struct merge_event *merge_source_take(struct merge_source *source);
