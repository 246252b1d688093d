/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of waits for kernel locks, against a model that keeps each wait and adds up what is asked for.
 * And what becomes of what finds no space.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "klocks/klocks.h"

enum {
	LOCKS = 7,
	THREADS = 5,
	OTHERS = 3,
	FIRST_OTHER = 900,
	OWNERS = 4,
	FIRST_OWNER = 50,
	STACKS = 4,
	STEPS = 1500,
	AT_ONCE = 2, /* as the kernel side notes */
	MODEL_MAX = STEPS * 2,
};

static struct session *session;
static struct threads *threads;
static struct klocks *klocks;
static uint64_t now_ns;

/* A wait as it was recorded last. */
struct model_wait {
	struct ev_klock_wait e;
	bool was_recorded;
	double weight; /* of its stack; 0: it has none */
};

static struct model_wait model[MODEL_MAX];
static size_t model_count;

static struct model_wait *open_waits[THREADS + 1][AT_ONCE];
static uint32_t random_state;

static uint32_t pick(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint64_t)random_state * limit >> 32;
}

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void push(const void *event, size_t size_bytes)
{
	CHECK(!session_push(session, 0, event, size_bytes));
}

static void begin(void)
{
	now_ns = 1000;
	model_count = 0;
	memset(open_waits, 0, sizeof(open_waits));
	session = session_new(1, 512 << 20);
	threads = threads_new(session);
	klocks = klocks_new(session, threads);
	for (uint32_t i = 1; i <= THREADS; i++) {
		struct ev_thread_found e = {
			.header = header_of(EV_THREAD_FOUND, i),
			.tid = i,
			.pid = 1 + i % 2,
			.phase = PHASE_RUNNING,
		};

		push(&e, sizeof(e));
	}
}

static void end(void)
{
	klocks_free(klocks);
	threads_free(threads);
	session_free(session);
}

static struct ev_klock_wait wait_of_thread(uint32_t thread, uint64_t lock, uint64_t wait_ns)
{
	struct ev_klock_wait e = { .lock = lock, .tid = thread, .kind = KLOCK_MUTEX };

	now_ns += wait_ns;
	e.header = header_of(EV_KLOCK_WAIT, thread);
	e.begin_ns = now_ns - wait_ns;
	return e;
}

static void push_wait(struct ev_klock_wait e)
{
	push(&e, sizeof(e));
}

static const struct klock *find_in(const struct klocks *all, uint64_t lock, enum klock_kind kind)
{
	const struct klock *klock;
	size_t cursor = 0;

	while ((klock = klocks_next(all, &cursor)))
		if (klock->lock == lock && klock->kind == kind)
			return klock;
	return NULL;
}

static const struct klock *find(uint64_t lock, enum klock_kind kind)
{
	return find_in(klocks, lock, kind);
}

/* --- Random streams --------------------------------------------------------------------------- */

static struct ev_klock_wait random_wait(uint32_t thread)
{
	static const uint32_t keeps[] = { 0, 1u << 31, 1u << 28, UINT32_MAX };
	bool has_stack = pick(4);
	uint32_t owner = pick(3);

	return (struct ev_klock_wait){
		.begin_ns = now_ns,
		.lock = 1 + pick(LOCKS),
		.kind = pick(KLOCK_KINDS),
		.tid = thread ? thread : FIRST_OTHER + pick(OTHERS),
		.flags = (has_stack ? KLOCK_HAS_STACK : 0) | (owner == 1 ? KLOCK_HAS_READERS : 0),
		.stack = has_stack ? pick(STACKS) : 0,
		.keep = has_stack ? keeps[pick(4)] : 0,
		.owner = owner == 2 ? FIRST_OWNER + pick(OWNERS) : 0,
		.owner_stack = owner == 2 && pick(2) ? 77 : 0,
	};
}

static struct model_wait *note(struct ev_klock_wait e)
{
	struct model_wait *wait = &model[model_count++];

