/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a format is handed, and what it is. Strings are a traced program's and escaped by nobody, unless it says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_frame.h"
#include "states/state.h"

struct export_choice;
struct export_files;
struct export_out;
struct graph_labels;
struct stack_sums;
struct trace_states;

struct export_thread {
	uint32_t number;   /* of the trace */
	uint32_t tid, pid; /* unique in the trace: of several hosts, the host's number stands above HOST_ID_SHIFT */
	uint32_t ns_tid, ns_pid;           /* as the program sees them */
	const char *name, *process, *host; /* host: NULL: there is only one */
};

/* A state of a thread, or the part of it in the range of time. */
struct export_slice {
	const struct export_thread *thread;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	unsigned int share;        /* state_share() */
	const char *state;         /* "running", "lock" */
	const char *object;        /* what a wait is for; NULL: not known, or no wait */
	const char *ended_by;      /* of a wait: who ended it; NULL: not known */
	uint64_t cmetric_ns;       /* of an active thread */
	uint32_t cpu;
	bool has_cpu;
	const struct report_frame *frames; /* where a wait began, innermost first */
	size_t frame_count;
	uint64_t woken_by; /* the number of the wake-up that it follows; 0: none */
};

struct export_wake {
	uint64_t number;  /* from 1 on */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const struct export_thread *waker, *woken;
};

/* A sample of a running thread. */
struct export_sample {
	const struct export_thread *thread;
	uint64_t time_ns;
	const struct report_frame *frames; /* innermost first */
	size_t frame_count;
	uint64_t cpu_ns, cmetric_ns; /* what the thread ran, and the CMetric of it, since its previous sample */
};

/* An event of a program's own. */
struct export_event {
	const struct export_thread *thread; /* NULL: not known */
	uint64_t time_ns;
	const char *name;   /* "subsystem.event" */
	const char *fields; /* "a=1 b=2", escaped */
};

struct export_activity {
	const struct export_thread *thread;
	uint64_t number; /* from 1 on */
	uint64_t begin_ns, end_ns;
	const char *name;
	const char *fields; /* not escaped */
};

/* How many traced threads have a CPU, and how many want one. */
struct export_counters {
	uint64_t time_ns;
	uint32_t running, runnable;
};

/* A format has what it can carry; the rest is NULL. Data is what begin() returned. */
struct export_format {
	const char *name, *help;
	const char *lacks; /* what it cannot carry; NULL: nothing */
	bool is_binary;    /* nobody reads it on a terminal */
	bool is_directory; /* it writes into a directory, by itself */
	int (*load)(void); /* what it needs besides, before all else. 0; a negative errno, after a message */
	void *(*begin)(struct export_out *out, const struct trace_states *all);
	void (*thread)(void *data, const struct export_thread *thread); /* before anything that names it */
	void (*slice)(void *data, const struct export_slice *slice);
	void (*wake)(void *data, const struct export_wake *wake);
	void (*sample)(void *data, const struct export_sample *sample);
	void (*unsampled)(void *data,
			  const struct export_sample *rest); /* at the end: what a thread ran since its last sample */
	void (*event)(void *data, const struct export_event *event);
	void (*activity)(void *data, const struct export_activity *activity);
	void (*counters)(void *data, const struct export_counters *counters);
	void (*files)(void *data, const struct export_files *files); /* at the end; they live longer than data */
	void (*sums)(void *data, const struct stack_sums *sums, const struct export_files *files);
	void (*end)(void *data); /* and frees data */
};

/* How many of what were handed over. */
struct export_counts {
	uint64_t slices, wakes, samples, events, activities;
	uint64_t stacks_left_out_ns; /* weight of call paths that found no space */
};

struct export_options {
	const struct export_format *format;
	const char *path;        /* of the trace */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	const uint32_t *threads; /* their numbers */
	size_t thread_count;
	struct graph_labels *labels;
	const struct export_choice *choice; /* NULL: all states */
};
