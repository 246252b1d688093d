/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for kernel locks: which are recorded, once each, with what. Names are in bpf_klock_name_test.c. */
#include "klock_fixture.h"

static const void *const lock_a = &plain.lock[0], *const lock_b = &plain.lock[2], *const lock_c = &plain.lock[4];

static bool is_wait(const struct ev_klock_wait *e, const struct ev_klock_lock *lock, uint64_t begin_ns,
		    enum klock_kind kind)
{
	return e->lock == lock->lock && e->begin_ns == begin_ns && e->kind == kind && !e->reserved;
}

/* --- One wait --------------------------------------------------------------------------------- */

TEST(a_spin_is_recorded_at_its_end)
{
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, SPINS);
	drain();
	CHECK(!wait_count);
	CHECK_EQUAL(lock_count, 1);
	CHECK_EQUAL(locks[0].address, (uintptr_t)lock_a);
	pass(700);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK(!lock_count);
	CHECK_EQUAL(waits[0].header.thread, thread->number);
	CHECK_EQUAL(waits[0].begin_ns, begin_ns);
	CHECK_EQUAL(waits[0].header.time_ns, begin_ns + 700);
	CHECK(waits[0].lock);
	CHECK_EQUAL(waits[0].tid, (uint32_t)thread->task.pid);
	CHECK(!waits[0].owner);
	CHECK_EQUAL(waits[0].context, WAKE_THREAD);
	CHECK_EQUAL(waits[0].kind, KLOCK_SPINLOCK);
	CHECK_EQUAL(waits[0].flags, KLOCK_HAS_STACK);
	CHECK(!waits[0].owner_stack && !waits[0].reserved);
	end();
}

TEST(each_way_of_taking_a_lock_has_its_kind)
{
	static const struct {
		unsigned int flags;
		enum klock_kind kind;
	} ways[] = {
		{ CONTENTION_SPINS, KLOCK_SPINLOCK },
		{ CONTENTION_SPINS | CONTENTION_READS, KLOCK_RWLOCK_READ },
		{ CONTENTION_SPINS | CONTENTION_WRITES, KLOCK_RWLOCK_WRITE },
		{ CONTENTION_MUTEX | CONTENTION_SPINS, KLOCK_MUTEX },
		{ CONTENTION_MUTEX, KLOCK_MUTEX },
		{ CONTENTION_READS, KLOCK_RWSEM_READ },
		{ CONTENTION_WRITES, KLOCK_RWSEM_WRITE },
		{ CONTENTION_PERCPU | CONTENTION_READS, KLOCK_PERCPU_READ },
		{ CONTENTION_PERCPU | CONTENTION_WRITES, KLOCK_PERCPU_WRITE },
		{ CONTENTION_RT, KLOCK_RTMUTEX },
		{ CONTENTION_RT | CONTENTION_READS, KLOCK_RWSEM_READ },
		{ 0, KLOCK_SEMAPHORE },
	};

	begin();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		CHECK_EQUAL(wait_for(lock_a, ways[i].flags, 100 + i)->kind, ways[i].kind);
	end();
}

TEST(a_mutex_that_spins_and_then_sleeps_is_one_wait)
{
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, MUTEX_SPINS);
	pass(300);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(5000);
	wait_begins(lock_a, MUTEX_SPINS);
	pass(40);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].begin_ns, begin_ns);
	CHECK_EQUAL(waits[0].header.time_ns, begin_ns + 5340);
	end();
}

TEST(a_wait_that_was_given_up_says_so)
{
	begin();
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(10);
	wait_ends(lock_a, -4);
	wait_begins(lock_b, MUTEX_SLEEPS);
	pass(10);
	wait_ends(lock_b, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK(waits[0].flags & KLOCK_GAVE_UP && !(waits[1].flags & KLOCK_GAVE_UP));
	end();
}

TEST(an_end_without_a_begin_is_nothing)
{
	begin();
	wait_ends(lock_a, 0);
	wait_begins(lock_a, SPINS);
	wait_ends(lock_b, 0);
	drain();
	CHECK(!wait_count);
	wait_ends(lock_a, 0);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	end();
}

/* The first one's end was not reported: another program of ours was in its way. */
TEST(a_second_begin_of_anything_but_a_mutex_is_another_wait)
{
	static const unsigned int flags[] = { SPINS, CONTENTION_WRITES };

	begin();
	for (size_t i = 0; i < 2; i++) {
		wait_begins(lock_a, flags[i]);
		pass(5000);
		CHECK(wait_for(lock_a, flags[i], 30));
		wait_ends(lock_a, 0);
		drain();
		CHECK(!wait_count);
	}
	end();
}

/* --- Several at once -------------------------------------------------------------------------- */

TEST(a_spin_inside_a_wait_that_sleeps_is_a_wait_of_its_own)
{
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, MUTEX_SPINS);
	pass(10);
	wait_begins(lock_b, SPINS);
	pass(20);
	wait_ends(lock_b, 0);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(1000);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(lock_count, 2);
	CHECK(is_wait(&waits[0], &locks[1], begin_ns + 10, KLOCK_SPINLOCK));
	CHECK_EQUAL(waits[0].header.time_ns, begin_ns + 30);
	CHECK(is_wait(&waits[1], &locks[0], begin_ns, KLOCK_MUTEX));
	CHECK_EQUAL(waits[1].header.time_ns, begin_ns + 1030);
	end();
}