	CHECK_THAT(model_count, <=, MODEL_MAX);
	*wait = (struct model_wait){ .e = e };
	if (e.flags & KLOCK_HAS_STACK)
		wait->weight = e.keep ? 0x1p32 / e.keep : 1;
	return wait;
}

static void emit(struct model_wait *wait, uint32_t thread, uint8_t flags)
{
	wait->e.header = header_of(EV_KLOCK_WAIT, thread);
	wait->e.flags = (wait->e.flags & ~KLOCK_LASTS) | flags;
	wait->was_recorded = true;
	push_wait(wait->e);
}

/* A wait inside another one ends before it. */
static void step_of_thread(uint32_t thread)
{
	struct model_wait **open = open_waits[thread];
	size_t depth = open[0] ? open[1] ? 2 : 1 : 0;

	switch (pick(4)) {
	case 0:
		if (depth < AT_ONCE) {
			open[depth] = note(random_wait(thread));
			return;
		}
		break;
	case 1:
		for (size_t i = 0; i < depth; i++)
			emit(open[i], thread, KLOCK_LASTS);
		return;
	}
	if (depth) {
		emit(open[depth - 1], thread, pick(5) ? 0 : KLOCK_GAVE_UP);
		open[depth - 1] = NULL;
	}
}

/* Of an interrupt, or of a thread that is not traced. */
static void step_of_spin(uint32_t thread)
{
	struct ev_klock_wait e = random_wait(thread);

	e.context = thread ? WAKE_SOFTIRQ + pick(2) : pick(WAKE_HARDIRQ + 1);
	if (thread)
		e.flags &= ~KLOCK_HAS_STACK;
	now_ns += 1ull << pick(20);
	emit(note(e), thread, 0);
}

static void run_random(uint32_t seed)
{
	random_state = seed;
	begin();
	for (int step = 0; step < STEPS; step++) {
		uint32_t thread = pick(THREADS + 1);

		now_ns += 1 + pick(1u << pick(30));
		if (!thread || !pick(5))
			step_of_spin(thread);
		else
			step_of_thread(thread);
		if (!pick(100))
			session_advance(session, now_ns);
	}
	session_finish(session);
	/* What has begun and was not recorded yet is nowhere. */
	for (size_t i = model_count; i--;)
		if (!model[i].was_recorded)
			model[i] = model[--model_count];
}

/* --- What the model says ---------------------------------------------------------------------- */

struct question {
	uint64_t lock;
	enum klock_kind kind;
	const struct klock_waiter *waiter; /* NULL: of all */
	const struct klock_owner *owner;
	const struct klock_path *path;
};

static uint64_t length_of(const struct model_wait *wait)
{
	return wait->e.header.time_ns - wait->e.begin_ns;
}

static bool is_asked_for(const struct model_wait *wait, const struct question *question)
{
	const struct ev_klock_wait *e = &wait->e;
	uint32_t thread = e->header.thread;

	if (e->lock != question->lock || e->kind != question->kind)
		return false;
	if (question->waiter && (question->waiter->thread != thread || question->waiter->context != e->context ||
				 question->waiter->tid != (thread ? 0 : e->tid)))
		return false;
	if (question->owner && (question->owner->tid != e->owner || !(e->owner || e->flags & KLOCK_HAS_READERS)))
		return false;
	if (question->path && (!wait->weight || question->path->stack != e->stack ||
			       question->path->pid != (thread ? threads_get(threads, thread)->pid : 0)))
		return false;
	return true;
}

static struct klock_sum sum_of(const struct question *question)
{
	struct klock_sum sum = { 0 };

	for (size_t i = 0; i < model_count; i++) {
		if (!is_asked_for(&model[i], question))
			continue;
		sum.waits++;
		sum.wait_ns += length_of(&model[i]);
		sum.max_ns = length_of(&model[i]) > sum.max_ns ? length_of(&model[i]) : sum.max_ns;
	}
	return sum;
}

static uint64_t count_of(const struct question *question, uint8_t flag)
{
	uint64_t count = 0;

	for (size_t i = 0; i < model_count; i++)
		count += is_asked_for(&model[i], question) && model[i].e.flags & flag;
	return count;
}

