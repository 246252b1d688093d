/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel locks that are taken: how often, and how long they are held, as probes of functions tell. */
#include "klock_fixture.h"

enum { KIND = KLOCK_MUTEX, OTHER_KIND = KLOCK_RWSEM_READ, PID_OF_ENGINE = 4242, LOCKS = 5, STEPS = 4000 };

static const void *const lock_a = &plain.lock[0], *const lock_b = &plain.lock[2];
static uint64_t return_address = 0xffffffff81234567;

static void call(enum klock_step step, uint32_t kind, const void *lock)
{
	struct pt_regs regs = { .di = (uintptr_t)lock, .sp = (uintptr_t)&return_address };

	shim_cookie = KLOCK_PROBE(step, kind, 0);
	CHECK(!acquire_call(&regs));
}

static void come_back(enum klock_step step, uint32_t kind, uint64_t result)
{
	struct pt_regs regs = { .ax = result };

	shim_cookie = KLOCK_PROBE(step, kind, 0);
	CHECK(!acquire_return(&regs));
}

static void take(const void *lock)
{
	call(KLOCK_TAKES, KIND, lock);
	come_back(KLOCK_TAKES, KIND, 0);
}

static void let_go(const void *lock)
{
	call(KLOCK_LETS_GO, KIND, lock);
}

static struct ev_klock_held helds[RECORDED_MAX];
static size_t held_count;

/* All that is recorded now. */
static void list(void)
{
	const struct ev_header *header;
	size_t bytes;

	while ((header = shim_read(&rings, 0, &bytes)))
		;
	held_count = 0;
	for (size_t i = 0; shim_held(i); i++) {
		struct bpf_iter__bpf_map_elem element = { .key = shim_held(i) };

		list_holds(&element);
	}
	CHECK(!list_holds(&(struct bpf_iter__bpf_map_elem){ 0 }));
	while ((header = shim_read(&rings, 0, &bytes))) {
		CHECK_EQUAL(header->subsys, EV_KLOCK_HELD >> 16);
		CHECK_EQUAL(header->event, EV_KLOCK_HELD & 0xffff);
		CHECK_EQUAL(bytes, sizeof(*helds));
		CHECK(!header->thread);
		CHECK_THAT(held_count, <, RECORDED_MAX);
		helds[held_count++] = *(const struct ev_klock_held *)header;
	}
}

static void begin_counting(void)
{
	static struct klock_kind_name *const names = (void *)klock_kind_names;

	begin();
	shim_set_option(counts_acquisitions, true);
	shim_set_option(own_pid, PID_OF_ENGINE);
	snprintf(names[KIND].name, sizeof(names->name), "mutex");
	snprintf(names[OTHER_KIND].name, sizeof(names->name), "a kind of 23 characters");
}

static void end_counting(void)
{
	end();
	shim_set_option(counts_acquisitions, false);
	shim_set_option(own_pid, 0);
}

TEST(a_lock_that_is_taken_and_released_was_held_so_long)
{
	begin_counting();
	take(lock_a);
	pass(700);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK_EQUAL(helds[0].holds, 1);
	CHECK_EQUAL(helds[0].hold_ns, 700);
	CHECK_EQUAL(helds[0].max_hold_ns, 700);
	CHECK_EQUAL(helds[0].caller, return_address);
	CHECK(!helds[0].take_ns);
	CHECK_STRING(helds[0].kind, "mutex");
	CHECK(helds[0].lock && !helds[0].take_cost_ns && !helds[0].hold_cost_ns);
	end_counting();
}

TEST(what_was_recorded_is_not_repeated)
{
	begin_counting();
	take(lock_a);
	pass(5);
	let_go(lock_a);
	list();
	list();
	CHECK(!held_count);
	take(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK(!helds[0].holds && !helds[0].max_hold_ns);
	CHECK_EQUAL(helds[0].caller, return_address);
	pass(11);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK(!helds[0].taken);
	CHECK_EQUAL(helds[0].holds, 1);
	CHECK_EQUAL(helds[0].hold_ns, 11);
	end_counting();
}

TEST(it_is_had_when_the_function_returns_and_not_before)
{
	begin_counting();
	call(KLOCK_TAKES, KIND, lock_a);
	pass(300);
	come_back(KLOCK_TAKES, KIND, 0);
	pass(40);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].take_ns, 300);
	CHECK_EQUAL(helds[0].hold_ns, 40);
	end_counting();
}

