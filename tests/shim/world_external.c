// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * External threads. What is recorded of them is taken out of the way, and checked
 * when a step ends: so all that the world expects of a target must be recorded as if they were not.
 */
#include "world_internal.h"

#include "session/external_threads.h"

static bool is_waking(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_WAKE;
}

static bool is_switching(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SWITCH;
}

const struct ev_header *world_read(struct world *world, uint32_t cpu)
{
	static struct ev_sched_switch switched;
	static struct ev_sched_wake woken;
	const struct ev_header *header;
	size_t size;

	while ((header = shim_read(&rings, cpu, &size))) {
		if (!world->options.tells_system)
			return header;
		if (is_switching(header)) {
			world->switch_recorded = *(const struct ev_sched_switch *)header;
			return &switch_of_target(&world->switch_recorded, &switched)->header;
		}
		if (thread_is_external(header->thread)) {
			world_require(world, size <= sizeof(world->external_recorded));
			memcpy(&world->external_recorded, header, size);
			world->external_count++;
			continue;
		}
		if (is_waking(header)) {
			world->wake_recorded = *(const struct ev_sched_wake *)header;
			return &wake_of_target(&world->wake_recorded, &woken)->header;
		}
		return header;
	}
	return NULL;
}

uint32_t world_number(const struct world_task *task)
{
	return task->is_traced ? task->number : task->external_number;
}

static bool is_recorded(const struct world *world, const struct world_task *task)
{
	return world->options.tells_system && !task->is_traced && shim_target(task->task.tgid) != TARGET_EXEC;
}

void world_expect_external(struct world *world, enum event_id id, struct world_task *task)
{
	if (!is_recorded(world, task) || (id == EV_THREAD_BORN && !world->external_numbers_given))
		return;
	if (!task->external_number && (id == EV_THREAD_BORN || id == EV_THREAD_FOUND))
		task->external_number = ++world->external_numbers_given | THREAD_EXTERNAL;
	world->external_id = id;
	world->external_task = task->external_number ? task : NULL;
}

static void check_described(struct world *world, const struct world_task *task)
{
	const struct ev_thread_born *born = &world->external_recorded.born;
	const struct ev_thread_found *found = &world->external_recorded.found;
	static const uint8_t phases[] = {
		[PLACE_BLOCKED] = PHASE_BLOCKED, [PLACE_READY] = PHASE_RUNNABLE, [PLACE_ON_CPU] = PHASE_RUNNING
	};

	world_require(world, born->tid == (uint32_t)task->task.pid);
	world_require(world, born->pid == (uint32_t)task->task.tgid);
	world_require(world, born->ns_tid == born->tid && born->ns_pid == born->pid);
	if (world->external_id == EV_THREAD_BORN) {
		world_require(world, born->is_outside && born->parent == world_number(world->parent));
		world_require(world, !strcmp(born->name, task->task.comm));
		return;
	}
	world_require(world, found->is_outside && !found->parent && !found->object && !found->value);
	world_require(world, found->phase == phases[task->place] && found->syscall == SYSCALL_NONE);
	world_require(world, !strcmp(found->name, task->task.comm));
}

static void check_woken(struct world *world)
{
	const struct ev_sched_wake *e = &world->external_recorded.wake;

	world_require(world, !(e->flags & (WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK)));
	world_require(world, !e->stack && !e->wait_stack && !e->keep);
	world_require(world, e->waker == (e->tid ? world_number(world->waker) : 0));
	world_require(world, !e->tid || e->tid == (uint32_t)world->waker->task.pid);
}

/* A step has ended: what was recorded of others is what has happened to them. */
void world_check_external(struct world *world)
{
	const struct world_task *task = world->external_task;
	const struct ev_header *header = &world->external_recorded.header;

	world_require(world, world->external_count == (task != NULL));
	if (!task)
		return;
	world_require(world, header->subsys == world->external_id >> 16);
	world_require(world, header->event == (world->external_id & 0xffff));
	world_require(world, header->thread == task->external_number);
	world_require(world, header->time_ns == shim_now_ns);
	if (world->external_id == EV_THREAD_BORN || world->external_id == EV_THREAD_FOUND)
		check_described(world, task);
	else if (world->external_id == EV_SCHED_WAKE)
		check_woken(world);
	else if (world->external_id == EV_THREAD_NAME)
		world_require(world, !strcmp(world->external_recorded.name.name, task->task.comm));
	else
		world_require(world, world->external_recorded.exec.tid == (uint32_t)task->task.pid);
	world->external_task = NULL;
	world->external_count = 0;
}

void world_check_external_switch(struct world *world, const struct world_task *prev, const struct world_task *next,
				 enum switch_state reason)
{
	const struct ev_sched_switch *e = &world->switch_recorded;
	bool is_blocking = reason != SWITCH_RUNNABLE && reason != SWITCH_DEAD, has_call;

	if (!world->options.tells_system)
		return;
	world_require(world, e->header.thread == world_number(prev));
	world_require(world, e->next == world_number(next));
	if (prev->is_traced)
		return;
	if (!prev->external_number)
		reason = SWITCH_RUNNABLE;
	is_blocking &= prev->external_number != 0;
	has_call = is_blocking && !(prev->task.flags & PF_KTHREAD) && prev->registers.orig_ax < SYSCALLS_MAX &&
		   !(prev->task.thread_info.status & 2);
	world_require(world, e->state == reason && !e->stack && !e->keep && !e->operation);
	world_require(world, !(e->flags & SWITCH_IO_WAIT) == !(is_blocking && prev->task.in_iowait));
	world_require(world, e->syscall == (has_call ? prev->registers.orig_ax : SYSCALL_NONE));
}