static uint32_t coin;

static uint32_t throw_coin(void)
{
	return coin;
}

TEST(who_waits_for_a_rwlock_may_wait_for_the_spinlock_in_it_first)
{
	const void *inner = (const char *)lock_a + 4;
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, SPINS | CONTENTION_WRITES);
	pass(100);
	wait_begins(inner, SPINS);
	pass(200);
	wait_ends(inner, 0);
	pass(400);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(waits[0].kind, KLOCK_SPINLOCK);
	CHECK_EQUAL(waits[1].kind, KLOCK_RWLOCK_WRITE);
	CHECK_EQUAL(waits[0].begin_ns, begin_ns + 100);
	CHECK_EQUAL(waits[0].header.time_ns, begin_ns + 300);
	CHECK_EQUAL(waits[1].begin_ns, begin_ns);
	CHECK_EQUAL(waits[1].header.time_ns, begin_ns + 700);
	end();
}

TEST(a_spin_whose_end_is_not_recorded_does_not_hide_the_next_one)
{
	begin();
	wait_begins(lock_a, SPINS);
	pass(100);
	wait_begins(lock_b, SPINS);
	pass(100);
	wait_ends(lock_b, 0);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].kind, KLOCK_SPINLOCK);
	CHECK_EQUAL(waits[0].header.time_ns - waits[0].begin_ns, 100);
	end();
}

TEST(what_interrupts_a_spin_may_spin_itself)
{
	begin();
	coin = 0;
	shim_random = throw_coin;
	wait_begins(lock_a, SPINS);
	pass(10);
	in_context(IN_SOFTIRQ);
	wait_begins(lock_b, SPINS);
	pass(20);
	in_context(IN_SOFTIRQ | IN_HARDIRQ);
	wait_begins(lock_c, SPINS);
	pass(30);
	wait_ends(lock_c, 0);
	in_context(IN_SOFTIRQ);
	wait_ends(lock_b, 0);
	in_context(0);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 3);
	CHECK_EQUAL(lock_count, 3);
	CHECK_EQUAL(waits[0].context, WAKE_HARDIRQ);
	CHECK_EQUAL(waits[0].header.time_ns - waits[0].begin_ns, 30);
	CHECK_EQUAL(waits[1].context, WAKE_SOFTIRQ);
	CHECK_EQUAL(waits[1].header.time_ns - waits[1].begin_ns, 50);
	CHECK_EQUAL(waits[2].context, WAKE_THREAD);
	CHECK_EQUAL(waits[2].header.time_ns - waits[2].begin_ns, 60);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQUAL(waits[i].lock, locks[2 - i].lock);
		CHECK_EQUAL(waits[i].header.thread, thread->number);
	}
	/* Where the thread is does not say where the interrupt's handler is. */
	CHECK(!(waits[0].flags & KLOCK_HAS_STACK) && !(waits[1].flags & KLOCK_HAS_STACK));
	CHECK(waits[2].flags & KLOCK_HAS_STACK);
	end();
}

/* Its program was not entered again, for the thread's end was being reported. */
TEST(an_interrupt_whose_end_was_not_recorded_does_not_lend_its_beginning_to_a_later_one)
{
	begin();
	in_context(IN_HARDIRQ);
	wait_begins(lock_a, SPINS);
	in_context(IN_SOFTIRQ);
	wait_begins(lock_b, SPINS);
	in_context(0);
	pass(1000000);
	wait_for(lock_c, SPINS, 10);
	in_context(IN_HARDIRQ);
	wait_ends(lock_a, 0);
	in_context(IN_SOFTIRQ);
	wait_ends(lock_b, 0);
	drain();
	CHECK(!wait_count);
	end();
}

/* --- Interrupts while a program runs ---------------------------------------------------------- */

/* Those that wait, the inner one within the programs of the outer one; at how many points from now on. */
static struct {
	uint32_t context;
	const void *lock;
	size_t points_left; /* SIZE_MAX: never */
} interrupts[2];

static void interrupt_inner(void);

static void interrupt(size_t i, void (*at_point)(void))
{
	shim_at_point = at_point;
	in_context(interrupts[i].context);
	wait_begins(interrupts[i].lock, SPINS);
	wait_ends(interrupts[i].lock, 0);
	in_context(i ? interrupts[0].context : 0);
	shim_at_point = NULL;
}

static void interrupt_inner(void)
{
	if (!interrupts[1].points_left--)
		interrupt(1, NULL);
}

static void interrupt_outer(void)
{
	if (!interrupts[0].points_left--)
		interrupt(0, interrupt_inner);
}

