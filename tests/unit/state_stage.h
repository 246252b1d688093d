/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history of states that a test makes by telling what threads do, and then asks. */
#pragma once

#include <stdint.h>

#include "account/measures/state_listener.h"
#include "waits/wait_cause.h"

struct files;
struct others;
struct session;
struct state_log;
struct states;
struct thread;
struct threads;
struct trace_writer;

struct state_stage {
	char path[64];
	struct session *session;
	struct threads *threads;
	struct files *files;
	struct others *others;
	struct trace_writer *writer;
	struct state_log *log;
	const struct state_listener *listener; /* of each change */
	struct states *states;                 /* NULL until the end */
};

void state_stage_open(struct state_stage *stage);

/* As struct state_log_options has it. */
typedef enum wait_cause state_stage_cause_fn(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
					     const struct wait_facts *facts, enum wait_cause cause);

void state_stage_open_naming(struct state_stage *stage, state_stage_cause_fn *cause_of);

/* There are no more events. */
void state_stage_finish(struct state_stage *stage, uint64_t end_ns);
void state_stage_close(struct state_stage *stage);
