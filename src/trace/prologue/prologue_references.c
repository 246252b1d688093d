/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What events refer to. */
#include "trace/prologue/prologue_facts_internal.h"

#include <stddef.h>
#include <sys/socket.h>

#include "session/outside.h"
#include "session/syscalls.h"
#include "trace/prologue/prologue.h"
#include "values.h"

/* Events that are told as of one moment. */
struct telling {
	struct prologue_facts *facts;
	uint64_t time_ns;
	const struct prologue_out *out;
};

static void tell(const struct telling *telling, struct ev_header *header)
{
	header->time_ns = telling->time_ns;
	telling->out->tell(telling->out->data, header);
}

static void refer(const struct telling *telling, enum fact_kind kind, uint64_t key)
{
	struct ev_header *header = prologue_facts_take(telling->facts, kind, key, NULL);

	if (header)
		tell(telling, header);
}

static void refer_codes(const struct telling *telling, const struct ev_stack_frames *e, uint32_t pid)
{
	for (size_t i = 0; pid && i < e->user_count; i++) {
		uint64_t frame = e->frames[e->kernel_count + i];

		if (frame & STACK_FRAME_MANAGED)
			refer(telling, FACT_CODE,
			      prologue_facts_code(pid, (frame & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT));
	}
}

static void refer_stack(const struct telling *telling, uint64_t stack)
{
	struct ev_header *header;
	uint32_t pid;

	header = stack ? prologue_facts_take(telling->facts, FACT_STACK, stack, &pid) : NULL;
	if (!header)
		return;
	refer_codes(telling, (const void *)header, pid);
	tell(telling, header);
}

static void refer_host(const struct telling *telling, const struct ev_file_socket *e)
{
	if (e->family == AF_INET || e->family == AF_INET6)
		refer(telling, FACT_HOST, prologue_facts_address(e->family, e->peer));
}

static void refer_file(const struct telling *telling, uint64_t file)
{
	struct ev_header *header = prologue_facts_take(telling->facts, FACT_FILE, file, NULL);

	if (!header)
		return;
	if (header->event == TRACE_EVENT_FILE_SOCKET)
		refer_host(telling, (const void *)header);
	tell(telling, header);
}

/* A process is called like its first thread. */
static void refer_other(const struct telling *telling, uint32_t tid)
{
	const struct ev_thread_other *other;

	if (!tid)
		return;
	other = (const void *)prologue_facts_find(telling->facts, FACT_OTHER, tid);
	if (other && other->pid && other->pid != tid)
		refer(telling, FACT_OTHER, other->pid);
	refer(telling, FACT_OTHER, tid);
}

/* Whether the object of such a wait is a file. */
static bool is_of_file(uint16_t syscall, uint32_t value)
{
	if (syscall == SYSCALL_NONE)
		return value == MEMORY_OF_FILE;
	switch (syscall_argument(syscall)) {
	case ARGUMENT_FILE:
	case ARGUMENT_FILE_PARTS:
	case ARGUMENT_FILE_MESSAGE:
	case ARGUMENT_POLL:
	case ARGUMENT_POLL_TIME:
		return true;
	default:
		return false;
	}
}

static void refer_object(const struct telling *telling, uint64_t object, uint16_t syscall, uint32_t value)
{
	if (object && is_of_file(syscall, value))
		refer_file(telling, object);
}

static void refer_lock_file(const struct telling *telling, const struct ev_klock_lock *e)
{
	if (e->file)
		refer_file(telling, e->file);
}

static void refer_klock(const struct telling *telling, uint64_t lock)
{
	struct ev_header *header = prologue_facts_take(telling->facts, FACT_KLOCK, lock, NULL);

	if (!header)
		return;
	refer_lock_file(telling, (const void *)header);
	tell(telling, header);
}

static void refer_klock_wait(const struct telling *telling, const struct ev_klock_wait *e)
{
	refer_stack(telling, e->stack);
	refer_stack(telling, e->owner_stack);
	refer_klock(telling, e->lock);
	refer_other(telling, e->owner);
	if (!e->header.thread)
		refer_other(telling, e->tid);
}

/* Who is not traced is named by its id, whether or not it has a number. */
static void refer_switch(const struct telling *telling, const struct ev_sched_switch *e)
{
	struct ev_sched_switch room;

	refer_stack(telling, e->stack);
	e = switch_of_target(e, &room);
	if (e->header.thread && e->flags & SWITCH_KERNEL_LOCK) {
		refer_klock(telling, e->object);
		refer_other(telling, e->value);
		return;
	}
	if (e->header.thread && e->state != SWITCH_RUNNABLE) {
		refer_object(telling, e->object, e->syscall, e->value);
		return;
	}
	refer_other(telling, e->value);
	if (!e->header.thread && !e->next)
		refer_other(telling, e->object);
}

static void refer_wake(const struct telling *telling, const struct ev_sched_wake *e)
{
	refer_stack(telling, e->stack);
	refer_stack(telling, e->wait_stack);
	if (!thread_is_traced(e->waker))
		refer_other(telling, e->tid);
}

/* That it is a kernel lock that a thread waits for since before the beginning is told after this. */
static void refer_found(const struct telling *telling, const struct ev_thread_found *e)
{
	if (e->phase != PHASE_BLOCKED)
		return;
	if (prologue_facts_find(telling->facts, FACT_KLOCK, e->object))
		refer_klock(telling, e->object);
	else
		refer_object(telling, e->object, e->syscall, e->value);
}

static void refer_waits(const struct telling *telling, const struct ev_thread_waits *e)
{
	refer_stack(telling, e->stack);
	if (e->is_older && e->flags & SWITCH_KERNEL_LOCK)
		refer_other(telling, e->value);
}

void prologue_facts_refer(struct prologue_facts *facts, const struct ev_header *header, uint32_t pid,
			  const struct prologue_out *out)
{
	const struct telling telling = { facts, header->time_ns, out };

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		refer_switch(&telling, (const void *)header);
		break;
	case EV_SCHED_WAKE:
		refer_wake(&telling, (const void *)header);
		break;
	case EV_SCHED_HIDDEN:
		refer_other(&telling, ((const struct ev_sched_hidden *)header)->tid);
		break;
	case EV_THREAD_FOUND:
		refer_found(&telling, (const void *)header);
		break;
	case EV_THREAD_WAITS:
		refer_waits(&telling, (const void *)header);
		break;
	case EV_THREAD_OTHER:
		refer_other(&telling, ((const struct ev_thread_other *)header)->pid);
		break;
	case EV_STACK_FRAMES:
		refer_codes(&telling, (const void *)header, pid);
		break;
	case EV_FILE_SOCKET:
		refer_host(&telling, (const void *)header);
		break;
	case EV_KLOCK_LOCK:
		refer_lock_file(&telling, (const void *)header);
		break;
	case EV_KLOCK_WAIT:
		refer_klock_wait(&telling, (const void *)header);
		break;
	case EV_KLOCK_HELD:
		refer_klock(&telling, ((const struct ev_klock_held *)header)->lock);
		break;
	}
}
