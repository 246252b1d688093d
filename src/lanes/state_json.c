/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/state_json.h"

#include <errno.h>

#include "base/memory.h"
#include "graph/critical_path.h"
#include "graph/graph_label.h"
#include "graph/wait_end.h"
#include "lanes/cpu_users.h"
#include "lanes/lanes_json.h"
#include "lanes/same_wait.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "session/syscalls.h"
#include "states/states.h"
#include "values.h"
#include "view/graph/path_text.h"
#include "view/json/json_fields.h"

enum { PATH_PARTS_MAX = 200 };

static const uint64_t same_wait_budget_ns = 50000000;

static const char *label_of(struct graph_labels *labels, enum graph_kind kind, uint32_t id)
{
	return graph_label(labels, &(struct graph_node){ .kind = kind, .id = id });
}

const char *state_who(struct graph_labels *labels, uint32_t thread)
{
	return label_of(labels, GRAPH_THREAD, thread);
}

const char *state_ended_by(struct graph_labels *labels, const struct state_value *ended)
{
	enum graph_kind kind = wait_end_kind(ended);

	if (kind == GRAPH_UNKNOWN)
		return NULL;
	return label_of(labels, kind, kind == GRAPH_OTHER ? ended->tid : ended->thread);
}

struct graph_wait state_wait(const struct trace_states *all, const struct lanes *lanes, uint32_t thread,
			     const struct state *state, bool *is_of_another)
{
	uint32_t other_thread;
	struct state other;

	*is_of_another = state->kind == STATE_BLOCKED && !state->value.stack &&
			 same_wait_find(all, lanes, thread, state, same_wait_budget_ns, &other_thread, &other);
	return *is_of_another ? graph_wait_of(other_thread, &other) : graph_wait_of(thread, state);
}

static const char *what_of(struct graph_labels *labels, uint32_t thread, const struct state *state,
			   const struct graph_wait *wait)
{
	switch (state->kind) {
	case STATE_RUNNING:
		return label_of(labels, GRAPH_RUNNING, thread);
	case STATE_SPINNING:
		return label_of(labels, GRAPH_SPINNING, thread);
	case STATE_RUNNABLE:
		return label_of(labels, state->value.why == READY_THROTTLED ? GRAPH_CPU_LIMIT : GRAPH_CPU, thread);
	case STATE_BLOCKED:
		return graph_label(labels, &(struct graph_node){ .kind = GRAPH_WAIT, .wait = *wait });
	case STATE_UNKNOWN:
		break;
	}
	return label_of(labels, GRAPH_UNKNOWN, thread);
}

/* Of a wait who ended it; of a thread that is ready who woke it. False: nobody is known. */
static bool find_waker(struct graph_labels *labels, const struct state *state, struct result_waker *out)
{
	const struct state_value *ended = state->kind == STATE_BLOCKED ? &state->ended : &state->value;
	const char *who = state_ended_by(labels, ended);
	struct graph_wait wake = { .stack = ended->stack, .thread = ended->thread, .time_ns = state->end_ns };

	if ((state->kind != STATE_BLOCKED && state->kind != STATE_RUNNABLE) || !who)
		return false;
	*out = (struct result_waker){ .thread = ended->thread, .who = who };
	if (ended->thread && ended->stack)
		out->frame_count = graph_wait_frames(labels, &wake, &out->frames);
	return true;
}

static struct result_path path_of(const struct trace_states *all, struct graph_labels *labels, uint32_t thread,
				  const struct state *state, struct arena *arena)
{
	struct critical_path path;
	struct result_path result;

	critical_path_of(all->states, thread, state->begin_ns, state->end_ns, &path);
	result = path_result(
		&(struct path_view){
			.path = &path,
			.labels = labels,
			.thread = thread,
			.first_ns = trace_states_time(all, 0),
		},
		PATH_PARTS_MAX, arena);
	critical_path_fini(&path);
	return result;
}

int state_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes,
		   struct graph_labels *labels, uint32_t thread, uint64_t time_ns)
{
	uint64_t first_ns = trace_states_time(all, 0);
	struct result_state result = { .thread = thread };
	struct result_cpu_user users[CPU_USERS_MAX];
	struct result_waker waker;
	struct result_path path;
	struct graph_wait wait;
	struct arena *arena;
	struct state state;
	uint32_t cpu;

	if (!states_at(all->states, thread, time_ns, &state))
		return -ENOENT;
	arena = arena_new();
	result.who = state_who(labels, thread);
	result.begin_ns = state.begin_ns - first_ns;
	result.end_ns = state.end_ns - first_ns;
	result.share = lane_share_name(state_share(state.kind, state.value.why));
	result.cpu = state.cpu;
	result.has_cpu = (state.kind == STATE_RUNNING || state.kind == STATE_SPINNING) && state.cpu < CPUS_MAX;
	wait = state_wait(all, lanes, thread, &state, &result.is_stack_of_another);
	result.what = what_of(labels, thread, &state, &wait);
	if (state.kind == STATE_BLOCKED) {
		result.syscall = syscall_name(wait.syscall);
		result.frame_count = graph_wait_frames(labels, &wait, &result.frames);
		path = path_of(all, labels, thread, &state, arena);
		result.path = &path;
	}
	result.users = users;
	result.user_count = cpu_users_of(all, labels, thread, &state, users, &cpu);
	if (result.user_count) {
		result.cpu = cpu;
		result.has_cpu = true;
	}
	if (find_waker(labels, &state, &waker))
		result.waker = &waker;
	json_put_document(out, result_state_type(), &result);
	arena_free(arena);
	return 0;
}
