/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/states_making.h"

#include <stdbool.h>
#include <stdlib.h>

#include "account/criticality.h"
#include "base/memory.h"
#include "base/table.h"
#include "engine/trace_open.h"
#include "findings/names/path_names.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "states/activity.h"
#include "states/state_log.h"
#include "symbol/symbol.h"
#include "trace/trace_writer.h"
#include "waits/files.h"
#include "waits/others.h"

enum { PENDING_BYTES_MAX = 1 << 20 };

/* A rule knew a function above the wait. */
static const uintptr_t IS_NAMED = 1 << 16;

static char is_unknown[1];

struct states_making {
	struct trace_writer *writer;
	struct session *stack_events, *session;
	struct threads *threads;
	struct stacks *stacks;
	struct symbols *symbols;
	struct files *files;
	struct others *others;
	struct criticality *criticality;
	struct activity_log *activities;
	struct state_log *log;
	struct path_names *names;
	struct table *causes;  /* by what they depend on; each plus 1, and IS_NAMED */
	struct table *futexes; /* causes of waits for them that have a stack, by their addresses; each plus 1 */
	struct table *unknown; /* stacks that waits named before their frames came; each is_unknown */
	bool has_late_stacks;
	uint64_t last_ns;  /* of any event */
	uint64_t ended_ns; /* of tracing; 0: the trace does not say */
};

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value));
}

/* Where waits have no stack, others for the same futex say what it is. */
static enum wait_cause cause_of_futex(struct states_making *making, const struct thread *thread,
				      const struct wait_facts *facts, enum wait_cause cause, bool is_named)
{
	uint64_t key = mix(facts->object, (uint64_t)thread->pid << 32 | thread->exec_count);
	uintptr_t known;

	if (is_named)
		table_put(making->futexes, key, (void *)(uintptr_t)(cause + 1));
	known = (uintptr_t)table_find(making->futexes, key);
	return known ? known - 1 : cause;
}

static enum wait_cause cause_of(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				const struct wait_facts *facts, enum wait_cause cause)
{
	struct states_making *making = data;
	uint64_t key =
		mix(mix(stack, (uint64_t)thread->pid << 32 | thread->exec_count),
		    (uint64_t)facts->syscall << 32 | (uint32_t)facts->operation << 16 | cause << 8 | facts->state);
	uintptr_t known = (uintptr_t)table_find(making->causes, key);
	struct wait_meaning meaning;

	if (!stack && wait_has_futex(facts))
		return cause_of_futex(making, thread, facts, cause, false);
	if (!known) {
		if (stack && !stacks_find(making->stacks, stack))
			table_put(making->unknown, stack, is_unknown);
		meaning = path_names_meaning(making->names, thread->pid, time_ns, stack, facts, cause);
		known = (meaning.cause + 1) | (meaning.is_named ? IS_NAMED : 0);
		table_put(making->causes, key, (void *)known);
	}
	if (known & IS_NAMED && wait_has_futex(facts))
		cause_of_futex(making, thread, facts, (known & ~IS_NAMED) - 1, true);
	return (known & ~IS_NAMED) - 1;
}

/* What others need to know to read the states, and where threads ran. */
static bool is_description(const struct ev_header *header)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_THREAD:
		return header->event != TRACE_EVENT_THREAD_WAITS;
	case TRACE_SUBSYS_STACK:
		return header->event == TRACE_EVENT_STACK_FRAMES;
	case TRACE_SUBSYS_SCHED:
		return header->event == TRACE_EVENT_SCHED_SAMPLE;
	case TRACE_SUBSYS_KLOCK:
		return header->event == TRACE_EVENT_KLOCK_LOCK;
	case TRACE_SUBSYS_SPACE:
	case TRACE_SUBSYS_FILE:
	case TRACE_SUBSYS_SPAN:
		return true;
	case TRACE_SUBSYS_CLOCK:
		return header->event == TRACE_EVENT_CLOCK_HOST;
	case TRACE_SUBSYS_COLLECT:
		return header->event == TRACE_EVENT_COLLECT_RUN || header->event == TRACE_EVENT_COLLECT_GAP ||
		       header->event == TRACE_EVENT_COLLECT_END;
	}
	return false;
}

