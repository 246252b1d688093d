/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who ended a wait: what the waker did, or what an interrupt means for what was waited for. */
#include "waits/sums/wait_ender.h"

#include <string.h>
#include <sys/syscall.h>

#include "session/wake_context.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"

static bool is_sending(uint16_t syscall)
{
	switch (syscall) {
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_shutdown:
	case SYS_close:
		return true;
	}
	return false;
}

/* Who takes something out of a connection gives the other end that there is space. */
static bool is_making_space(const struct wait_facts *facts, uint16_t syscall)
{
	return file_waited_direction(facts) == FILE_WRITING &&
	       file_direction_of(&(struct wait_facts){ .syscall = syscall }) == FILE_READING;
}

/* What the thread that an interrupt came to was doing may be what the interrupt is about. */
static bool is_loopback_message(const struct wait_facts *facts, const struct ev_sched_wake *e,
				const struct file_info *file)
{
	if (!e->tid || (file && file->kind == FILE_SOCKET && !file->is_loopback))
		return false;
	return is_sending(e->syscall) || is_making_space(facts, e->syscall);
}

static bool is_signalling(uint16_t syscall)
{
	switch (syscall) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_pidfd_send_signal:
		return true;
	}
	return false;
}

static enum waker_kind task_kind(const struct ev_sched_wake *e)
{
	bool is_exiting = e->syscall == SYS_exit || e->syscall == SYS_exit_group;

	if (is_signalling(e->syscall))
		return WAKER_SIGNAL;
	if (e->waker && is_exiting)
		return WAKER_EXIT;
	/* Also by a terminal, for too much memory, or by a signal that another thread has taken. */
	if (e->flags & WAKE_TO_DIE)
		return WAKER_SIGNAL;
	return e->waker ? WAKER_THREAD : WAKER_PROCESS;
}

/*
 * What an interrupt means follows from what was waited for. What is sent to this machine itself is
 * received in an interrupt of the sender's.
 */
static enum waker_kind interrupt_kind(enum wait_cause cause, const struct wait_facts *facts,
				      const struct ev_sched_wake *e, const struct file_info *file, bool is_soft)
{
	switch (cause) {
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
	case CAUSE_KERNEL_LOCK:
		return WAKER_DISK;
	case CAUSE_SOCKET:
	case CAUSE_POLL:
		if (!is_soft)
			return WAKER_TIMER;
		if (is_loopback_message(facts, e, file))
			return task_kind(e);
		/* What completes there may be anything. */
		if (file && !strcmp(file->path, "[io_uring]"))
			return WAKER_INTERRUPT;
		return WAKER_NETWORK;
	case CAUSE_PIPE:
	case CAUSE_CHILD:
	case CAUSE_STOPPED:
		return WAKER_INTERRUPT;
	default:
		return WAKER_TIMER;
	}
}

enum waker_kind waker_kind_of(enum wait_cause cause, const struct wait_facts *facts, const struct ev_sched_wake *e,
			      const struct file_info *file, const struct other *other)
{
	if (wake_is_for_work(e) && wait_has_futex(facts))
		return WAKER_DISK;
	switch (wake_context_of(e)) {
	case WAKE_HARDIRQ:
		return interrupt_kind(cause, facts, e, file, false);
	case WAKE_SOFTIRQ:
		return interrupt_kind(cause, facts, e, file, true);
	case WAKE_KERNEL_THREAD:
		/* Where interrupts are threads (PREEMPT_RT). */
		if (other && (!strncmp(other->name, "irq/", 4) || !strncmp(other->name, "ksoftirqd/", 10)))
			return interrupt_kind(cause, facts, e, file, true);
		return WAKER_KERNEL;
	case WAKE_THREAD:
		break;
	}
	return task_kind(e);
}

enum waker_kind wait_missing_kind(const struct open_wait *wait, enum missing_reason reason)
{
	switch (wait->cause) {
	case CAUSE_SLEEP:
		return WAKER_TIMER;
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
		return WAKER_DISK;
	default:
		return reason == MISSING_HIDDEN ? WAKER_HIDDEN : WAKER_LOST;
	}
}

static bool is_traced_kind(enum waker_kind kind)
{
	return kind == WAKER_THREAD || kind == WAKER_EXIT || kind == WAKER_SIGNAL;
}

/* What the waker had added up since the first part, by then. */
static struct history_sum before(const struct wait_party *waker, const struct wait_repeats *parts,
				 struct history_sum then)
{
	struct history_sum first = history_at(waker->history, parts->begin_ns, parts->begin_share_ns);

	return (struct history_sum){ then.cmetric_ns - first.cmetric_ns, then.busy_ns - first.busy_ns };
}

struct wait_end wait_end_of(const struct open_wait *wait, uint64_t now_ns, const struct ev_sched_wake *e,
			    const struct wait_party *waker, const struct file_info *file, const struct others *others)
{
	struct wait_end end = { .now_ns = now_ns };
	const struct other *other;
	struct history_sum then;

	other = e->tid && !e->waker ? others_find(others, e->tid) : NULL;
	end.kind = waker_kind_of(wait->cause, &wait->facts, e, file, other);
	if (is_traced_kind(end.kind) && waker) {
		then = history_at(waker->history, wait->begin_ns, wait->begin_share_ns);
		end.waker = waker;
		end.stack = e->flags & WAKE_HAS_STACK ? e->stack : 0;
		end.cmetric_ns = waker->sum.cmetric_ns - then.cmetric_ns;
		end.busy_ns = waker->sum.busy_ns - then.busy_ns;
		if (wait->repeats.begin_ns)
			end.before = before(waker, &wait->repeats, then);
	} else if (end.kind == WAKER_PROCESS || end.kind == WAKER_KERNEL || end.kind == WAKER_SIGNAL) {
		end.other = other;
	}
	return end;
}