/* The kernel has space to note only so many calls of a function at a time. */
TEST(without_its_return_it_is_had_from_the_end_of_the_wait_on)
{
	begin_counting();
	call(KLOCK_TAKES, KIND, lock_a);
	pass(100);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(900);
	wait_ends(lock_a, 0);
	pass(60);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK_EQUAL(helds[0].hold_ns, 60);
	end_counting();
}

TEST(what_is_given_up_was_not_taken)
{
	begin_counting();
	call(KLOCK_TRIES_FOR_ZERO, KIND, lock_a);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(50);
	wait_ends(lock_a, -4);
	come_back(KLOCK_TRIES_FOR_ZERO, KIND, -4);
	call(KLOCK_TRIES_FOR_ZERO, KIND, lock_a);
	come_back(KLOCK_TRIES_FOR_ZERO, KIND, -4);
	call(KLOCK_TRIES, KIND, lock_a);
	come_back(KLOCK_TRIES, KIND, 0xffffffff00000000); /* the result has 32 bits */
	let_go(lock_a);
	list();
	CHECK(!held_count);
	call(KLOCK_TRIES, KIND, lock_a);
	come_back(KLOCK_TRIES, KIND, 1);
	call(KLOCK_TRIES_FOR_ZERO, KIND, lock_b);
	come_back(KLOCK_TRIES_FOR_ZERO, KIND, 0);
	list();
	CHECK_EQUAL(held_count, 2);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK_EQUAL(helds[1].taken, 1);
	end_counting();
}

TEST(what_changes_is_held_twice_in_its_two_ways)
{
	begin_counting();
	take(lock_a);
	pass(30);
	call(KLOCK_CHANGES, OTHER_KIND, lock_a);
	pass(4);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 2);
	CHECK_EQUAL(helds[0].hold_ns, 30);
	CHECK_EQUAL(helds[1].hold_ns, 4);
	CHECK_STRING(helds[1].kind, "a kind of 23 characters");
	CHECK_EQUAL(helds[1].taken, 1);
	end_counting();
}

TEST(interrupts_others_and_locks_without_address_are_not_counted)
{
	begin_counting();
	in_context(IN_SOFTIRQ);
	take(lock_a);
	in_context(0);
	take(NULL);
	run_on(0, &world_add_task(&world, NULL)->task);
	take(lock_a);
	let_go(lock_a);
	run_on(0, &thread->task);
	list();
	CHECK(!held_count);
	take(lock_a);
	in_context(IN_HARDIRQ);
	let_go(lock_a);
	in_context(0);
	cpu_counts[0].is_remembering = 1;
	let_go(lock_a);
	cpu_counts[0].is_remembering = 0;
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK(!helds[0].holds);
	end_counting();
}

TEST(what_the_engine_takes_for_itself_is_what_noting_costs)
{
	begin_counting();
	thread->task.tgid = PID_OF_ENGINE;
	for (int ns = 90; ns >= 50; ns -= 10) {
		call(KLOCK_TAKES, KIND, lock_b);
		pass(ns + 3);
		come_back(KLOCK_TAKES, KIND, 0);
		pass(ns);
		let_go(lock_b);
	}
	let_go(lock_b); /* by somebody else's hand */
	thread->task.tgid = thread->task.pid;
	take(lock_a);
	pass(750);
	let_go(lock_a);
	call(KLOCK_TAKES, KIND, lock_a);
	pass(60);
	come_back(KLOCK_TAKES, KIND, 0);
	pass(20); /* less than it ever cost */
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 2);
	CHECK_EQUAL(helds[0].holds, 2);
	CHECK_EQUAL(helds[0].hold_ns, 700);
	CHECK_EQUAL(helds[0].max_hold_ns, 700);
	CHECK_EQUAL(helds[0].take_ns, 7);
	CHECK_EQUAL(helds[0].take_cost_ns, 53);
	CHECK_EQUAL(helds[0].hold_cost_ns, 50);
	end_counting();
}