static double weighed(const struct question *question)
{
	double sum = 0;

	for (size_t i = 0; i < model_count; i++)
		if (is_asked_for(&model[i], question))
			sum += model[i].weight * length_of(&model[i]);
	return sum;
}

static bool is_sum(const struct klock_sum *a, struct klock_sum b)
{
	return a->waits == b.waits && a->wait_ns == b.wait_ns && a->max_ns == b.max_ns;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

static void check_lengths(const struct klock *klock, const struct question *question)
{
	uint32_t expected[LENGTHS] = { 0 }, lengths[LENGTHS] = { 0 };

	for (size_t i = 0; i < model_count; i++)
		if (is_asked_for(&model[i], question))
			expected[length_index(length_of(&model[i]))]++;
	klock_add_lengths(klock, lengths);
	CHECK(!memcmp(lengths, expected, sizeof(lengths)));
}

static void check_waiters(const struct klock *klock, struct question question)
{
	struct klock_sum sum = { 0 };
	uint32_t count = 0;

	for (const struct klock_waiter *waiter = klock->waiters; waiter; waiter = waiter->next) {
		question.waiter = waiter;
		CHECK(is_sum(&waiter->sum, sum_of(&question)));
		count++;
		sum.waits += waiter->sum.waits;
		sum.wait_ns += waiter->sum.wait_ns;
		sum.max_ns = waiter->sum.max_ns > sum.max_ns ? waiter->sum.max_ns : sum.max_ns;
	}
	CHECK_EQUAL(count, klock->waiter_count);
	CHECK(is_sum(&klock->sum, sum));
}

static void check_owners(const struct klock *klock, struct question question)
{
	static const struct klock_owner readers;
	uint64_t waits = 0;

	for (const struct klock_owner *owner = klock->owners; owner; owner = owner->next) {
		question.owner = owner;
		CHECK(is_sum(&owner->sum, sum_of(&question)));
		waits += owner->sum.waits;
	}
	question.owner = NULL;
	for (uint32_t tid = FIRST_OWNER; tid < FIRST_OWNER + OWNERS; tid++) {
		struct klock_owner owner = { .tid = tid };

		question.owner = &owner;
		waits -= sum_of(&question).waits;
	}
	question.owner = &readers;
	CHECK_EQUAL(waits, sum_of(&question).waits);
}

/* Whoever waited on one path for more than half of its time has that one. */
static void check_votes(const struct klock *klock, struct question question)
{
	for (const struct klock_waiter *waiter = klock->waiters; waiter; waiter = waiter->next) {
		double all_ns = 0;

		question.waiter = waiter;
		for (question.path = klock->paths; question.path; question.path = question.path->next)
			all_ns += weighed(&question);
		for (question.path = klock->paths; question.path; question.path = question.path->next)
			CHECK(weighed(&question) <= all_ns * 0.500001 || waiter->path == question.path);
	}
}

static void check_paths(const struct klock *klock, struct question question)
{
	double waits = 0;

	for (question.path = klock->paths; question.path; question.path = question.path->next) {
		CHECK(is_near(question.path->wait_ns, weighed(&question)));
		waits += question.path->waits;
	}
	for (size_t i = 0; i < model_count; i++)
		waits -= is_asked_for(&model[i], &question) ? model[i].weight : 0;
	CHECK_THAT(fabs(waits), <, 1e-3);
}

static void check_row(const struct klock *klock)
{
	struct question question = { .lock = klock->lock, .kind = klock->kind };

	CHECK(is_sum(&klock->sum, sum_of(&question)));
	CHECK_EQUAL(klock->lasting, count_of(&question, KLOCK_LASTS));
	CHECK_EQUAL(klock->gave_up, count_of(&question, KLOCK_GAVE_UP));
	check_lengths(klock, &question);
	check_waiters(klock, question);
	check_owners(klock, question);
	check_paths(klock, question);
	check_votes(klock, question);
}

TEST(all_sums_are_those_of_the_waits_one_by_one)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		const struct klock *klock;
		size_t cursor = 0, waits = 0;

		run_random(seed);
		while ((klock = klocks_next(klocks, &cursor))) {
			check_row(klock);
			waits += klock->sum.waits;
		}
		CHECK_EQUAL(waits, model_count);
		end();
	}
}

