/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_host.h"

#include <stddef.h>
#include <string.h>

#include "base/table.h"
#include "clocks/clock_fit.h"
#include "session/event_kinds.h"
#include "session/external_threads.h"
#include "session/syscalls.h"
#include "values.h"

enum {
	FILE_KIND_BITS = 31, /* of a file's name: what kind it is */
	KERNEL_SHIFT = 40,   /* more than any kernel takes */
	OBJECTS_MAX = 1 << 20,
};

/* --- Times, ids and names --------------------------------------------------------------------------- */

uint64_t merge_host_time_ns(const struct merge_host *host, uint64_t time_ns, uint64_t *uncertainty_ns)
{
	for (; host->reference; host = host->reference) {
		uint64_t more_ns, from_ns = time_ns;

		if (host->is_asked)
			time_ns = clock_fit_time_ns(host->fit, from_ns, &more_ns);
		else
			time_ns = from_ns + clock_fit_offset_ns(host->fit, from_ns, &more_ns);
		if ((int64_t)time_ns < 0)
			time_ns = 0;
		if (uncertainty_ns)
			*uncertainty_ns += more_ns;
	}
	return time_ns;
}

uint32_t merge_host_id(const struct merge_host *host, uint32_t id)
{
	return id ? id + (host->number << HOST_ID_SHIFT) : 0;
}

uint64_t merge_host_name(const struct merge_host *host, uint64_t name)
{
	if (!name || !host->number)
		return name;
	return (hash_u64(name ^ (uint64_t)host->number << 56) & ~(uint64_t)FILE_KIND_BITS) | (name & FILE_KIND_BITS);
}

static uint64_t change_stack(const struct merge_host *host, uint64_t stack)
{
	uint64_t changed = stack ? hash_u64(stack ^ (uint64_t)host->number << 56) : 0;

	return changed || !stack ? changed : 1;
}

uint64_t merge_host_kernel_shift(const struct merge_host *host)
{
	return (uint64_t)host->number << KERNEL_SHIFT;
}

static uint64_t change_kernel_address(const struct merge_host *host, uint64_t address)
{
	return address ? address - merge_host_kernel_shift(host) : 0;
}

static uint16_t change_cpu(const struct merge_host *host, uint16_t cpu)
{
	return host->cpu_base + cpu < CPUS_MAX ? host->cpu_base + cpu : CPUS_MAX - 1;
}

/* --- Fields by what they mean ------------------------------------------------------------------------- */

/* Of a time that is not the event's own; 0 is none. */
static uint64_t change_moment(const struct merge_host *host, uint64_t moment_ns, uint64_t event_ns)
{
	uint64_t changed_ns = moment_ns ? merge_host_time_ns(host, moment_ns, NULL) : 0;

	return changed_ns < event_ns ? changed_ns : event_ns;
}

static void note_object(struct merge_host *host, uint64_t name)
{
	if (table_count(host->objects) < OBJECTS_MAX && name)
		table_put(host->objects, name, host);
}

static uint64_t change_value(struct merge_host *host, const struct event_field *field, uint64_t value,
			     uint64_t event_ns)
{
	switch (field->meaning) {
	case MEANS_PROCESS:
	case MEANS_TID:
		return merge_host_id(host, value);
	case MEANS_STACK:
		return change_stack(host, value);
	case MEANS_FILE:
	case MEANS_KLOCK:
		if (field->role == ROLE_NAMES)
			note_object(host, value);
		return merge_host_name(host, value);
	case MEANS_MOMENT:
		return change_moment(host, value, event_ns);
	default:
		return value;
	}
}

static void change_fields(struct merge_host *host, struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	struct event_fields fields = event_fields_of(kind, header, SIZE_MAX);
	const struct event_field *field;
	size_t size_bytes;
	const void *at;

	while (kind->meanings && event_fields_next(&fields, &field, &at, &size_bytes)) {
		char *bytes = (char *)header + ((const char *)at - (const char *)header);

		if (field->meaning == MEANS_NOTHING || field->meaning == MEANS_THREAD)
			continue;
		for (size_t i = 0; i < size_bytes; i += field->width_bytes) {
			uint64_t value =
				change_value(host, field, event_field_number(field, bytes + i), header->time_ns);

			memcpy(bytes + i, &value, field->width_bytes);
		}
	}
}

/* --- What no meaning says ------------------------------------------------------------------------------ */

