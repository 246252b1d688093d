/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "externals.h"

#include "scenario.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "values.h"

enum { EXTERNALS = 50, CPU_ELSEWHERE = 999 };

static uint32_t below(uint32_t limit)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % limit;
}

static uint32_t any_external(void)
{
	return THREAD_EXTERNAL | (1 + below(EXTERNALS));
}

void name_externals(union any_event *e)
{
	switch ((unsigned int)e->header.subsys << 16 | e->header.event) {
	case EV_SCHED_SWITCH:
		if (!e->header.thread) {
			e->header.thread = any_external();
			e->switched.state = below(SWITCH_DEAD + 1);
			e->switched.flags |= below(2) * SWITCH_IO_WAIT;
			e->switched.syscall = below(SYSCALLS_MAX);
		}
		if (!e->switched.next)
			e->switched.next = any_external();
		break;
	case EV_THREAD_BORN:
		if (!e->born.parent)
			e->born.parent = any_external();
		break;
	case EV_SCHED_WAKE:
		if (!e->wake.waker && e->wake.tid)
			e->wake.waker = any_external();
		if (e->wake.context == WAKE_HARDIRQ)
			e->wake.operation = below(100);
		if (e->wake.context >= WAKE_SOFTIRQ)
			e->wake.flags |= below(32) * WAKE_BY_TIMER;
		break;
	}
}

void push_external(struct session *session, unsigned int stream, uint64_t time_ns)
{
	static const enum event_id ids[] = {
		EV_THREAD_BORN, EV_THREAD_FOUND, EV_THREAD_NAME,  EV_THREAD_EXEC,
		EV_SCHED_WAKE,  EV_SCHED_SWITCH, EV_SCHED_SWITCH,
	};
	enum event_id id = ids[below(sizeof(ids) / sizeof(*ids))];
	union any_event e = { .header = {
				      .time_ns = time_ns,
				      .thread = any_external(),
				      .subsys = id >> 16,
				      .event = id & 0xffff,
			      } };

	if (id == EV_SCHED_SWITCH) {
		e.switched.cpu = CPU_ELSEWHERE;
		e.switched.next = any_external();
		e.switched.state = below(SWITCH_DEAD + 1);
	} else if (id == EV_SCHED_WAKE) {
		e.wake.waker = any_external();
	} else if (id == EV_THREAD_FOUND) {
		e.found.phase = below(PHASE_DEAD + 1);
	}
	session_push(session, stream, &e, event_kind_find(e.header.subsys, e.header.event)->size_bytes);
}