static bool is_frames(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_STACK && header->event == TRACE_EVENT_STACK_FRAMES;
}

static void open_log(struct states_making *making)
{
	making->log = state_log_new(making->writer, &(struct state_log_options){
							    .threads = making->threads,
							    .files = making->files,
							    .others = making->others,
							    .cause_of = cause_of,
							    .cause_data = making,
						    });
	making->criticality = criticality_new(making->session, making->threads,
					      &(struct criticality_options){
						      .has_no_paths = true,
						      .listener = state_log_listener(making->log),
						      .is_of_all = true,
					      });
	state_log_subscribe(making->log, making->session);
	making->activities = activity_log_new(making->session, making->writer);
}

struct states_making *states_making_new(struct trace_writer *writer, bool opens_files)
{
	struct states_making *making = xcalloc(1, sizeof(*making));

	making->writer = writer;
	making->stack_events = session_new(1, PENDING_BYTES_MAX);
	making->session = session_new(1, PENDING_BYTES_MAX);
	making->threads = threads_new(making->session);
	making->stacks = stacks_new(making->stack_events, 0);
	making->symbols = symbols_new(making->session);
	making->files = files_new(making->session, 0);
	making->others = others_new(making->session);
	symbols_set_offline(making->symbols, opens_files);
	making->names = path_names_new(making->symbols, making->stacks, NULL);
	making->causes = table_new();
	making->futexes = table_new();
	making->unknown = table_new();
	open_log(making);
	return making;
}

void states_making_free(struct states_making *making)
{
	if (!making)
		return;
	activity_log_free(making->activities);
	criticality_free(making->criticality);
	state_log_free(making->log);
	path_names_free(making->names);
	table_free(making->causes);
	table_free(making->futexes);
	table_free(making->unknown);
	others_free(making->others);
	files_free(making->files);
	symbols_free(making->symbols);
	stacks_free(making->stacks);
	threads_free(making->threads);
	session_free(making->session);
	session_free(making->stack_events);
	free(making);
}

void states_making_take_names(struct states_making *making, struct trace_reader *trace)
{
	trace_take_names(trace, making->symbols, NULL);
}

void states_making_take_stack(struct states_making *making, const struct ev_header *header)
{
	if (!is_frames(header))
		return;
	if (table_find(making->unknown, ((const struct ev_stack_frames *)header)->stack))
		making->has_late_stacks = true;
	session_hand_out(making->stack_events, header);
}

bool states_making_has_late_stacks(const struct states_making *making)
{
	return making->has_late_stacks;
}

void states_making_take(struct states_making *making, const struct ev_header *header)
{
	session_hand_out(making->session, header);
	if (header->time_ns > making->last_ns)
		making->last_ns = header->time_ns;
	if (header->subsys == TRACE_SUBSYS_COLLECT && header->event == TRACE_EVENT_COLLECT_END)
		making->ended_ns = ((const struct ev_collect_end *)header)->ended_ns;
	if (is_description(header))
		trace_writer_event(making->writer, header);
}

bool states_making_is_between_blocks(const struct states_making *making)
{
	return state_log_is_between_blocks(making->log);
}

void states_making_flush(struct states_making *making)
{
	trace_writer_flush(making->writer, UINT64_MAX, 0);
	state_log_flush(making->log);
	activity_log_flush(making->activities);
}

/* As the report has it: what comes after the end of tracing says nothing of threads, unless they changed. */
static uint64_t end_ns(const struct states_making *making)
{
	uint64_t now_ns = criticality_now_ns(making->criticality);
	uint64_t ended_ns = making->ended_ns ? making->ended_ns : making->last_ns;

	return now_ns > ended_ns ? now_ns : ended_ns;
}

void states_making_finish(struct states_making *making)
{
	state_log_finish(making->log, end_ns(making));
	activity_log_finish(making->activities, end_ns(making));
}