/* Who is not traced is named by its id (events/sched.pleco). */
static void change_switch(struct merge_host *host, struct ev_sched_switch *e)
{
	bool is_traced = thread_is_traced(e->header.thread),
	     is_wait = is_traced && e->state != SWITCH_RUNNABLE && e->state != SWITCH_DEAD;

	e->cpu = change_cpu(host, e->cpu);
	if (is_wait && e->flags & SWITCH_KERNEL_LOCK) {
		e->object = merge_host_name(host, e->object);
		e->value = merge_host_id(host, e->value);
	} else if (is_wait) {
		if (e->flags & SWITCH_IN_FILE || syscall_waits_for_file(e->syscall, e->value))
			e->object = merge_host_name(host, e->object);
	} else {
		e->value = merge_host_id(host, e->value);
		if (!is_traced && !thread_is_traced(e->next))
			e->object = merge_host_id(host, e->object);
	}
}

static void change_found(struct merge_host *host, struct ev_thread_found *e)
{
	bool is_klock = e->phase == PHASE_BLOCKED && table_find(host->objects, e->object);

	e->tid = merge_host_id(host, e->tid);
	e->pid = merge_host_id(host, e->pid);
	e->cpu = change_cpu(host, e->cpu);
	if (is_klock || (e->phase == PHASE_BLOCKED && syscall_waits_for_file(e->syscall, e->value)))
		e->object = merge_host_name(host, e->object);
}

static void change_wake(const struct merge_host *host, struct ev_sched_wake *e)
{
	e->tid = merge_host_id(host, e->tid);
	e->pid = merge_host_id(host, e->pid);
	if (e->syscall != SYSCALL_NONE && syscall_waits_for_file(e->syscall, 0))
		e->object = merge_host_name(host, e->object);
}

static void change_sched(struct merge_host *host, struct ev_header *header)
{
	struct ev_sched_sample *sample = (void *)header;
	struct ev_sched_hidden *hidden = (void *)header;

	switch (header->event) {
	case TRACE_EVENT_SCHED_SWITCH:
		change_switch(host, (void *)header);
		break;
	case TRACE_EVENT_SCHED_WAKE:
		change_wake(host, (void *)header);
		break;
	case TRACE_EVENT_SCHED_SAMPLE:
		sample->kernel_ip = change_kernel_address(host, sample->kernel_ip);
		break;
	case TRACE_EVENT_SCHED_HIDDEN:
		hidden->cpu = change_cpu(host, hidden->cpu);
		break;
	}
}

static void change_thread(struct merge_host *host, struct ev_header *header)
{
	struct ev_thread_born *born = (void *)header;
	struct ev_thread_exec *exec = (void *)header;

	switch (header->event) {
	case TRACE_EVENT_THREAD_BORN:
		born->tid = merge_host_id(host, born->tid);
		born->pid = merge_host_id(host, born->pid);
		break;
	case TRACE_EVENT_THREAD_FOUND:
		change_found(host, (void *)header);
		break;
	case TRACE_EVENT_THREAD_EXEC:
		exec->tid = merge_host_id(host, exec->tid);
		break;
	}
}

/* Unix sockets find their other end by its inode. */
static void change_socket(const struct merge_host *host, struct ev_file_socket *e)
{
	if (e->inode)
		e->inode ^= (uint64_t)host->number << 56;
	if (e->peer_file)
		e->peer_file ^= (uint64_t)host->number << 56;
	e->peer_pid = merge_host_id(host, e->peer_pid);
}

static void change_system(const struct merge_host *host, struct ev_header *header)
{
	struct ev_system_block_issue *issue = (void *)header;
	struct ev_system_block_complete *complete = (void *)header;

	switch (header->event) {
	case TRACE_EVENT_SYSTEM_INTERRUPT:
		((struct ev_system_interrupt *)header)->cpu =
			change_cpu(host, ((struct ev_system_interrupt *)header)->cpu);
		break;
	case TRACE_EVENT_SYSTEM_SOFTIRQ:
		((struct ev_system_softirq *)header)->cpu = change_cpu(host, ((struct ev_system_softirq *)header)->cpu);
		break;
	case TRACE_EVENT_SYSTEM_RECEIVE:
		((struct ev_system_receive *)header)->cpu = change_cpu(host, ((struct ev_system_receive *)header)->cpu);
		break;
	case TRACE_EVENT_SYSTEM_BLOCK_ISSUE:
		issue->request = change_stack(host, issue->request);
		issue->tid = merge_host_id(host, issue->tid);
		break;
	case TRACE_EVENT_SYSTEM_BLOCK_COMPLETE:
		complete->request = change_stack(host, complete->request);
		complete->cpu = change_cpu(host, complete->cpu);
		break;
	case TRACE_EVENT_SYSTEM_LOST:
		((struct ev_system_lost *)header)->cpu = change_cpu(host, ((struct ev_system_lost *)header)->cpu);
		break;
	}
}