/* One wait of the thread, interrupted at these points. False: there are not so many. */
static bool wait_interrupted(size_t outer, size_t inner)
{
	interrupts[0].context = IN_SOFTIRQ;
	interrupts[1].context = IN_SOFTIRQ | IN_HARDIRQ;
	interrupts[0].lock = lock_b;
	interrupts[1].lock = lock_c;
	interrupts[0].points_left = outer;
	interrupts[1].points_left = inner;
	shim_at_point = interrupt_outer;
	wait_begins(lock_a, SPINS);
	wait_ends(lock_a, 0);
	shim_at_point = NULL;
	drain();
	return interrupts[0].points_left == SIZE_MAX && (inner == SIZE_MAX || interrupts[1].points_left == SIZE_MAX);
}

static uint64_t name_a, name_b, name_c;

static size_t count_waits(uint64_t lock, enum wake_context context)
{
	size_t count = 0;

	for (size_t i = 0; i < wait_count; i++)
		count += waits[i].lock == lock && waits[i].context == context;
	return count;
}

/* With all names recorded and no stacks: no map is written. */
static void begin_known(void)
{
	begin();
	shim_random = throw_coin;
	coin = UINT32_MAX;
	name_a = wait_for(lock_a, SPINS, 1)->lock;
	name_b = wait_for(lock_b, SPINS, 1)->lock;
	name_c = wait_for(lock_c, SPINS, 1)->lock;
}

static uint64_t events_lost(void)
{
	return begins.misses + ends.misses - cpu_counts[0].klocks_nested;
}

TEST(an_interrupt_that_waits_while_a_program_runs_is_recorded)
{
	begin_known();
	for (size_t at = 0; wait_interrupted(at, SIZE_MAX); at++) {
		CHECK_EQUAL(count_waits(name_a, WAKE_THREAD), 1);
		CHECK_EQUAL(count_waits(name_b, WAKE_SOFTIRQ), 1);
		CHECK_EQUAL(wait_count, 2);
	}
	CHECK_THAT(begins.misses, >, 5);
	CHECK_THAT(ends.misses, >, 5);
	CHECK(!events_lost());
	end();
}

/* A wait has two events. */
TEST(an_interrupt_in_an_interrupt_is_recorded_or_counted)
{
	size_t waits_lost = 0;

	begin_known();
	for (size_t outer = 0; wait_interrupted(outer, SIZE_MAX); outer++)
		for (size_t inner = 0;; inner++) {
			uint64_t before = events_lost();

			if (!wait_interrupted(outer, inner))
				break;
			CHECK_EQUAL(count_waits(name_a, WAKE_THREAD), 1);
			CHECK_THAT(events_lost() - before, >=, 3 - wait_count);
			CHECK_THAT(events_lost() - before, <=, 2 * (3 - wait_count));
			waits_lost += 3 - wait_count;
		}
	CHECK(waits_lost);
	end();
}

/* A helper of klock_begin waits: in the same context, and other locks may be held. */
static void wait_in_helper(void)
{
	if (cpu_counts[0].klock_begin_seen.address != 1 || interrupts[0].points_left--)
		return;
	shim_at_point = NULL;
	wait_begins(lock_c, SPINS);
	wait_ends(lock_c, 0);
}

TEST(what_a_helper_waits_for_is_not_recorded_and_not_lost)
{
	static const uint32_t contexts[] = { 0, IN_SOFTIRQ, IN_HARDIRQ };

	for (size_t i = 0; i < 3; i++) {
		size_t at = 0;

		begin_known();
		in_context(contexts[i]);
		do {
			interrupts[0].points_left = at;
			shim_at_point = wait_in_helper;
			wait_begins(lock_a, SPINS);
			wait_ends(lock_a, 0);
			shim_at_point = NULL;
			drain();
			CHECK_EQUAL(wait_count, 1);
			CHECK_EQUAL(waits[0].lock, name_a);
			CHECK(!events_lost());
			at++;
		} while (interrupts[0].points_left == SIZE_MAX);
		CHECK_THAT(at, >, 5);
		end();
	}
}

TEST(two_locks_may_be_slept_for_at_once)
{
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, CONTENTION_WRITES);
	pass(10);
	wait_begins(lock_b, MUTEX_SPINS);
	pass(10);
	wait_begins(lock_b, MUTEX_SLEEPS);
	pass(100);
	wait_ends(lock_b, 0);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(lock_count, 2);
	CHECK(is_wait(&waits[0], &locks[1], begin_ns + 10, KLOCK_MUTEX));
	CHECK(is_wait(&waits[1], &locks[0], begin_ns, KLOCK_RWSEM_WRITE));
	end();
}

