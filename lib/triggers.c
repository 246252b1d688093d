/* SPDX-License-Identifier: BSD-2-Clause */
#include "triggers.h"

#include <errno.h>
#include <stdbool.h>

#include "area.h"
#include "pinchtrace.h"
#include "ticks.h"

static uint32_t phase(uint32_t state)
{
	return state & PINCHTRACE_PHASE_MASK;
}

static uint32_t with_phase(uint32_t state, uint32_t new_phase)
{
	return (state & ~PINCHTRACE_PHASE_MASK) | new_phase;
}

static bool state_change(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&pinchtrace_area.control->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Where it goes from running. */
static uint32_t stopped(uint32_t state)
{
	uint32_t mode = __atomic_load_n(&pinchtrace_area.control->mode, __ATOMIC_RELAXED);

	return with_phase(state, mode == PINCHTRACE_MODE_REPEATED ? PINCHTRACE_PHASE_ARMED : PINCHTRACE_PHASE_DONE);
}

/* --- Changing them ----------------------------------------------------------------------- */

/* recorded_count: events that count already. */
static void start(uint32_t state, uint64_t recorded_count)
{
	struct pinchtrace_control *control = pinchtrace_area.control;
	uint64_t now_ns = pinchtrace_clock_ns(CLOCK_MONOTONIC);
	uint64_t duration_ns = __atomic_load_n(&control->duration_ns, __ATOMIC_RELAXED);
	uint64_t count = __atomic_load_n(&control->count, __ATOMIC_RELAXED);
	uint32_t next = with_phase(state, PINCHTRACE_PHASE_RUNNING);

	__atomic_store_n(&control->deadline_ns, duration_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + duration_ns,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&control->count_left, count - recorded_count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&control->start_count, 1, __ATOMIC_RELAXED);
	if (count && count == recorded_count &&
	    __atomic_load_n(&control->mode, __ATOMIC_RELAXED) != PINCHTRACE_MODE_CONTINUOUS)
		next = stopped(state);
	/* Unless they were set anew meanwhile. */
	state_change(state, next);
}

/* Before another word of them changes. */
static uint32_t begin_change(void)
{
	struct pinchtrace_control *control = pinchtrace_area.control;
	uint32_t old = __atomic_load_n(&control->state, __ATOMIC_RELAXED), next;

	do {
		next = with_phase(old + PINCHTRACE_PHASE_MASK + 1, PINCHTRACE_PHASE_BUSY);
	} while (!__atomic_compare_exchange_n(&control->state, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return next;
}

static void mark(uint32_t key)
{
	if ((key & 0xffff) != TRACE_NO_EVENT)
		__atomic_fetch_or(&pinchtrace_on[key & 0xffff], PINCHTRACE_ON_TRIGGER, __ATOMIC_RELAXED);
}

static void unmark(uint32_t key)
{
	__atomic_fetch_and(&pinchtrace_on[key & 0xffff], (unsigned char)~PINCHTRACE_ON_TRIGGER, __ATOMIC_RELAXED);
}

/* state: as begin_change() returned it. */
static void set(uint32_t state, uint32_t start_key, uint32_t stop_key, uint64_t duration_ns, uint64_t count, int mode)
{
	struct pinchtrace_control *control = pinchtrace_area.control;

	unmark(control->start);
	unmark(control->stop);
	__atomic_store_n(&control->start, start_key, __ATOMIC_RELAXED);
	__atomic_store_n(&control->stop, stop_key, __ATOMIC_RELAXED);
	__atomic_store_n(&control->mode, mode, __ATOMIC_RELAXED);
	__atomic_store_n(&control->duration_ns, duration_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&control->count, count, __ATOMIC_RELAXED);
	mark(start_key);
	mark(stop_key);
	if (start_key == PINCHTRACE_NO_EVENT)
		start(state, 0);
	else
		state_change(state, with_phase(state, PINCHTRACE_PHASE_ARMED));
}

static void clear(uint32_t state)
{
	struct pinchtrace_control *control = pinchtrace_area.control;

	unmark(control->start);
	unmark(control->stop);
	__atomic_store_n(&control->start, PINCHTRACE_NO_EVENT, __ATOMIC_RELAXED);
	__atomic_store_n(&control->stop, PINCHTRACE_NO_EVENT, __ATOMIC_RELAXED);
	state_change(state, with_phase(state, PINCHTRACE_PHASE_NONE));
}

/* --- What others want of them ------------------------------------------------------------ */

/* Whether a request is sound, which anybody may have written. */
static bool is_request(const struct pinchtrace_request *request)
{
	return request->mode <= PINCHTRACE_MODE_CONTINUOUS && request->count <= INT64_MAX;
}

/* One thread does; events of others that come meanwhile find the state as it is, and are not recorded. */
static void carry_out_request(void)
{
	struct pinchtrace_request request;
	uint32_t state;

	if (__atomic_exchange_n(&pinchtrace_own.is_carrying_out, 1, __ATOMIC_ACQUIRE))
		return;
	state = begin_change();
	request = pinchtrace_area.control->request;
	if (!is_request(&request) || request.what == PINCHTRACE_REQUEST_CLEAR)
		clear(state);
	else if (request.what == PINCHTRACE_REQUEST_SET)
		set(state, request.start, request.stop, request.duration_ns, request.count, (int)request.mode);
	else if (request.what == PINCHTRACE_REQUEST_START)
		start(state, 0);
	else
		state_change(state, stopped(state));
	__atomic_store_n(&pinchtrace_own.is_carrying_out, 0, __ATOMIC_RELEASE);
}

/* --- Events ------------------------------------------------------------------------------ */

static bool duration_is_over(const struct pinchtrace_control *control)
{
	return __atomic_load_n(&control->duration_ns, __ATOMIC_RELAXED) &&
	       pinchtrace_clock_ns(CLOCK_MONOTONIC) >= __atomic_load_n(&control->deadline_ns, __ATOMIC_RELAXED);
}

static enum trigger_action while_running(struct pinchtrace_control *control, uint32_t key, unsigned int on)
{
	bool is_endless = __atomic_load_n(&control->mode, __ATOMIC_RELAXED) == PINCHTRACE_MODE_CONTINUOUS;
	bool is_stop = !is_endless && key == __atomic_load_n(&control->stop, __ATOMIC_RELAXED);
	int64_t left;

	if (!is_stop && !(on & PINCHTRACE_ON_RECORD))
		return TRIGGER_DROP;
	if (is_endless || !__atomic_load_n(&control->count, __ATOMIC_RELAXED))
		return is_stop ? TRIGGER_RECORD_AND_STOP : TRIGGER_RECORD;
	left = __atomic_fetch_sub(&control->count_left, 1, __ATOMIC_RELAXED);
	if (left <= 0)
		return TRIGGER_DROP;
	return is_stop || left == 1 ? TRIGGER_RECORD_AND_STOP : TRIGGER_RECORD;
}

enum trigger_action pinchtrace_triggers_before(uint32_t key, unsigned int on, uint32_t *state)
{
	struct pinchtrace_control *control = pinchtrace_area.control;

	*state = __atomic_load_n(&control->state, __ATOMIC_ACQUIRE);
	if (phase(*state) == PINCHTRACE_PHASE_REQUEST) {
		carry_out_request();
		*state = __atomic_load_n(&control->state, __ATOMIC_ACQUIRE);
	}
	if (phase(*state) == PINCHTRACE_PHASE_RUNNING &&
	    __atomic_load_n(&control->mode, __ATOMIC_RELAXED) != PINCHTRACE_MODE_CONTINUOUS &&
	    duration_is_over(control)) {
		/* Perhaps this is the event that starts it again. */
		state_change(*state, stopped(*state));
		*state = __atomic_load_n(&control->state, __ATOMIC_ACQUIRE);
	}
	switch (phase(*state)) {
	case PINCHTRACE_PHASE_NONE:
		return on & PINCHTRACE_ON_RECORD ? TRIGGER_RECORD : TRIGGER_DROP;
	case PINCHTRACE_PHASE_ARMED:
		if (key != __atomic_load_n(&control->start, __ATOMIC_RELAXED) ||
		    !state_change(*state, with_phase(*state, PINCHTRACE_PHASE_BUSY)))
			return TRIGGER_DROP;
		*state = with_phase(*state, PINCHTRACE_PHASE_BUSY);
		return TRIGGER_RECORD_AND_START;
	case PINCHTRACE_PHASE_RUNNING:
		return while_running(control, key, on);
	default:
		return TRIGGER_DROP;
	}
}

void pinchtrace_triggers_after(enum trigger_action action, uint32_t state)
{
	if (action == TRIGGER_RECORD_AND_START)
		start(state, 1);
	else if (action == TRIGGER_RECORD_AND_STOP)
		state_change(state, stopped(state));
}

/* --- Setting them ------------------------------------------------------------------------ */

static uint32_t key_of(uint16_t subsystem, uint16_t event)
{
	return subsystem == TRACE_NO_EVENT ? PINCHTRACE_NO_EVENT : subsystem | (uint32_t)event << 16;
}

int pinchtrace_set_triggers(uint16_t start_subsystem, uint16_t start_event, uint16_t stop_subsystem,
			    uint16_t stop_event, uint64_t duration_ns, uint64_t count, int mode)
{
	if (mode < TRACE_ONE_SHOT || mode > TRACE_CONTINUOUS || count > INT64_MAX)
		return -EINVAL;
	if (!pinchtrace_area_ensure())
		return -ENOMEM;
	set(begin_change(), key_of(start_subsystem, start_event), key_of(stop_subsystem, stop_event), duration_ns,
	    count, mode);
	return 0;
}

void pinchtrace_clear_triggers(void)
{
	if (pinchtrace_area_ensure())
		clear(begin_change());
}

void pinchtrace_triggers_start(void)
{
	if (pinchtrace_area_ensure())
		start(begin_change(), 0);
}

void pinchtrace_triggers_stop(void)
{
	uint32_t state;

	if (!pinchtrace_area_ensure())
		return;
	state = begin_change();
	state_change(state, stopped(state));
}
