// SPDX-License-Identifier: GPL-2.0-or-later
#include "world_internal.h"

enum {
	KERNEL_FRAMES = 2,
	STACK_WORDS = 8, /* those of a path, up to the end of their page */
	SLACK_THREAD_NS = 4096,
	SLACK_SHIFT = 9,
	LONG_SLICE_SHIFT = 32,
};

static const uint64_t kernel_frames[KERNEL_FRAMES] = { 0xffffffff81000100, 0xffffffff81000200 };

/* --- Paths ------------------------------------------------------------------------------- */

static uint64_t path_frame(uint32_t path, uint32_t i)
{
	return 0x400000 + path % 8 * 0x1000 + i * 16;
}

/* Paths 8 and 16 apart share their frames except for their number. */
static uint32_t path_length(uint32_t path)
{
	return path == WORLD_PATHS ? 0 : 1 + path / 8 * 3;
}

static uint64_t path_stack(uint32_t path)
{
	return 0x70000000 + (path + 1) * PAGE_BYTES - STACK_WORDS * sizeof(uint64_t);
}

void world_go_to_path(struct world_task *task)
{
	task->registers.ip = task->task.mm ? path_frame(task->path, 0) : 0;
	task->registers.sp = path_stack(task->path);
}

uint64_t world_expect_frames(struct world *world, uint32_t cpu, uint32_t path, bool has_kernel)
{
	struct world_path *known = &world->paths[has_kernel * (WORLD_PATHS + 1) + path];
	uint32_t kernel_count = has_kernel ? KERNEL_FRAMES : 0, count = path_length(path);
	const struct ev_stack_frames *e;

	if (known->is_recorded || !(kernel_count + count))
		return known->id;
	e = world_expect(world, cpu, EV_STACK_FRAMES, 0);
	world_require(world, e->stack && (!known->id || e->stack == known->id));
	world_require(world, e->kernel_count == kernel_count && e->user_count == count);
	world_require(world, !memcmp(e->frames, kernel_frames, kernel_count * sizeof(uint64_t)));
	for (uint32_t i = 0; i < count; i++)
		world_require(world, e->frames[kernel_count + i] == path_frame(path, i));
	for (uint32_t i = 0; i < WORLD_STACKS; i++)
		world_require(world, &world->paths[i] == known || world->paths[i].id != e->stack);
	known->id = e->stack;
	known->is_recorded = true;
	return known->id;
}

static void set_kernel_stack(const uint64_t *above, size_t above_count)
{
	shim_kernel_stack.count = above_count + KERNEL_FRAMES;
	memcpy(shim_kernel_stack.frames, above, above_count * sizeof(*above));
	memcpy(shim_kernel_stack.frames + above_count, kernel_frames, sizeof(kernel_frames));
}

void world_interrupt_kernel(uint64_t ip)
{
	set_kernel_stack((uint64_t[]){ 0xffffffff81000300, 0xffffffff81000400, ip }, ip ? 3 : 0);
}

/* Paths of one frame are the same without it. */
static struct world_path *sample_path(struct world *world, uint32_t path, bool is_in_kernel)
{
	return &world->paths[(2 + is_in_kernel) * (WORLD_PATHS + 1) +
			     (path_length(path) == 1 && !is_in_kernel ? 0 : path)];
}

static void check_sample_frames(struct world *world, const struct ev_stack_frames *e, uint32_t path, bool is_in_kernel)
{
	uint32_t kernel_count = is_in_kernel ? 1 + KERNEL_FRAMES : 0, count = path_length(path);

	world_require(world, e->header.subsys == TRACE_SUBSYS_STACK && e->header.event == TRACE_EVENT_STACK_FRAMES);
	world_require(world, e->kernel_count == kernel_count && e->user_count == count);
	world_require(world, !e->frames[0]);
	if (is_in_kernel)
		world_require(world, !memcmp(e->frames + 1, kernel_frames, sizeof(kernel_frames)));
	for (uint32_t i = is_in_kernel ? 0 : 1; i < count; i++)
		world_require(world, e->frames[kernel_count + i] == path_frame(path, i));
}

