/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "base/text.h"
#include "report/report.h"
#include "klocks/lengths.h"
#include "view/json/json_parts.h"
#include "view/text/text_frames.h"

static void put_stack_number(struct json *json, size_t stack)
{
	json_key(json, "stack");
	if (stack)
		json_uint(json, stack - 1);
	else
		json_null(json);
}

static void put_step(struct json *json, size_t step, uint32_t count)
{
	json_begin_array(json);
	json_uint(json, step ? length_limit_ns(step - 1) : 0);
	json_uint(json, count);
	json_end_array(json);
}

/* From the shortest wait to the longest one; a last step of no waits says where that before it ends. */
static void put_histogram(struct json *json, const uint32_t *lengths)
{
	size_t begin = 0, end = LENGTHS;

	while (begin < end && !lengths[begin])
		begin++;
	while (end > begin && !lengths[end - 1])
		end--;
	json_key(json, "histogram");
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = begin; i < end; i++)
		put_step(json, i, lengths[i]);
	if (end > begin)
		put_step(json, end, 0);
	json_end_array(json);
}

static void put_waiter(struct json *json, const struct report_klock_waiter *waiter)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "name", waiter->thread);
	json_put_string(json, "context", waiter->context);
	json_put_uint(json, "pid", waiter->pid);
	json_put_uint(json, "tid", waiter->tid);
	json_put_uint(json, "waits", waiter->waits);
	json_put_uint(json, "total_ns", waiter->wait_ns);
	json_put_uint(json, "max_ns", waiter->max_ns);
	put_stack_number(json, waiter->stack);
	json_end_object(json);
}

static void put_owner(struct json *json, const struct report_klock_owner *owner)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "name", owner->thread);
	json_put_uint(json, "tid", owner->tid);
	json_put_uint(json, "waits", owner->waits);
	json_put_uint(json, "ns", owner->wait_ns);
	put_stack_number(json, owner->stack);
	json_end_object(json);
}

static void put_path(struct json *json, const struct report_klock_path *path)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "waits", path->waits);
	json_put_uint(json, "ns", path->wait_ns);
	put_stack_number(json, path->stack);
	json_end_object(json);
}

static void put_lock(struct json *json, const struct report_klock *lock, bool counts_acquisitions)
{
	json_begin_object(json);
	json_put_string(json, "address", lock->address);
	json_put_string(json, "name", lock->name);
	json_put_string(json, "kind", lock->kind);
	json_put_string(json, "cache", lock->cache);
	json_put_string(json, "where", lock->where);
	json_put_uint(json, "waits", lock->waits);
	json_put_uint(json, "total_ns", lock->wait_ns);
	json_put_uint(json, "mean_ns", lock->waits ? lock->wait_ns / lock->waits : 0);
	json_put_uint(json, "p50_ns", lock->p50_ns);
	json_put_uint(json, "p90_ns", lock->p90_ns);
	json_put_uint(json, "p99_ns", lock->p99_ns);
	json_put_uint(json, "max_ns", lock->max_ns);
	json_put_uint(json, "unfinished", lock->lasting);
	json_put_uint(json, "given_up", lock->gave_up);
	if (counts_acquisitions) {
		json_put_uint(json, "acquisitions", lock->acquisitions);
		json_put_uint(json, "take_ns", lock->take_ns);
		json_put_uint(json, "holds", lock->holds);
		json_put_uint(json, "hold_ns", lock->hold_ns);
		json_put_uint(json, "max_hold_ns", lock->max_hold_ns);
	}
	json_key(json, "threads");
	json_begin_array(json);
	for (size_t i = 0; i < lock->waiter_count; i++)
		put_waiter(json, &lock->waiters[i]);
	json_end_array(json);
	json_key(json, "owners");
	json_begin_array(json);
	for (size_t i = 0; i < lock->owner_count; i++)
		put_owner(json, &lock->owners[i]);
	json_end_array(json);
	json_key(json, "paths");
	json_begin_array(json);
	for (size_t i = 0; i < lock->path_count; i++)
		put_path(json, &lock->paths[i]);
	json_end_array(json);
	put_histogram(json, lock->lengths);
	json_end_object(json);
}

static void put_kind(struct json *json, const struct report_klock_kind *kind)
{
	json_begin_object(json);
	json_put_string(json, "kind", kind->kind);
	json_put_uint(json, "waits", kind->waits);
	json_put_uint(json, "total_ns", kind->wait_ns);
	json_put_uint(json, "p25_ns", kind->p25_ns);
	json_put_uint(json, "p50_ns", kind->p50_ns);
	json_put_uint(json, "p75_ns", kind->p75_ns);
	json_put_uint(json, "p99_ns", kind->p99_ns);
	json_put_uint(json, "max_ns", kind->max_ns);
	put_histogram(json, kind->lengths);
	json_end_object(json);
}

static void put_stack(struct json *json, const struct report_klock_stack *stack)
{
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = 0; i < stack->frame_count; i++) {
		struct text name = { 0 };

		text_frame_name(&name, &stack->frames[i]);
		json_string(json, name.bytes);
		text_fini(&name);
	}
	json_end_array(json);
}

void json_put_klock_members(struct json *json, const struct report *report)
{
	const struct report_klocks *klocks = &report->klocks;

	json_put_uint(json, "waits", klocks->waits);
	json_put_uint(json, "total_ns", klocks->wait_ns);
	json_put_uint(json, "tracing_ns", klocks->tracing_ns);
	if (klocks->counts_acquisitions) {
		json_put_uint(json, "acquisitions", klocks->acquisitions);
		json_put_uint(json, "take_ns", klocks->take_ns);
		json_put_uint(json, "take_cost_ns", klocks->take_cost_ns);
		json_put_uint(json, "hold_ns", klocks->hold_ns);
		json_put_uint(json, "hold_cost_ns", klocks->hold_cost_ns);
	}
	json_key(json, "locks");
	json_begin_array(json);
	for (size_t i = 0; i < klocks->lock_count; i++)
		put_lock(json, &klocks->locks[i], klocks->counts_acquisitions);
	json_end_array(json);
	json_key(json, "kinds");
	json_begin_array(json);
	for (size_t i = 0; i < klocks->kind_count; i++)
		put_kind(json, &klocks->kinds[i]);
	json_end_array(json);
	json_key(json, "stacks");
	json_begin_array(json);
	for (size_t i = 0; i < klocks->stack_count; i++)
		put_stack(json, &klocks->stacks[i]);
	json_end_array(json);
}

void json_put_klocks(struct json *json, const struct report *report)
{
	json_key(json, "kernel_locks");
	json_begin_object(json);
	json_put_klock_members(json, report);
	json_end_object(json);
}
