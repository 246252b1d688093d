/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What events refer to: what their fields mean says most of it. Here stands what depends on other fields, or on
 * more than a number.
 */
#include "trace/prologue/prologue_facts_internal.h"

#include <stddef.h>
#include <sys/socket.h>

#include "session/external_threads.h"
#include "session/syscalls.h"
#include "trace/prologue/prologue_out.h"
#include "values.h"

/* Events that are recorded as of one moment. */
struct emission {
	struct prologue_facts *facts;
	uint64_t time_ns;
	const struct prologue_out *out;
};

static void refer_event(const struct emission *emission, const struct ev_header *header, uint32_t pid);

/* What it refers to itself comes before it. */
static void refer(const struct emission *emission, enum fact_kind kind, uint64_t key)
{
	struct ev_header *header;
	uint32_t pid;

	header = key ? prologue_facts_take(emission->facts, kind, key, &pid) : NULL;
	if (!header)
		return;
	refer_event(emission, header, pid);
	header->time_ns = emission->time_ns;
	emission->out->emit(emission->out->data, header);
}

static void refer_codes(const struct emission *emission, const struct ev_stack_frames *e, uint32_t pid)
{
	for (size_t i = 0; pid && i < e->user_count; i++) {
		uint64_t frame = e->frames[e->kernel_count + i];

		if (frame & STACK_FRAME_MANAGED)
			refer(emission, FACT_CODE,
			      prologue_facts_code(pid, (frame & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT));
	}
}

static void refer_host(const struct emission *emission, const struct ev_file_socket *e)
{
	if (e->family == AF_INET || e->family == AF_INET6)
		refer(emission, FACT_HOST, prologue_facts_address(e->family, e->peer));
}

static void refer_object(const struct emission *emission, uint64_t object, uint16_t syscall, uint32_t value)
{
	if (syscall_waits_for_file(syscall, value))
		refer(emission, FACT_FILE, object);
}

/* Who is not traced is named by its id, whether or not it has a number. */
static void refer_switch(const struct emission *emission, const struct ev_sched_switch *e)
{
	struct ev_sched_switch capacity;

	e = switch_of_target(e, &capacity);
	if (e->header.thread && e->flags & SWITCH_KERNEL_LOCK) {
		refer(emission, FACT_KLOCK, e->object);
		refer(emission, FACT_OTHER, e->value);
		return;
	}
	if (e->header.thread && e->flags & SWITCH_IN_FILE) {
		refer(emission, FACT_FILE, e->object);
		return;
	}
	if (e->header.thread && e->state != SWITCH_RUNNABLE) {
		refer_object(emission, e->object, e->syscall, e->value);
		return;
	}
	refer(emission, FACT_OTHER, e->value);
	if (!e->header.thread && !e->next)
		refer(emission, FACT_OTHER, e->object);
}

/* That a thread waits for a kernel lock since before the beginning is recorded after this. */
static void refer_found(const struct emission *emission, const struct ev_thread_found *e)
{
	if (e->phase != PHASE_BLOCKED)
		return;
	if (prologue_facts_find(emission->facts, FACT_KLOCK, e->object))
		refer(emission, FACT_KLOCK, e->object);
	else if (prologue_facts_find(emission->facts, FACT_FILE, e->object))
		refer(emission, FACT_FILE, e->object);
	else
		refer_object(emission, e->object, e->syscall, e->value);
}

static void refer_waits(const struct emission *emission, const struct ev_thread_waits *e)
{
	if (e->is_older && e->flags & SWITCH_KERNEL_LOCK)
		refer(emission, FACT_OTHER, e->value);
}

static void refer_fields(const struct emission *emission, const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);

	if (!(kind->meanings & PROLOGUE_FACT_MEANINGS))
		return;
	for (uint32_t i = 0; i < kind->field_count; i++) {
		const struct event_field *field = &kind->fields[i];
		enum fact_kind fact = prologue_fact_of(field->meaning);

		if (fact != FACT_KINDS && field->role != ROLE_NAMES)
			refer(emission, fact, event_field_number(field, (const char *)header + field->offset_bytes));
	}
}

/* pid: of the process that a stack with managed frames is of. */
static void refer_event(const struct emission *emission, const struct ev_header *header, uint32_t pid)
{
	const struct ev_sched_wake *wake = (const void *)header;

	refer_fields(emission, header);
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		refer_switch(emission, (const void *)header);
		break;
	case EV_SCHED_WAKE:
		if (!thread_is_traced(wake->waker))
			refer(emission, FACT_OTHER, wake->tid);
		break;
	case EV_THREAD_FOUND:
		refer_found(emission, (const void *)header);
		break;
	case EV_THREAD_WAITS:
		refer_waits(emission, (const void *)header);
		break;
	case EV_STACK_FRAMES:
		refer_codes(emission, (const void *)header, pid);
		break;
	case EV_FILE_SOCKET:
		refer_host(emission, (const void *)header);
		break;
	}
}

void prologue_facts_refer(struct prologue_facts *facts, const struct ev_header *header, uint32_t pid,
			  const struct prologue_out *out)
{
	const struct emission emission = { facts, header->time_ns, out };

	refer_event(&emission, header, pid);
}