void world_expect_sample(struct world *world, uint32_t cpu, const struct world_task *task, uint64_t kernel_ip,
			 uint64_t due_ns)
{
	uint32_t path = task->task.mm ? task->path : WORLD_PATHS;
	struct world_path *known = sample_path(world, path, kernel_ip);
	const struct ev_stack_frames *frames;
	const struct ev_sched_sample *e;

	if (!known->is_recorded && (kernel_ip || path_length(path))) {
		frames = (const struct ev_stack_frames *)shim_read(&sample_rings, cpu, NULL);
		world_require(world, frames);
		check_sample_frames(world, frames, path, kernel_ip);
		for (uint32_t i = 0; i < WORLD_STACKS; i++)
			world_require(world, &world->paths[i] == known || world->paths[i].id != frames->stack);
		known->id = frames->stack;
		known->is_recorded = true;
	}
	e = (const struct ev_sched_sample *)shim_read(&sample_rings, cpu, NULL);
	world_require(world, e && e->header.subsys == TRACE_SUBSYS_SCHED);
	world_require(world, e->header.event == TRACE_EVENT_SCHED_SAMPLE && e->header.thread == task->number);
	world->have_samples_stacks |= known->id != 0;
	world_require(world, e->ip == (kernel_ip ? task->registers.ip : 0x401234));
	world_require(world, e->kernel_ip == kernel_ip && e->stack == known->id && e->due_ns == due_ns);
}

/* The stack of a task at this moment. */
static uint64_t expect_stack(struct world *world, uint32_t cpu, const struct world_task *task, bool has_kernel)
{
	if (task->has_exit_stack) /* recorded when it was taken */
		return world->paths[task->exit_path].id;
	return world_expect_frames(world, cpu, task->task.mm ? task->path : WORLD_PATHS, has_kernel);
}

/* --- Coins ------------------------------------------------------------------------------- */

static uint32_t last_coin, coins_thrown;

/* Often so small that rare stacks are kept, too. */
static uint32_t throw_coin(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	coins_thrown++;
	last_coin = x % 8 ? x >> 32 : x >> 53;
	return last_coin;
}

/* The one that was thrown since the last time; there must have been as many. */
static uint32_t take_coin(struct world *world, uint32_t count)
{
	world_require(world, coins_thrown == count);
	coins_thrown = 0;
	return last_coin;
}

void world_stacks_init(struct world *world)
{
	for (uint32_t path = 0; path < WORLD_PATHS; path++) {
		uint64_t words[STACK_WORDS] = { 0 };

		for (uint32_t i = 1; i < path_length(path); i++)
			words[i - 1] = path_frame(path, i);
		shim_plant(path_stack(path), words, sizeof(words));
	}
	world_interrupt_kernel(0);
	shim_random = throw_coin;
	take_coin(world, coins_thrown);
}

/* --- What must have come ------------------------------------------------------------------- */

/* Probabilities with which the stack of a slice is kept, times 2^32: 0 if it need not be. */
struct bounds {
	double min, max;
};

static double keep_of(const struct world *world, double weight_ns)
{
	double threshold_ns = world->options.keep_all_above_ns;

	if (weight_ns >= threshold_ns)
		return MODEL_CERTAIN;
	return weight_ns > 0 ? model_keep(weight_ns, threshold_ns) : model_keep(0, threshold_ns);
}

static struct bounds slice_bounds(const struct world *world, const struct world_task *task, bool *is_critical)
{
	uint64_t begin_ns = task->slice_begin_ns, end_ns = world->now_ns;
	uint64_t length_ns = end_ns - begin_ns;
	model_integral integral = model_active_between(&world->model, begin_ns, end_ns);
	model_integral limit = (model_integral)length_ns * model_nmin_doubled(&world->model, world->model.alive);
	double weight_ns = length_ns ? (double)length_ns * length_ns / integral : 0;
	struct bounds bounds = { 0, 0 };

	*is_critical = model_is_critical(&world->model, begin_ns, end_ns);
	/* The kernel side knows the mean of n to a sixteenth, and counts in ns. */
	if (*is_critical)
		bounds.min = keep_of(world, weight_ns * 0.93 - 2);
	if (*is_critical || length_ns >> LONG_SLICE_SHIFT ||
	    2 * integral <= limit + (length_ns >> SLACK_SHIFT) + SLACK_THREAD_NS)
		bounds.max = keep_of(world, weight_ns * 1.07 + 2);
	return bounds;
}

static bool is_wait(uint8_t state)
{
	return state == SWITCH_SLEEPING || state == SWITCH_BLOCKED || state == SWITCH_STOPPED;
}

