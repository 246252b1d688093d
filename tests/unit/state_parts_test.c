/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summaries around lost records: of waits and CPUs that a gap cut and that go on long behind it. Others are so busy meanwhile that
 * summaries are kept.
 */
#include "test.h"

#include "session/session.h"
#include "session/threads.h"
#include "state_columns.h"
#include "state_stage.h"
#include "states/share_cells.h"
#include "states/state_log.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "values.h"

enum { WAITER = 1, BUSY, CPU_OF_BUSY = 0, QUIET_CPU, LATE_STACK = 0x77, STEP_NS = 4000, SHIFTS = 8 };

static const uint64_t begin_ns = 1ull << 40, ms = 1 << SHARE_SHIFT /* as long as a cell */;

static struct {
	struct state_stage stage;
	uint64_t now_ns;
	bool is_running; /* the busy one */
} w;

static enum wait_cause cause_of(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				const struct wait_facts *facts, enum wait_cause cause)
{
	(void)data, (void)thread, (void)time_ns, (void)facts;
	return stack == LATE_STACK ? CAUSE_BARRIER : cause;
}

static void tell(uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void be_busy_until(uint64_t time_ns)
{
	for (; w.now_ns < time_ns; w.now_ns += STEP_NS) {
		struct ev_sched_switch out = { .state = SWITCH_RUNNABLE };

		w.is_running = !w.is_running;
		if (w.is_running)
			tell(BUSY, (struct state_change){ .phase = PHASE_RUNNING, .cpu = CPU_OF_BUSY });
		else
			tell(BUSY, (struct state_change){ .phase = PHASE_RUNNABLE, .out = &out });
	}
	w.now_ns = time_ns;
}

static void sleep_without_a_stack(void)
{
	struct ev_sched_switch out = { .state = SWITCH_SLEEPING, .syscall = 35 };

	tell(WAITER, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
}

static void wake_with_the_stack(void)
{
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .flags = WAKE_HAS_WAIT_STACK, .wait_stack = LATE_STACK };

	tell(WAITER, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &wake });
	tell(WAITER, (struct state_change){ .phase = PHASE_RUNNING, .cpu = QUIET_CPU });
}

/* Nobody has the CPU any more. */
static void leave_quiet_cpu(void)
{
	struct ev_sched_switch e = {
		.header = { .subsys = EV_SCHED_SWITCH >> 16,
			    .event = EV_SCHED_SWITCH & 0xffff,
			    .thread = WAITER,
			    .time_ns = w.now_ns },
		.cpu = QUIET_CPU,
		.state = SWITCH_RUNNABLE,
	};

	session_hand_out(w.stage.session, &e.header);
}

static void lose_records(void)
{
	struct ev_collect_gap e = {
		.header = { .subsys = EV_COLLECT_GAP >> 16, .event = EV_COLLECT_GAP & 0xffff, .time_ns = w.now_ns },
		.lost = 1,
		.cpu = QUIET_CPU,
	};

	session_hand_out(w.stage.session, &e.header);
}

static void set_up(void)
{
	memset(&w, 0, sizeof(w));
	state_stage_open_naming(&w.stage, cause_of);
	state_log_subscribe(w.stage.log, w.stage.session);
	w.now_ns = begin_ns;
	tell(WAITER, (struct state_change){ .phase = PHASE_RUNNING, .cpu = QUIET_CPU });
	tell(BUSY, (struct state_change){ .phase = PHASE_RUNNABLE });
}

static size_t chunks_of(enum trace_chunk_kind kind)
{
	size_t count, found = 0;
	const struct trace_place *places = trace_reader_places(states_file(w.stage.states), &count);

	for (size_t i = 0; i < count; i++)
		found += places[i].kind == kind && places[i].count == 0;
	return found;
}

static void check(void)
{
	static const uint32_t numbers[] = { WAITER, BUSY };

	CHECK(chunks_of(TRACE_CHUNK_STATE_SHARES) >= 2);
	CHECK(chunks_of(TRACE_CHUNK_CPU_SHARES) >= 2);
	for (unsigned int shift = SHARE_SHIFT - 1; shift < SHARE_SHIFT + SHIFTS; shift++)
		for (uint64_t time_ns = begin_ns; time_ns < w.now_ns; time_ns += 1ull << (shift + 8)) {
			CHECK(thread_columns_agree(w.stage.states, numbers, 2, time_ns, shift));
			CHECK(cpu_columns_agree(w.stage.states, CPU_OF_BUSY, time_ns, shift));
			CHECK(cpu_columns_agree(w.stage.states, QUIET_CPU, time_ns, shift));
		}
}

/* Behind the gap the first wait is unknown; the second one, in the same cell, keeps its cause. */
TEST(a_late_cause_is_that_of_its_wait_up_to_the_gap_alone)
{
	set_up();
	be_busy_until(begin_ns + 10 * ms + ms / 3);
	sleep_without_a_stack();
	leave_quiet_cpu();
	be_busy_until(begin_ns + 100 * ms);
	leave_quiet_cpu(); /* the last that is known of the CPU before the gap */
	be_busy_until(begin_ns + 300 * ms);
	lose_records();
	be_busy_until(begin_ns + 400 * ms + ms / 4);
	wake_with_the_stack();
	be_busy_until(begin_ns + 400 * ms + ms / 3);
	sleep_without_a_stack();
	be_busy_until(begin_ns + 900 * ms);
	state_stage_finish(&w.stage, w.now_ns);
	check();
	state_stage_close(&w.stage);
}

TEST(a_cpu_without_a_change_since_a_gap_is_unknown_in_later_blocks)
{
	uint64_t blocks_ns = 70000ull * STEP_NS; /* more than a block has records */

	set_up();
	be_busy_until(begin_ns + 10 * ms);
	sleep_without_a_stack();
	leave_quiet_cpu();
	be_busy_until(begin_ns + 20 * ms);
	lose_records();
	be_busy_until(begin_ns + 3 * blocks_ns);
	state_stage_finish(&w.stage, w.now_ns);
	check();
	state_stage_close(&w.stage);
}