TEST(a_lock_is_mostly_taken_in_the_way_that_is_waited_for_longest)
{
	run_random(99);
	for (uint64_t lock = 1; lock <= LOCKS; lock++) {
		const struct klock *main = find(lock, klocks_main_kind(klocks, lock));

		for (int kind = 0; kind < KLOCK_KINDS; kind++)
			CHECK(!find(lock, kind) || find(lock, kind)->sum.wait_ns <= main->sum.wait_ns);
	}
	CHECK_EQUAL(klocks_main_kind(klocks, 12345), KLOCK_SPINLOCK);
	end();
}

/* --- Waits that last -------------------------------------------------------------------------- */

TEST(a_wait_that_lasted_and_ended_is_one_wait)
{
	struct ev_klock_wait e;
	uint32_t lengths[LENGTHS] = { 0 };

	begin();
	e = wait_of_thread(1, 5, 1000000);
	e.owner = FIRST_OWNER;
	e.flags = KLOCK_LASTS;
	push_wait(e);
	now_ns += 4000000;
	e.header.time_ns = now_ns;
	e.flags = 0;
	push_wait(e);
	session_finish(session);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.waits, 1);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.wait_ns, 5000000);
	CHECK(!find(5, KLOCK_MUTEX)->lasting);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->owners->sum.wait_ns, 5000000);
	klock_add_lengths(find(5, KLOCK_MUTEX), lengths);
	CHECK_EQUAL(lengths[length_index(5000000)], 1);
	CHECK(!lengths[length_index(1000000)]);
	end();
}

/* The end of the first one was lost. */
TEST(another_wait_of_the_same_thread_is_another_one)
{
	struct ev_klock_wait e;

	begin();
	for (int i = 0; i < 3; i++) {
		e = wait_of_thread(1, 5, 100);
		e.flags = KLOCK_LASTS;
		push_wait(e);
	}
	session_finish(session);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.waits, 3);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.wait_ns, 300);
	end();
}

TEST(an_end_before_its_begin_is_no_time)
{
	struct ev_klock_wait e;

	begin();
	e = wait_of_thread(1, 5, 0);
	e.begin_ns = now_ns + 1000;
	push_wait(e);
	session_finish(session);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.waits, 1);
	CHECK(!find(5, KLOCK_MUTEX)->sum.wait_ns);
	end();
}

TEST(what_no_kernel_reports_does_no_harm)
{
	struct ev_klock_wait e;
	struct ev_klock_lock lock = { .lock = 5, .object = 255 };

	begin();
	lock.header = header_of(EV_KLOCK_LOCK, 0);
	memset(lock.process, 'x', sizeof(lock.process));
	memset(lock.cache, 'y', sizeof(lock.cache));
	push(&lock, sizeof(lock));
	e = wait_of_thread(1, 5, 10);
	e.kind = e.context = e.flags = 255;
	e.stack = e.owner_stack = UINT64_MAX;
	push_wait(e);
	session_finish(session);
	CHECK_EQUAL(find(5, KLOCK_SPINLOCK)->sum.waits, 1);
	CHECK_EQUAL(klocks_find(klocks, 5)->object, KLOCK_OF_NOTHING);
	CHECK_EQUAL(strlen(klocks_find(klocks, 5)->process), 15);
	CHECK_EQUAL(strlen(klocks_find(klocks, 5)->cache), 31);
	end();
}

/* --- What locks are --------------------------------------------------------------------------- */