TEST(more_locks_at_once_than_there_is_space_for_lose_the_oldest)
{
	begin_counting();
	for (int i = 0; i <= KLOCK_HOLDS_AT_ONCE; i++) {
		take((char *)lock_a + i);
		pass(10);
	}
	for (int i = KLOCK_HOLDS_AT_ONCE; i >= 0; i--)
		let_go((char *)lock_a + i);
	list();
	CHECK_EQUAL(held_count, KLOCK_HOLDS_AT_ONCE + 1);
	for (int i = 0; i <= KLOCK_HOLDS_AT_ONCE; i++) {
		CHECK_EQUAL(helds[i].taken, 1);
		CHECK_EQUAL(helds[i].holds, i > 0);
	}
	end_counting();
}

TEST(locks_for_which_there_is_no_space_are_lost_and_counted)
{
	begin_counting();
	shim_held_max = 1;
	take(lock_a);
	take(lock_b);
	let_go(lock_b);
	let_go(lock_a);
	list();
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	CHECK_EQUAL(helds[0].holds, 1);
	CHECK_EQUAL(holds_lost, 1);
	end_counting();
}

TEST(without_space_in_the_ring_a_list_is_not_recorded_and_not_lost)
{
	const struct ev_header *header;
	size_t bytes, recorded = 0;

	begin_counting();
	for (int i = 0; i < 3; i++)
		take((char *)lock_a + i);
	drain();
	shim_make_ring(&rings, 0, 3 * sizeof(*helds));
	for (size_t i = 0; shim_held(i); i++)
		list_holds(&(struct bpf_iter__bpf_map_elem){ .key = shim_held(i) });
	CHECK_EQUAL(holds_left, 1);
	CHECK(!cpu_counts[0].lost);
	while ((header = shim_read(&rings, 0, &bytes)))
		recorded++;
	list();
	CHECK_EQUAL(recorded, 2);
	CHECK_EQUAL(held_count, 1);
	CHECK_EQUAL(helds[0].taken, 1);
	end_counting();
}

/* What is recorded, one after the other, is what a list of all holds has. */
TEST(random_takes_are_those_of_a_model)
{
	uint64_t since_ns[LOCKS] = { 0 }, taken[LOCKS] = { 0 }, holds[LOCKS] = { 0 }, hold_ns[LOCKS] = { 0 };
	uint64_t recorded_taken = 0, recorded_holds = 0, recorded_ns = 0, all_taken = 0, all_holds = 0, all_ns = 0;
	uint32_t seed = 1;

	begin_counting();
	for (int step = 0; step < STEPS; step++) {
		uint32_t n = (seed = seed * 1664525 + 1013904223) >> 8, i = n % LOCKS;
		const char *lock = (const char *)lock_a + 8 * i;

		pass(1 + n / LOCKS % 100);
		if (since_ns[i]) {
			let_go(lock);
			holds[i]++;
			hold_ns[i] += shim_now_ns - since_ns[i];
			since_ns[i] = 0;
		} else {
			take(lock);
			taken[i]++;
			since_ns[i] = shim_now_ns;
		}
		if (n / 500 % 100 && step + 1 < STEPS)
			continue;
		list();
		for (size_t k = 0; k < held_count; k++) {
			recorded_taken += helds[k].taken;
			recorded_holds += helds[k].holds;
			recorded_ns += helds[k].hold_ns;
		}
	}
	for (int i = 0; i < LOCKS; i++) {
		all_taken += taken[i];
		all_holds += holds[i];
		all_ns += hold_ns[i];
	}
	CHECK_EQUAL(recorded_taken, all_taken);
	CHECK_EQUAL(recorded_holds, all_holds);
	CHECK_EQUAL(recorded_ns, all_ns);
	CHECK_THAT(all_holds, >, STEPS / 3);
	end_counting();
}