static void change_klock(const struct merge_host *host, struct ev_header *header)
{
	struct ev_klock_lock *lock = (void *)header;
	struct ev_klock_held *held = (void *)header;

	if (header->event == TRACE_EVENT_KLOCK_LOCK) {
		lock->address = change_kernel_address(host, lock->address);
		lock->pid = merge_host_id(host, lock->pid);
		lock->cpu = change_cpu(host, lock->cpu);
	} else if (header->event == TRACE_EVENT_KLOCK_HELD) {
		held->caller = change_kernel_address(host, held->caller);
	}
}

static void change_frames(const struct merge_host *host, struct ev_stack_frames *e)
{
	for (size_t i = 0; i < e->kernel_count; i++)
		e->frames[i] = change_kernel_address(host, e->frames[i]);
}

static void change_run(const struct merge_host *host, struct ev_collect_run *e)
{
	for (size_t i = 0; i < e->pid_count; i++)
		e->pids[i] = merge_host_id(host, e->pids[i]);
}

static void change_rest(struct merge_host *host, struct ev_header *header)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_FILE_SOCKET:
		change_socket(host, (void *)header);
		break;
	case EV_STACK_FRAMES:
		change_frames(host, (void *)header);
		break;
	case EV_STACK_MEMORY:
	case EV_STACK_PYTHON:
		((struct ev_stack_python *)header)->stack =
			change_stack(host, ((struct ev_stack_python *)header)->stack);
		break;
	case EV_COLLECT_RUN:
		change_run(host, (void *)header);
		break;
	case EV_COLLECT_GAP:
		((struct ev_collect_gap *)header)->cpu = change_cpu(host, ((struct ev_collect_gap *)header)->cpu);
		break;
	case EV_RESOURCE_STORAGE:
		((struct ev_resource_storage *)header)->pid =
			merge_host_id(host, ((struct ev_resource_storage *)header)->pid);
		break;
	case EV_RESOURCE_CPU_TIME:
		((struct ev_resource_cpu_time *)header)->pid =
			merge_host_id(host, ((struct ev_resource_cpu_time *)header)->pid);
		break;
	}
}

static void change_allowed(const struct merge_host *host, uint32_t *cpus_allowed)
{
	if (*cpus_allowed >= host->cpu_count)
		*cpus_allowed = 0;
}

/* All CPUs of a host are not all CPUs of the trace: a thread that may use them is not kept from any. */
static void change_affinity(const struct merge_host *host, struct ev_header *header)
{
	struct ev_thread_born *born = (void *)header;

	switch (header->event) {
	case TRACE_EVENT_THREAD_BORN:
		born->cpus_allowed = born->cpus_allowed >= host->cpu_count ? 0 : born->cpus_allowed;
		break;
	case TRACE_EVENT_THREAD_FOUND:
		change_allowed(host, &((struct ev_thread_found *)header)->cpus_allowed);
		break;
	case TRACE_EVENT_THREAD_EXEC:
		change_allowed(host, &((struct ev_thread_exec *)header)->cpus_allowed);
		break;
	}
}

void merge_host_change(struct merge_host *host, struct ev_header *header)
{
	uint64_t time_ns;

	if (host->is_alone)
		return;
	if (header->subsys == TRACE_SUBSYS_THREAD)
		change_affinity(host, header);
	if (!host->number)
		return;
	time_ns = merge_host_time_ns(host, header->time_ns, NULL);
	/* Where a clock was set, what would come before the events before it is moved. Neighbours that an interrupt swapped stay. */
	if (header->time_ns >= host->last_from_ns) {
		host->last_from_ns = header->time_ns;
		host->last_ns = time_ns = time_ns > host->last_ns ? time_ns : host->last_ns;
	}
	header->time_ns = time_ns;
	change_fields(host, header);
	switch (header->subsys) {
	case TRACE_SUBSYS_SCHED:
		change_sched(host, header);
		break;
	case TRACE_SUBSYS_THREAD:
		change_thread(host, header);
		break;
	case TRACE_SUBSYS_SYSTEM:
		change_system(host, header);
		break;
	case TRACE_SUBSYS_KLOCK:
		change_klock(host, header);
		break;
	default:
		change_rest(host, header);
	}
}
