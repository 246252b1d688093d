// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted: two threads `summer` add up the elements of a large array, which they read by a compare-and-swap that would be tried again while
 * an element is EMPTY. None ever is, so each is read once, and most of the time is that instruction's. The thread
 * `waiter` reads a word until it changes.
 * Known answer: await_flag() spins; read_atomic(), in sum_up(), works.
 */
#include "roles.h"

enum { SUMMERS = 2, ELEMENTS = 1 << 21, LENGTH_MS = 2000, BATCH = 100000 };

static long *elements;
static volatile long empty = -1;
static volatile int flag;
static uint64_t end_ns, sum;

static inline long read_atomic(long *element)
{
	long value;

	do
		value = __sync_val_compare_and_swap(element, 0, 0);
	while (value == empty);
	return value;
}

static OWN_FRAME uint64_t sum_up(uint64_t seed)
{
	uint64_t total = seed;

	for (int i = 0; i < BATCH; i++) {
		seed = seed * 6364136223846793005ull + 1;
		total += read_atomic(&elements[(seed >> 33) % ELEMENTS]);
	}
	return total + seed;
}

static void summer(int number)
{
	uint64_t total = number;

	while (now_ns() < end_ns)
		total = sum_up(total);
	__atomic_fetch_add(&sum, total, __ATOMIC_RELAXED);
}

static OWN_FRAME void await_flag(void)
{
	while (!flag)
		;
}

static void waiter(int number)
{
	(void)number;
	await_flag();
}

int main(void)
{
	struct role summers[SUMMERS], waiting;

	elements = calloc(ELEMENTS, sizeof(*elements));
	if (!elements)
		die("calloc");
	end_ns = now_ns() + LENGTH_MS * 1000000ull;
	role_start_all(&waiting, 1, "waiter", waiter);
	role_start_all(summers, SUMMERS, "summer-%d", summer);
	role_join_all(summers, SUMMERS);
	flag = 1;
	role_join_all(&waiting, 1);
	return !sum;
}
