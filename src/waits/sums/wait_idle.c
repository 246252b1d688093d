/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_idle.h"

#include "values.h"
#include "waits/file_calls.h"
#include "waits/files.h"
#include "waits/sums/wait_locks.h"

/* Who waits to write waits for a reader that is slow. */
static bool is_for_space(const struct open_wait *wait)
{
	return (wait->cause == CAUSE_SOCKET || wait->cause == CAUSE_PIPE) &&
	       file_waited_direction(&wait->facts) == FILE_WRITING;
}

/* Whether what ends such a wait from outside is work that this program asked for. */
static bool is_asked_for(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file)
{
	switch (wait->cause) {
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
	case CAUSE_KERNEL_LOCK:
	case CAUSE_THROTTLED:
		return true;
	case CAUSE_SOCKET:
		return file && !file->is_server && end->kind != WAKER_TIMER;
	case CAUSE_CHILD:
		return end->kind != WAKER_NONE;
	case CAUSE_OTHER:
		return wait->facts.state == SWITCH_BLOCKED; /* which nothing can interrupt: the kernel works for it */
	default:
		return false;
	}
}

/* Whether it ended because its process does. */
static bool is_killed(const struct wait_party *party, const struct open_wait *wait, const struct wait_end *end)
{
	return end->kind == WAKER_EXIT && end->waker && wait->cause != CAUSE_JOIN &&
	       end->waker->thread->pid == party->thread->pid;
}

static struct request_wait request_wait_of(const struct open_wait *wait, const struct wait_end *end,
					   const struct file_info *file, uint64_t stack)
{
	return (struct request_wait){
		.facts = &wait->facts,
		.cause = wait->cause,
		.stack = stack,
		.file = file,
		.kind = end->kind,
		.is_by_thread = end->waker,
		.is_repeated = wait->repeats.begin_ns,
		.is_in_iteration = wait->is_in_iteration,
	};
}

/* Whether it delays the answer to somebody else. */
static bool is_delay(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file,
		     uint64_t stack)
{
	struct request_wait request_wait = request_wait_of(wait, end, file, stack);

	return open_request_is_delayed(&wait->request, &request_wait);
}

/* Of what was asked of whoever ended the wait, this thread does a part from here on. */
static bool is_job(const struct wait_party *party, const struct wait_party *waker, const struct wait_lock *lock)
{
	if (!waker || (lock && wait_lock_may_be_waited_by(lock, waker->thread)))
		return false;
	return waker->wait->request.is_open || (!lock && waker->thread->pid != party->thread->pid);
}

/* Whether it was a wait for work, which somebody had for it in the end. */
static bool is_for_job(const struct wait_party *party, const struct open_wait *wait, const struct wait_end *end,
		       const struct file_info *file, uint64_t stack, const struct wait_lock *lock)
{
	struct request_wait request_wait = request_wait_of(wait, end, file, stack);

	request_wait.is_job = is_job(party, end->waker, lock);
	return open_request_is_brought(&wait->request, &request_wait);
}

/*
 * Whether the user waits for whoever ended it, for the thread is the first one of the command that was started: for another
 * process or thread to end, or for what another process writes to it.
 */
static bool is_awaited(const struct wait_party *party, const struct open_wait *wait, const struct wait_end *end,
		       const struct file_info *file)
{
	bool is_other_process;

	if (!wait->is_awaited || !end->waker)
		return false;
	is_other_process = end->waker->thread->pid != party->thread->pid;
	if (end->kind == WAKER_EXIT)
		return is_other_process || wait->cause == CAUSE_JOIN;
	return is_other_process && wait->cause == CAUSE_PIPE && file && file->kind == FILE_PIPE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t wait_outside_ns(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file,
			 uint64_t stack, uint64_t idle_ns)
{
	struct request_wait request_wait = request_wait_of(wait, end, file, stack);

	if (end->waker)
		return least(idle_ns, end->waker->wait->outside_ns);
	return open_request_is_sleep(&request_wait) ? 0 : idle_ns;
}

uint64_t wait_idle_ns(const struct wait_party *party, const struct open_wait *wait, uint64_t wait_ns,
		      const struct wait_end *end, const struct file_info *file, uint64_t stack,
		      const struct wait_lock *lock)
{
	if (is_killed(party, wait, end) || wait_is_for_work(&wait->facts) ||
	    is_for_job(party, wait, end, file, stack, lock))
		return wait_ns;
	if (is_for_space(wait))
		return 0;
	if (!end->waker)
		return is_asked_for(wait, end, file) || is_delay(wait, end, file, stack) ? 0 : wait_ns;
	wait_ns -= least(wait_ns, end->busy_ns);
	/* It may have waited outside before; then this is too much. */
	return is_awaited(party, wait, end, file) ? least(wait_ns, end->waker->wait->outside_ns) : wait_ns;
}

void wait_idle_end_request(struct wait_party *party, const struct wait_end *end, const struct file_info *file,
			   uint64_t stack, const struct wait_lock *lock)
{
	struct request_wait request_wait = request_wait_of(party->wait, end, file, stack);

	request_wait.is_job = is_job(party, end->waker, lock);
	open_request_end_wait(&party->wait->request, &request_wait);
}

uint64_t wait_idle_of_parts(const struct open_wait *wait, const struct wait_end *end, const struct file_info *file)
{
	uint64_t idle_ns = wait_repeats_idle_ns(&wait->repeats), wait_ns = wait_repeats_wait_ns(&wait->repeats);
	uint64_t left_ns = end->before.busy_ns < wait_ns ? wait_ns - end->before.busy_ns : 0;

	if (!end->waker)
		return is_asked_for(wait, end, file) ? 0 : idle_ns;
	return left_ns < idle_ns ? left_ns : idle_ns;
}
