/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who looks at a trace when: in the order in which they came, in the middle of long answers, and not when all are waited for. */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "serve/fair_lock.h"
#include "serve/turn.h"

enum { OTHERS = 6 };

static struct {
	struct fair_lock lock;
	struct turn turn;
	unsigned int order[OTHERS], count; /* who had the lock: numbers */
} w;

static void set_up(void)
{
	memset(&w, 0, sizeof(w));
	fair_lock_init(&w.lock);
	turn_init(&w.turn, &w.lock);
}

static void *look(void *number)
{
	fair_lock_take(&w.lock);
	w.order[w.count++] = (uintptr_t)number;
	fair_lock_give(&w.lock);
	return NULL;
}

/* How many have asked for the lock, or have it. */
static uint64_t asked(void)
{
	uint64_t count;

	pthread_mutex_lock(&w.lock.mutex);
	count = w.lock.next;
	pthread_mutex_unlock(&w.lock.mutex);
	return count;
}

/* One after the other comes and waits: the caller has the lock. */
static void begin_others(pthread_t threads[OTHERS])
{
	for (uintptr_t i = 0; i < OTHERS; i++) {
		uint64_t before = asked();

		pthread_create(&threads[i], NULL, look, (void *)i);
		while (asked() == before)
			sched_yield();
	}
}

static void join_others(pthread_t threads[OTHERS])
{
	for (size_t i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(w.count, OTHERS);
	for (unsigned int i = 0; i < OTHERS; i++)
		CHECK_EQUAL(w.order[i], i);
	fair_lock_fini(&w.lock);
}

TEST(the_lock_goes_to_who_came_first)
{
	pthread_t threads[OTHERS];

	set_up();
	fair_lock_take(&w.lock);
	CHECK(!fair_lock_is_wanted(&w.lock));
	begin_others(threads);
	CHECK(fair_lock_is_wanted(&w.lock));
	CHECK_EQUAL(w.count, 0);
	fair_lock_give(&w.lock);
	join_others(threads);
}

TEST(all_who_wait_are_answered_before_a_long_answer_goes_on)
{
	pthread_t threads[OTHERS];

	set_up();
	fair_lock_take(&w.lock);
	turn_give_way(&w.turn); /* to nobody */
	begin_others(threads);
	turn_give_way(&w.turn);
	CHECK_EQUAL(w.count, OTHERS);
	CHECK_EQUAL(w.turn.away, 0);
	fair_lock_give(&w.lock);
	join_others(threads);
}

static void *wait_for_all(void *data)
{
	(void)data;
	fair_lock_take(&w.lock);
	turn_wait_all(&w.turn);
	w.order[w.count++] = OTHERS;
	fair_lock_give(&w.lock);
	return NULL;
}

TEST(what_is_viewed_stays_until_a_long_answer_is_there)
{
	pthread_t thread;

	set_up();
	fair_lock_take(&w.lock);
	pthread_create(&thread, NULL, wait_for_all, NULL);
	while (!fair_lock_is_wanted(&w.lock))
		sched_yield();
	turn_give_way(&w.turn);
	CHECK_EQUAL(w.turn.ending, 1);
	CHECK_EQUAL(w.count, 0);
	turn_give_way(&w.turn);
	CHECK_EQUAL(w.count, 0);
	fair_lock_give(&w.lock);
	pthread_join(thread, NULL);
	CHECK_EQUAL(w.count, 1);
	fair_lock_fini(&w.lock);
}