/* Their ends may come in any order. */
TEST(the_outer_one_of_two_waits_may_end_first)
{
	uint64_t begin_ns;

	begin();
	wait_begins(lock_a, CONTENTION_WRITES);
	pass(10);
	begin_ns = shim_now_ns;
	wait_begins(lock_b, MUTEX_SPINS);
	pass(10);
	wait_ends(lock_a, 0);
	wait_begins(lock_b, MUTEX_SLEEPS);
	pass(100);
	wait_ends(lock_b, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(waits[1].begin_ns, begin_ns);
	CHECK_EQUAL(waits[1].kind, KLOCK_MUTEX);
	for (size_t i = 0; i < KLOCKS_AT_ONCE; i++)
		CHECK(!shim_thread(&thread->task)->klocks[i].address);
	end();
}

TEST(who_sleeps_may_end_its_wait_on_another_cpu)
{
	uint64_t begin_ns;

	begin();
	begin_ns = shim_now_ns;
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(10);
	run_on(1, &thread->task);
	wait_begins(lock_a, MUTEX_SPINS);
	wait_begins(lock_b, SPINS);
	wait_ends(lock_b, 0);
	pass(10);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(waits[1].begin_ns, begin_ns);
	CHECK_EQUAL(waits[1].header.time_ns, begin_ns + 20);
	end();
}

TEST(threads_wait_for_one_lock_each_for_itself)
{
	struct world_task *second;

	begin();
	second = add_traced();
	drain();
	run_on(0, &thread->task);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(10);
	run_on(0, &second->task);
	wait_begins(lock_a, MUTEX_SLEEPS);
	pass(10);
	run_on(1, &thread->task);
	wait_ends(lock_a, 0);
	pass(10);
	run_on(0, &second->task);
	wait_ends(lock_a, 0);
	drain();
	/* The rings are read by CPU. */
	CHECK_EQUAL(wait_count, 2);
	CHECK_EQUAL(waits[0].header.thread, second->number);
	CHECK_EQUAL(waits[1].header.thread, thread->number);
	CHECK_EQUAL(waits[0].header.time_ns - waits[0].begin_ns, 20);
	CHECK_EQUAL(waits[1].header.time_ns - waits[1].begin_ns, 20);
	end();
}

/* --- Who is recorded -------------------------------------------------------------------------- */

TEST(who_is_not_traced_is_not_reported)
{
	begin();
	run_on(0, &world_add_task(&world, NULL)->task);
	wait_begins(lock_a, SPINS);
	wait_ends(lock_a, 0);
	wait_begins(lock_a, MUTEX_SLEEPS);
	wait_ends(lock_a, 0);
	drain();
	CHECK(!wait_count && !lock_count && !other_count);
	end();
}

TEST(with_all_traced_the_spins_of_others_are_recorded_and_never_those_of_pinch)
{
	struct world_options options = { .cpu_count = CPUS, .begin_ns = 1000000, .trace_all = true };
	struct world_task *kernel_thread, *own;

	begin_as(&options);
	kernel_thread = world_add_task(&world, NULL);
	kernel_thread->task.flags |= PF_KTHREAD;
	own = world_add_task(&world, NULL);
	shim_set_option(own_pid, own->task.pid);
	run_on(0, &kernel_thread->task);
	coin = UINT32_MAX;
	shim_random = throw_coin;
	CHECK(wait_for(lock_a, SPINS, 55));
	CHECK(!waits[0].header.thread);
	CHECK_EQUAL(waits[0].tid, (uint32_t)kernel_thread->task.pid);
	CHECK_EQUAL(waits[0].context, WAKE_KERNEL_THREAD);
	CHECK(!waits[0].flags && !waits[0].stack);
	CHECK_EQUAL(other_count, 1);
	CHECK_EQUAL(others[0].tid, waits[0].tid);
	CHECK(others[0].is_kernel);
	run_on(0, &own->task);
	wait_begins(lock_a, SPINS);
	wait_ends(lock_a, 0);
	in_context(IN_HARDIRQ);
	wait_begins(lock_b, SPINS);
	wait_ends(lock_b, 0);
	drain();
	CHECK(!wait_count && !lock_count && !other_count);
	end();
}

TEST(with_all_traced_kernel_threads_sleep_for_locks_too_and_say_where)
{
	struct world_options options = { .cpu_count = CPUS, .begin_ns = 1000000, .trace_all = true };
	struct world_task *kernel_thread;

	begin_as(&options);
	kernel_thread = world_add_task(&world, NULL);
	kernel_thread->task.flags |= PF_KTHREAD;
	run_on(0, &kernel_thread->task);
	wait_begins(lock_a, MUTEX_SPINS);
	pass(10);
	wait_begins(lock_a, MUTEX_SLEEPS);
	run_on(1, &kernel_thread->task);
	pass(500000);
	CHECK(wait_for(lock_b, CONTENTION_WRITES, 70));
	CHECK_EQUAL(waits[0].kind, KLOCK_RWSEM_WRITE);
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK(!waits[0].header.thread);
	CHECK_EQUAL(waits[0].context, WAKE_KERNEL_THREAD);
	CHECK_EQUAL(waits[0].header.time_ns - waits[0].begin_ns, 500080);
	CHECK_EQUAL(waits[0].tid, (uint32_t)kernel_thread->task.pid);
	CHECK_EQUAL(waits[0].flags, KLOCK_HAS_STACK);
	CHECK(waits[0].stack);
	CHECK_EQUAL(waits[0].kind, KLOCK_MUTEX);
	/* Without memory for it, a wait is not recorded; one of a thread that is traced has space. */
	shim_storage_fails = true;
	run_on(0, &world_add_task(&world, NULL)->task);
	wait_begins(lock_a, MUTEX_SLEEPS);
	wait_ends(lock_a, 0);
	drain();
	CHECK(!wait_count);
	run_on(0, &thread->task);
	CHECK(wait_for(lock_a, MUTEX_SLEEPS, 30));
	end();
}

TEST(an_interrupt_of_who_is_not_traced_names_nobody)
{
	struct world_options options = { .cpu_count = CPUS, .begin_ns = 1000000, .trace_all = true };

	begin_as(&options);
	run_on(0, &world_add_task(&world, NULL)->task);
	in_context(IN_SOFTIRQ);
	CHECK(wait_for(lock_a, SPINS, 55) && !waits[0].header.thread && !other_count);
	end();
}

/* --- While it is noted what is known ---------------------------------------------------------- */

static struct klock_wait *spin_of_thread(void)
{
	uint32_t context = WAKE_THREAD;

	return bpf_map_lookup_elem(&klock_spins, &context);
}

static size_t waits_for_map;

/* The lock of the map that is written is waited for. */
static void wait_for_map(void)
{
	void (*at_point)(void) = shim_at_point;

	if (!cpu_counts[shim_cpu].is_remembering)
		return;
	shim_at_point = NULL;
	waits_for_map++;
	wait_begins(lock_c, SPINS);
	wait_begins(lock_c, MUTEX_SLEEPS);
	pass(1);
	wait_ends(lock_c, 0);
	shim_at_point = at_point;
}

TEST(waits_for_the_maps_of_what_is_known_are_not_recorded)
{
	struct klock_wait before;
	uint64_t runs;

	begin();
	before = *spin_of_thread();
	waits_for_map = 0;
	shim_at_point = wait_for_map;
	wait_begins(lock_a, MUTEX_SLEEPS); /* a stack and a lock are recorded for the first time */
	CHECK_EQUAL(waits_for_map, 2);
	CHECK_EQUAL(shim_thread(&thread->task)->klocks[0].address, (uintptr_t)lock_a);
	CHECK(!shim_thread(&thread->task)->klocks[1].address);
	runs = cpu_counts[0].runs;
	wait_ends(lock_a, 0);
	shim_at_point = NULL;
	CHECK(!memcmp(spin_of_thread(), &before, sizeof(before)));
	CHECK_EQUAL(cpu_counts[0].runs, runs + 1);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(lock_count, 1);
	CHECK_EQUAL(locks[0].address, (uintptr_t)lock_a);
	end();
}

/* --- Stacks ----------------------------------------------------------------------------------- */

TEST(the_stack_of_the_waiter_goes_through_the_kernel_and_is_recorded_once)
{
	uint64_t stack;

	begin();
	stack = wait_for(lock_a, MUTEX_SLEEPS, 10)->stack;
	CHECK(stack);
	CHECK_EQUAL(stack_count, 1);
	CHECK_EQUAL(stacks[0], stack);
	CHECK(!waits[0].keep);
	CHECK_EQUAL(wait_for(lock_b, MUTEX_SLEEPS, 10)->stack, stack);
	CHECK(!stack_count);
	shim_kernel_stack.frames[0]++;
	CHECK_THAT(wait_for(lock_b, MUTEX_SLEEPS, 10)->stack, !=, stack);
	CHECK_EQUAL(stack_count, 1);
	end();
}

/* Waits of 1000 ns on the average where all above 4000 are kept: one in four. */
TEST(stacks_are_kept_by_the_length_of_the_waits_before)
{
	enum { THRESHOLD_NS = 4000 };
	uint64_t mean_ns = 0, keep;
	uint32_t keep_recorded;

	begin();
	keep_all_above_ns = THRESHOLD_NS;
	shim_random = throw_coin;
	for (uint32_t round = 0; round < 60; round++) {
		keep = model_keep(mean_ns, THRESHOLD_NS);
		keep_recorded = keep < MODEL_CERTAIN ? keep : 0;
		coin = keep - 1;
		mean_ns = model_wait_mean(mean_ns, 300 + 60 * round);
		CHECK(wait_for(lock_a, MUTEX_SLEEPS, 300 + 60 * round)->stack);
		CHECK_EQUAL(waits[0].flags, KLOCK_HAS_STACK);
		CHECK_EQUAL(waits[0].keep, keep_recorded);
		keep = model_keep(mean_ns, THRESHOLD_NS);
		if (keep >= MODEL_CERTAIN)
			continue;
		coin = keep;
		mean_ns = model_wait_mean(mean_ns, 500);
		CHECK(!wait_for(lock_a, MUTEX_SLEEPS, 500)->stack && !waits[0].flags && !waits[0].keep);
	}
	end();
}

/* By what they took on average: none for less than 1 us, all for 20 us. */
TEST(few_of_the_short_spins_have_stacks_and_all_of_the_long_ones)
{
	enum { LEAST_NS = 1000, LONG_NS = 20000 };
	uint64_t mean_ns = 0, keep;

	begin();
	shim_random = throw_coin;
	for (uint32_t wait_ns = 100; wait_ns < LONG_NS; wait_ns += 1700) {
		keep = model_keep(mean_ns < LEAST_NS ? LEAST_NS : mean_ns, LONG_NS);
		coin = keep - 1;
		CHECK(wait_for(lock_a, SPINS, wait_ns)->stack);
		CHECK_EQUAL(waits[0].keep, keep);
		mean_ns = model_wait_mean(mean_ns, wait_ns);
		coin = model_keep(mean_ns < LEAST_NS ? LEAST_NS : mean_ns, LONG_NS);
		CHECK(!wait_for(lock_a, SPINS, wait_ns)->stack && !waits[0].flags && !waits[0].keep);
		mean_ns = model_wait_mean(mean_ns, wait_ns);
	}
	coin = UINT32_MAX;
	CHECK(wait_for(lock_a, SPINS, LONG_NS)->stack && !waits[0].keep);
	CHECK_EQUAL(waits[0].flags, KLOCK_HAS_STACK);
	CHECK(!waits[0].tracing_ns);
	end();
}

/* The governor keeps one in four of 20 us; it had a chance of 1 in 20 before. */
TEST(a_long_spin_has_two_chances_of_a_stack)
{
	enum { LONG_NS = 20000, THRESHOLD_NS = 80000 };
	uint64_t early = model_keep(1000, LONG_NS), late = model_keep(LONG_NS, THRESHOLD_NS);
	uint64_t governed = model_keep(0, THRESHOLD_NS);
	uint64_t both;

	begin();
	keep_all_above_ns = THRESHOLD_NS;
	early = governed < early ? governed : early;
	both = early + ((MODEL_CERTAIN - early) * late >> 32);
	shim_random = throw_coin;
	coin = late - 1;
	CHECK(wait_for(lock_a, SPINS, LONG_NS)->stack);
	CHECK_EQUAL(waits[0].keep, (uint32_t)both);
	end();
}

TEST(waits_of_interrupts_do_not_count_for_stacks)
{
	begin();
	in_context(IN_HARDIRQ);
	wait_for(lock_a, SPINS, 1000000);
	CHECK(!shim_thread(&thread->task)->klock_means_ns[KLOCK_SPINS]);
	in_context(0);
	wait_for(lock_a, SPINS, 9000000000);
	CHECK_EQUAL(shim_thread(&thread->task)->klock_means_ns[KLOCK_SPINS], 1000000000);
	end();
}

/* --- Owners ----------------------------------------------------------------------------------- */

static struct world_task *owner;

static struct task_struct *find_owner(int pid)
{
	return owner && pid == owner->task.pid ? &owner->task : NULL;
}

static struct mutex *as_mutex(const void *lock, uint64_t word)
{
	struct mutex *mutex = (void *)lock;

	mutex->owner.counter = word;
	return mutex;
}

static struct rw_semaphore *as_semaphore(const void *lock, uint64_t word)
{
	struct rw_semaphore *semaphore = (void *)lock;

	semaphore->owner.counter = word;
	return semaphore;
}

static void begin_owned(void)
{
	begin();
	owner = world_add_task(&world, NULL);
	shim_find_task = find_owner;
}

TEST(a_mutex_reports_who_had_it_whatever_its_flags)
{
	begin_owned();
	for (uint64_t flags = 0; flags < 8; flags++) {
		CHECK_EQUAL(wait_for(as_mutex(lock_a, (uintptr_t)&owner->task | flags), MUTEX_SLEEPS, 10)->owner,
			    (uint32_t)owner->task.pid);
		CHECK(!(waits[0].flags & KLOCK_HAS_READERS));
	}
	CHECK(!wait_for(as_mutex(lock_a, 1), MUTEX_SLEEPS, 10)->owner);
	CHECK(!(waits[0].flags & KLOCK_HAS_READERS));
	end();
}

TEST(a_semaphore_reports_who_writes_and_that_there_are_readers)
{
	static const unsigned int flags[] = { CONTENTION_READS, CONTENTION_WRITES };

	begin_owned();
	for (size_t i = 0; i < 2; i++) {
		as_semaphore(lock_a, (uintptr_t)&owner->task | 2);
		CHECK_EQUAL(wait_for(lock_a, flags[i], 10)->owner, (uint32_t)owner->task.pid);
		CHECK(!(waits[0].flags & KLOCK_HAS_READERS));
		as_semaphore(lock_a, (uintptr_t)&owner->task | 1); /* the last one of them, who may be gone */
		CHECK(!wait_for(lock_a, flags[i], 10)->owner && waits[0].flags & KLOCK_HAS_READERS);
		as_semaphore(lock_a, 0);
		CHECK(!wait_for(lock_a, flags[i], 10)->owner && !(waits[0].flags & KLOCK_HAS_READERS));
	}
	end();
}

TEST(what_has_no_word_of_its_owner_reports_none)
{
	static const unsigned int flags[] = {
		SPINS,
		CONTENTION_SPINS | CONTENTION_WRITES,
		CONTENTION_PERCPU | CONTENTION_WRITES,
		CONTENTION_RT,
	};

	begin_owned();
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		CHECK(!wait_for(as_mutex(lock_a, (uintptr_t)&owner->task), flags[i], 10)->owner && !other_count);
	shim_missing_field = "owner";
	CHECK(!wait_for(lock_a, MUTEX_SLEEPS, 10)->owner && !other_count);
	CHECK(!wait_for(lock_a, CONTENTION_WRITES, 10)->owner && !other_count);
	end();
}

TEST(an_owner_that_is_not_traced_is_recorded_by_name_and_a_traced_one_is_not)
{
	begin_owned();
	wait_for(as_mutex(lock_a, (uintptr_t)&owner->task), MUTEX_SLEEPS, 10);
	CHECK_EQUAL(other_count, 1);
	CHECK_EQUAL(others[0].tid, (uint32_t)owner->task.pid);
	CHECK_STRING(others[0].name, owner->task.comm);
	wait_for(lock_a, MUTEX_SLEEPS, 10);
	CHECK(!other_count);
	owner = add_traced();
	drain();
	run_on(0, &thread->task);
	wait_for(as_mutex(lock_a, (uintptr_t)&owner->task), MUTEX_SLEEPS, 10);
	CHECK(!other_count);
	CHECK_EQUAL(waits[0].owner, (uint32_t)owner->task.pid);
	end();
}

TEST(where_the_owner_is_is_recorded_unless_it_runs_or_is_gone)
{
	uint64_t stack;

	begin_owned();
	as_mutex(lock_a, (uintptr_t)&owner->task);
	owner->task.on_cpu = 0;
	stack = wait_for(lock_a, MUTEX_SLEEPS, 10)->owner_stack;
	CHECK(stack);
	CHECK_THAT(stack, !=, waits[0].stack);
	CHECK_EQUAL(stack_count, 2);
	owner->task.on_cpu = 1;
	CHECK(!wait_for(lock_a, MUTEX_SLEEPS, 10)->owner_stack && waits[0].owner);
	owner->task.on_cpu = 0;
	shim_find_task = NULL;
	CHECK(!wait_for(lock_a, MUTEX_SLEEPS, 10)->owner_stack && waits[0].owner);
	end();
}

TEST(the_stacks_of_both_are_kept_together)
{
	begin_owned();
	as_mutex(lock_a, (uintptr_t)&owner->task);
	wait_for(lock_a, MUTEX_SLEEPS, 1000);
	keep_all_above_ns = 1000000;
	shim_random = throw_coin;
	coin = UINT32_MAX;
	CHECK(!wait_for(lock_a, MUTEX_SLEEPS, 1000)->owner_stack && !waits[0].stack);
	CHECK_EQUAL(waits[0].owner, (uint32_t)owner->task.pid);
	coin = 0;
	CHECK(wait_for(lock_a, MUTEX_SLEEPS, 1000)->owner_stack && waits[0].stack);
	end();
}

/* --- Switches, and waits that last ------------------------------------------------------------ */

static void sleep_now(void)
{
	thread->task.__state = TASK_UNINTERRUPTIBLE;
	pass(100);
	sched_switch(NULL, false, &thread->task, &world.idle[0].task, TASK_UNINTERRUPTIBLE);
}

static void come_back(void)
{
	pass(100);
	sched_waking(NULL, &thread->task);
	thread->task.__state = 0;
	sched_switch(NULL, false, &world.idle[0].task, &thread->task, 0);
}

TEST(a_switch_out_says_for_which_lock_the_thread_sleeps_and_who_has_it)
{
	begin_owned();
	as_mutex(lock_a, (uintptr_t)&owner->task);
	wait_begins(lock_a, MUTEX_SPINS);
	wait_begins(lock_a, MUTEX_SLEEPS);
	sleep_now();
	drain();
	CHECK_EQUAL(lock_count, 1);
	CHECK_EQUAL(last_switch.header.thread, thread->number);
	CHECK_EQUAL(last_switch.state, SWITCH_BLOCKED);
	CHECK(last_switch.flags & SWITCH_KERNEL_LOCK);
	CHECK_EQUAL(last_switch.object, locks[0].lock);
	CHECK_EQUAL(last_switch.value, (uint32_t)owner->task.pid);
	come_back();
	wait_ends(lock_a, 0);
	sleep_now();
	drain();
	CHECK(!(last_switch.flags & SWITCH_KERNEL_LOCK));
	CHECK_EQUAL(wait_count, 1);
	end();
}

TEST(who_sleeps_for_a_mutex_has_one_stack_for_the_wait_and_its_switch)
{
	begin_owned();
	as_mutex(lock_a, (uintptr_t)&owner->task);
	owner->task.on_cpu = 0;
	shim_random = throw_coin;
	coin = UINT32_MAX; /* none for spinning shortly */
	wait_begins(lock_a, MUTEX_SPINS);
	wait_begins(lock_a, MUTEX_SLEEPS);
	sleep_now();
	come_back();
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(last_switch.next, thread->number);
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].flags, KLOCK_HAS_STACK);
	CHECK(!waits[0].keep && waits[0].stack && waits[0].owner_stack);
	wait_begins(lock_b, CONTENTION_WRITES);
	sleep_now();
	drain();
	CHECK_EQUAL(last_switch.stack, waits[0].stack);
	CHECK(last_switch.flags & SWITCH_HAS_STACK && !stack_count);
	end();
}

