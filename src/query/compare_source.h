/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace of which something is compared. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "compare/comparison.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "spans/execution.h"
#include "whatif/run_code.h"

struct fold_rules;
struct settings;

/* The struct begins zeroed. */
struct compare_source {
	const char *path;
	char *name; /* what is compared of it */
	struct trace_states all;
	struct chosen_threads chosen;
	struct compared_trace trace;
	struct executions executions; /* of the threads and the time asked for */
	bool is_whole;                /* from the beginning of a command to its end */
	struct run_code samples;      /* once somebody asks for them */
	bool has_samples;
};

/* 0, or a negative errno after a message. The caller closes it in either case. */
int compare_source_open(struct compare_source *source, const char *path, const struct settings *settings,
			const struct fold_rules *fold);
/* So that waits whose call path was not recorded are named after others. Looks at all states of the trace. */
void compare_source_learn_places(struct compare_source *source);

void compare_source_close(struct compare_source *source);

/* Where its threads ran, with names; read at the first call. */
const struct run_code *compare_source_samples(struct compare_source *source);

/* What a thread is called, together with those that differ from it in numbers. */
const char *compare_source_thread(const struct compare_source *source, uint32_t thread);