TEST(what_a_lock_is_is_what_was_recorded_first)
{
	struct ev_klock_lock e = {
		.lock = 9,
		.address = 0xffff888001234560,
		.file = 3,
		.offset = 120,
		.pid = 7,
		.cpu = 2,
		.object = KLOCK_OF_MEMORY,
		.process = "daemon",
		.cache = "mm_struct",
	};
	const struct klock_facts *facts;

	begin();
	e.header = header_of(EV_KLOCK_LOCK, 0);
	push(&e, sizeof(e));
	now_ns++;
	e.header = header_of(EV_KLOCK_LOCK, 0);
	memcpy(e.process, "renamed", sizeof("renamed"));
	push(&e, sizeof(e));
	session_finish(session);
	facts = klocks_find(klocks, 9);
	CHECK(facts);
	CHECK_EQUAL(facts->lock, 9);
	CHECK_EQUAL(facts->address, e.address);
	CHECK_EQUAL(facts->file, 3);
	CHECK_EQUAL(facts->offset, 120);
	CHECK_EQUAL(facts->pid, 7);
	CHECK_EQUAL(facts->cpu, 2);
	CHECK_EQUAL(facts->object, KLOCK_OF_MEMORY);
	CHECK_STRING(facts->process, "daemon");
	CHECK_STRING(facts->cache, "mm_struct");
	CHECK(!klocks_find(klocks, 10));
	end();
}

/* --- What finds no space ----------------------------------------------------------------------- */

enum { MORE_LOCKS = 140000, MORE_WAITERS = 280000, MORE_PATHS = 140000, MORE_OWNERS = 70000, KEPT_AT_LEAST = 65536 };

static void advance(uint32_t i)
{
	if (i % 4096 == 0)
		session_advance(session, now_ns);
}

TEST(locks_that_do_not_fit_are_added_up_by_kind)
{
	struct klock_sum sum = { 0 };
	const struct klock *klock;
	size_t cursor = 0, count = 0;

	begin();
	for (uint32_t i = 1; i <= MORE_LOCKS; i++) {
		struct ev_klock_wait e = wait_of_thread(1, i, 10);

		e.kind = i % 2 ? KLOCK_MUTEX : KLOCK_SPINLOCK;
		push_wait(e);
		advance(i);
	}
	session_finish(session);
	while ((klock = klocks_next(klocks, &cursor))) {
		sum.waits += klock->sum.waits;
		sum.wait_ns += klock->sum.wait_ns;
		count++;
	}
	CHECK_EQUAL(sum.waits, MORE_LOCKS);
	CHECK_EQUAL(sum.wait_ns, 10ull * MORE_LOCKS);
	CHECK_THAT(count, >, KEPT_AT_LEAST);
	CHECK_THAT(count, <, MORE_LOCKS);
	CHECK_EQUAL(find(0, KLOCK_MUTEX)->sum.waits + find(0, KLOCK_SPINLOCK)->sum.waits, MORE_LOCKS - (count - 2));
	CHECK(!find(0, KLOCK_RTMUTEX));
	end();
}

TEST(waiters_that_do_not_fit_are_one)
{
	uint64_t waits = 0, nameless = 0;

	begin();
	for (uint32_t i = 1; i <= MORE_WAITERS; i++) {
		struct ev_klock_wait e = wait_of_thread(0, 5, 10);

		e.tid = i;
		e.context = WAKE_SOFTIRQ;
		push_wait(e);
		advance(i);
	}
	session_finish(session);
	for (const struct klock_waiter *waiter = find(5, KLOCK_MUTEX)->waiters; waiter; waiter = waiter->next) {
		waits += waiter->sum.waits;
		nameless += waiter->tid ? 0 : waiter->sum.waits;
	}
	CHECK_EQUAL(waits, MORE_WAITERS);
	CHECK(nameless);
	CHECK_THAT(nameless, <, MORE_WAITERS - KEPT_AT_LEAST);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.waits, MORE_WAITERS);
	end();
}