/* Else those that had a stack from the beginning would count for the others, and these for themselves as well. */
TEST(who_sleeps_for_a_lock_has_another_chance_of_a_stack_whether_or_not_it_had_one)
{
	for (int is_early = 0; is_early < 2; is_early++) {
		begin();
		shim_random = throw_coin;
		coin = is_early ? 0 : UINT32_MAX;
		wait_begins(lock_a, MUTEX_SPINS);
		wait_begins(lock_a, MUTEX_SLEEPS);
		CHECK_EQUAL(shim_thread(&thread->task)->klocks[0].keep, (uint32_t)model_keep(1000, 20000));
		sleep_now();
		CHECK(!shim_thread(&thread->task)->klocks[0].keep);
		CHECK_EQUAL(shim_thread(&thread->task)->klocks[0].flags, KLOCK_HAS_STACK);
		end();
	}
}

TEST(of_two_locks_that_are_slept_for_the_switch_says_the_later_one)
{
	uint64_t outer;

	begin();
	wait_begins(lock_a, CONTENTION_READS);
	wait_begins(lock_b, MUTEX_SLEEPS);
	sleep_now();
	drain();
	CHECK_EQUAL(lock_count, 2);
	CHECK_EQUAL(last_switch.object, locks[1].lock);
	CHECK(!last_switch.value);
	outer = locks[0].lock;
	come_back();
	wait_ends(lock_b, 0);
	sleep_now();
	drain();
	CHECK(last_switch.flags & SWITCH_KERNEL_LOCK);
	CHECK_EQUAL(last_switch.object, outer);
	end();
}

