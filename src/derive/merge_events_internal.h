/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What merge_events.h keeps: merge_events.c gives the events of each kind, merge_wakes.c who woke whom, merge_lists.c who lives,
 * merge_ghosts.c what becomes of threads whose trace has ended, and merge_after.c what is told when the trace that is made has ended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive/merge_host.h"
#include "derive/merge_source.h"
#include "derive/merge_spans.h"
#include "derive/merge_threads.h"
#include "events.h"

struct trace_writer;

struct merge_hidden {
	const struct merge_source *source;
	uint64_t time_ns;
	uint32_t tid;
};

struct merge_events {
	struct merge_source *sources;
	size_t count;
	uint64_t last_ns; /* of the last event taken */
	uint64_t now_ns;  /* of sources that grow; 0: none does */
	uint64_t end_ns;  /* of the trace that is made */
	bool has_hosts;   /* several */
	struct trace_writer *writer;
	struct space_numbers *written;
	struct merge_threads *threads;
	struct table *processes;                                /* by pid: the source that says what is mapped */
	const struct merge_source *system_reporters[HOSTS_MAX]; /* say what the rest of each host does */
	const struct merge_source *klock_reporters[HOSTS_MAX];  /* and for what kernel locks it waits */
	struct merge_hidden hidden[CPUS_MAX];                   /* the last one of each CPU */
	uint32_t running[CPUS_MAX];                             /* who got each CPU in the last switch */
	struct merge_thread *ghosts[CPUS_MAX]; /* that had each CPU when their trace had no more to tell */
	struct ev_header *copy;                /* of an event that is changed */
	size_t copy_capacity;
	struct merge_spans spans;
	struct merge_peers *peers;
};

/* --- merge_put.c ----------------------------------------------------------------------------- */

void merge_put(struct merge_events *merge, const struct ev_header *header);

/* With another number for its thread. Valid until the next call. */
struct ev_header *merge_copy_for(struct merge_events *merge, const struct ev_header *header,
				 const struct merge_thread *thread);

/* The thread of the event, if this source is listened to. */
struct merge_thread *merge_recorded(struct merge_events *merge, struct merge_source *source,
				    const struct ev_header *header);

/* --- merge_wakes.c --------------------------------------------------------------------------- */

/* A switch, as it is written, for what ends the wait that it begins. */
void merge_note_wait(struct merge_events *merge, const struct ev_sched_switch *e);
void merge_put_ready(struct merge_events *merge, struct merge_source *source, const struct ev_sched_ready *e);
void merge_put_wake(struct merge_events *merge, struct merge_source *source, const struct merge_event *event);

/* --- merge_lists.c --------------------------------------------------------------------------- */

/* Records are missing. */
void merge_put_gap(struct merge_events *merge, uint64_t time_ns);

/* All that live, of all sources: who is not in it has ended, or is not traced any more. */
void merge_put_list(struct merge_events *merge, uint64_t time_ns);

/* A list of the source's has come to its end. */
void merge_end_list(struct merge_events *merge, struct merge_source *source, uint64_t time_ns);

/*
 * Whether a list says of a thread what is known about it. If what it does is not what it did, it is believed
 * only as if records had been lost.
 */
bool merge_list_is_known(struct merge_events *merge, struct merge_source *source, const struct merge_thread *thread,
			 const struct ev_thread_found *e);

/*
 * A list that begins while the CPU of a thread is given to one that another trace speaks for may have
 * read the thread before: it is found as its own switch, which comes next, leaves it.
 */
void merge_list_correct(struct merge_events *merge, struct merge_source *source, uint32_t number,
			struct ev_thread_found *e);

/* --- merge_after.c --------------------------------------------------------------------------- */

/* Of an event after the end of the trace: whether it is written, which it then is as of the end. */
bool merge_is_told_after(struct merge_events *merge, struct merge_source *source, struct merge_event *event);

/* --- merge_ghosts.c -------------------------------------------------------------------------- */

/* Whether a thread is taken to live of which nobody tells any more. */
bool merge_has_ghosts(struct merge_events *merge);

/* A source was taken an event from: whether it has more to tell may have changed. */
void merge_check_end(struct merge_events *merge, struct merge_source *source, uint64_t time_ns);

/* Before a switch is written: a ghost that had the CPU has left it. */
void merge_lay_ghost(struct merge_events *merge, struct ev_sched_switch *e);