TEST(paths_and_owners_that_do_not_fit_are_missing_in_no_sum)
{
	uint64_t owned = 0;
	size_t paths = 0;

	begin();
	for (uint32_t i = 1; i <= MORE_PATHS; i++) {
		struct ev_klock_wait e = wait_of_thread(1, 5, 10);

		e.flags = KLOCK_HAS_STACK;
		e.stack = i;
		e.owner = 1 + i % MORE_OWNERS;
		push_wait(e);
		advance(i);
	}
	session_finish(session);
	for (const struct klock_owner *owner = find(5, KLOCK_MUTEX)->owners; owner; owner = owner->next)
		owned += owner->sum.waits;
	for (const struct klock_path *path = find(5, KLOCK_MUTEX)->paths; path; path = path->next)
		paths++;
	CHECK_EQUAL(owned, MORE_PATHS);
	CHECK_THAT(paths, >, KEPT_AT_LEAST);
	CHECK_THAT(paths, <, MORE_PATHS);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->sum.waits, MORE_PATHS);
	CHECK_EQUAL(find(5, KLOCK_MUTEX)->waiters->sum.waits, MORE_PATHS);
	end();
}

/* --- Acquisitions ------------------------------------------------------------------------------- */

static void push_held(uint64_t lock, const char *kind, uint64_t taken, uint64_t holds, uint64_t hold_ns)
{
	struct ev_klock_held e = {
		.lock = lock,
		.taken = taken,
		.take_ns = 3,
		.holds = holds,
		.hold_ns = hold_ns,
		.max_hold_ns = hold_ns,
		.caller = 70 + holds,
		.take_cost_ns = 20,
		.hold_cost_ns = 10 + holds,
	};

	now_ns++;
	e.header = header_of(EV_KLOCK_HELD, 0);
	memcpy(e.kind, kind, strnlen(kind, sizeof(e.kind)));
	push(&e, sizeof(e));
}

TEST(acquisitions_are_added_up_beside_waits)
{
	struct klock_costs costs;
	const struct klock *klock;

	begin();
	CHECK(!klocks_costs(klocks, &costs));
	push_wait(wait_of_thread(1, 5, 100));
	push_held(5, "mutex", 3, 2, 40);
	push_held(5, "mutex", UINT64_MAX, 1, 50); /* one of the three was given up */
	push_held(5, "rwsem read", 9, 0, 0);
	session_finish(session);
	klock = find(5, KLOCK_MUTEX);
	CHECK_EQUAL(klock->sum.waits, 1);
	CHECK_EQUAL(klock->holding.acquisitions, 2);
	CHECK_EQUAL(klock->holding.holds, 3);
	CHECK_EQUAL(klock->holding.hold_ns, 90);
	CHECK_EQUAL(klock->holding.max_hold_ns, 50);
	CHECK_EQUAL(klock->holding.take_ns, 6);
	CHECK_EQUAL(klock->holding.caller, 72);
	klock = find(5, KLOCK_RWSEM_READ);
	CHECK(!klock->sum.waits);
	CHECK_EQUAL(klock->holding.acquisitions, 9);
	CHECK(klocks_costs(klocks, &costs));
	CHECK_EQUAL(costs.take_ns, 20);
	CHECK_EQUAL(costs.hold_ns, 10);
	end();
}

TEST(kinds_of_the_users_have_their_names_and_the_last_one_is_all_for_which_there_is_no_space)
{
	char name[24];
	size_t named = 0;

	begin();
	CHECK_EQUAL(klocks_kind_count(klocks), KLOCK_KINDS);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "kind %d", i);
		push_held(1 + i, name, 1, 1, 1);
		push_held(1 + i, name, 1, 1, 1);
	}
	push_held(1, "of twenty-four letters..", 1, 1, 1);
	session_finish(session);
	for (enum klock_kind kind = KLOCK_KINDS; kind < klocks_kind_count(klocks); kind++, named++) {
		snprintf(name, sizeof(name), "kind %zu", named);
		CHECK_STRING(klocks_kind_name(klocks, kind), name);
		CHECK_EQUAL(find(1 + named, kind)->holding.acquisitions, 2);
	}
	CHECK_THAT(named, >, 10);
	CHECK_THAT(named, <, 100);
	CHECK_EQUAL(find(100, KLOCK_KINDS + named - 1)->holding.acquisitions, 2);
	CHECK_STRING(klocks_kind_name(klocks, KLOCK_MUTEX), "mutex");
	end();
}