TEST(a_thread_that_is_preempted_while_it_spins_sleeps_for_no_lock)
{
	begin();
	wait_begins(lock_a, MUTEX_SPINS);
	pass(100);
	sched_switch(NULL, true, &thread->task, &world.idle[0].task, 0);
	drain();
	CHECK_EQUAL(last_switch.state, SWITCH_RUNNABLE);
	CHECK(!(last_switch.flags & SWITCH_KERNEL_LOCK));
	end();
}

static void list(void)
{
	struct bpf_iter__task ctx = { .task = &thread->task };

	run_on(1, &world.idle[1].task);
	list_waits(&ctx);
	drain();
	run_on(0, &thread->task);
}

TEST(a_wait_that_lasts_is_recorded_once_when_waits_are_listed)
{
	uint64_t begin_ns, stack;

	begin_owned();
	as_mutex(lock_a, (uintptr_t)&owner->task);
	begin_ns = shim_now_ns;
	wait_begins(lock_a, MUTEX_SLEEPS);
	sleep_now();
	drain();
	pass(5000);
	list();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].header.thread, thread->number);
	CHECK_EQUAL(waits[0].begin_ns, begin_ns);
	CHECK_EQUAL(waits[0].header.time_ns, shim_now_ns);
	CHECK_EQUAL(waits[0].tid, (uint32_t)thread->task.pid);
	CHECK_EQUAL(waits[0].flags, KLOCK_LASTS | KLOCK_HAS_STACK);
	CHECK_EQUAL(waits[0].context, WAKE_THREAD);
	CHECK_EQUAL(waits[0].owner, (uint32_t)owner->task.pid);
	CHECK_EQUAL(waits[0].kind, KLOCK_MUTEX);
	stack = waits[0].stack;
	pass(5000);
	list();
	CHECK(!wait_count);
	come_back();
	wait_ends(lock_a, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].begin_ns, begin_ns);
	CHECK(!(waits[0].flags & KLOCK_LASTS));
	CHECK(stack);
	CHECK_EQUAL(waits[0].stack, stack);
	sleep_now();
	drain();
	list();
	CHECK(!wait_count);
	end();
}

/* --- Losses ----------------------------------------------------------------------------------- */

TEST(waits_that_do_not_fit_are_counted)
{
	begin();
	while (!cpu_counts[0].lost) {
		wait_begins(lock_a, SPINS);
		wait_ends(lock_a, 0);
	}
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	CHECK_EQUAL(cpu_counts[0].lost_unreported, 1);
	wait_begins(lock_a, SPINS);
	wait_ends(lock_a, 0);
	CHECK_EQUAL(cpu_counts[0].lost, 2);
	while (shim_read(&rings, 0, NULL))
		;
	CHECK(wait_for(lock_a, SPINS, 10) && !cpu_counts[0].lost_unreported);
	end();
}