/* The coin that decides about the stacks of a switch; where all are kept it is 0. */
static uint32_t switch_coin(struct world *world, const struct ev_sched_switch *e)
{
	bool is_decided = is_wait(e->state) || e->flags & (SWITCH_HAS_STACK | SWITCH_STACK_SKIPPED);
	bool is_thrown = is_decided && world->options.keep_all_above_ns;
	uint32_t coin = take_coin(world, is_thrown);

	return is_thrown ? coin : 0;
}

static void begin_wait(struct world *world, struct world_task *task, uint32_t coin, bool has_stack)
{
	task->has_waited = true;
	task->wait_begin_ns = world->now_ns;
	task->wait_coin = coin;
	task->wait_has_stack = has_stack;
	world->waits++;
	world->waits_kept += has_stack;
}

void world_check_switch_stack(struct world *world, uint32_t cpu, struct world_task *prev,
			      const struct ev_sched_switch *e)
{
	bool has_stack = e->flags & SWITCH_HAS_STACK, is_skipped = e->flags & SWITCH_STACK_SKIPPED;
	uint64_t threshold_ns = world->options.keep_all_above_ns, wait_keep = 0;
	double keep = e->keep ? e->keep : MODEL_CERTAIN;
	uint32_t coin = switch_coin(world, e);
	struct bounds bounds;
	bool is_critical;

	bounds = slice_bounds(world, prev, &is_critical);
	world->slices++;
	world->critical_slices += is_critical;
	if (world->options.has_no_slice_stacks && world->have_samples_stacks && e->state == SWITCH_RUNNABLE) {
		is_critical = false;
		bounds = (struct bounds){ 0, 0 };
	}
	world_require(world, !has_stack || !is_skipped);
	if (is_wait(e->state)) {
		wait_keep = model_keep(model_wait_weight(&world->model, prev->wait_mean_ns), threshold_ns);
		begin_wait(world, prev, coin, has_stack);
	} else {
		world->generous_stacks += !is_critical && (has_stack || is_skipped);
	}
	world_require(world, !is_critical || has_stack || is_skipped);
	world_require(world, !is_skipped || bounds.max);
	bounds.min = bounds.min > wait_keep ? bounds.min : wait_keep;
	bounds.max = bounds.max > wait_keep ? bounds.max : wait_keep;
	if (!has_stack) {
		world_require(world, coin >= bounds.min && !e->stack && !e->keep);
		return;
	}
	world_require(world, bounds.max && keep >= bounds.min && keep <= bounds.max);
	world_require(world, coin < keep);
	world_require(world, e->stack == expect_stack(world, cpu, prev, e->state == SWITCH_BLOCKED));
}

void world_check_wake_stacks(struct world *world, uint32_t cpu, const struct world_task *waker, struct world_task *task,
			     const struct ev_sched_wake *e)
{
	uint64_t wait_ns = task->has_waited ? world->now_ns - task->wait_begin_ns : 0;
	uint64_t keep = model_keep(model_wait_weight(&world->model, wait_ns), world->options.keep_all_above_ns);
	bool is_kept, is_readable, is_within = waker && waker->task.tgid == task->task.tgid;
	uint32_t coin;

	/* The coin of the wait; another one where all were kept, or it was not seen to begin. */
	coin = take_coin(world, waker && !task->wait_coin);
	if (task->wait_coin)
		coin = task->wait_coin;
	is_kept = waker && coin < keep;
	task->wait_mean_ns = model_wait_mean(task->wait_mean_ns, wait_ns);
	world_require(world, e->keep == (waker && keep < MODEL_CERTAIN ? keep : 0));
	world_require(world, !(e->flags & WAKE_HAS_STACK) == !is_kept);
	world_require(world, !(e->flags & WAKE_HAS_WAIT_STACK) == !(is_kept && is_within && !task->wait_has_stack));
	world_require(world, e->stack == (is_kept ? expect_stack(world, cpu, waker, false) : 0));
	if (!(e->flags & WAKE_HAS_WAIT_STACK)) {
		world_require(world, !e->wait_stack);
		return;
	}
	world->wait_stacks++;
	/* It was taken at its exit, or can be read while both have the process's memory. */
	is_readable = task->has_exit_stack || waker->task.mm;
	world_require(world, e->wait_stack == (is_readable ? expect_stack(world, cpu, task, false) : 0));
}
