// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: each way to wait in the kernel for a word in memory, without a library
 * between. One after the other, a thread waits in wait_plain(), wait_bitset(), wait_shared(),
 * wait_pi(), wait_vector() and wait_single(), and is woken by the thread `waker` (main) 120 ms
 * after it was seen to wait. In wait_requeued() two threads wait on requeue_from; after 120 ms one
 * of them is woken and the other one moved to requeue_to, from where it is woken after another 120
 * ms.
 * Known answer: all these are waits of the group SYNCHRONISATION, on plain_word, bitset_word,
 * shared_word, pi_word (a pi-mutex that `waker` holds), one of vector_words, single_word and
 * requeue_from, ended by a wake_ function of the same name in `waker`.
 * futex_waitv() came with Linux 5.16, futex_wait() with 6.7: what the kernel lacks is left out, and
 * said.
 */
#include "roles.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

/* The same on every architecture but alpha. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef FUTEX2_SIZE_U32
#define FUTEX2_SIZE_U32 2
#endif
#ifndef FUTEX2_PRIVATE
#define FUTEX2_PRIVATE FUTEX_PRIVATE_FLAG
#endif

enum { WAKE_MS = 120, VECTOR_WORDS = 3 };

/* Waiters leave when their word is no longer 0. */
static uint32_t plain_word, bitset_word, shared_word, single_word;
static uint32_t vector_words[VECTOR_WORDS];
static uint32_t requeue_from, requeue_to;
static uint32_t pi_word; /* the id of the thread that holds it, and flags */

static long futex(uint32_t *word, int op, uint32_t value, const void *limit, uint32_t *other, uint32_t value3)
{
	return syscall(SYS_futex, word, op, value, limit, other, value3);
}

static uint32_t value_of(uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

static OWN_FRAME void wait_plain(int number)
{
	(void)number;
	while (!value_of(&plain_word))
		futex(&plain_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static OWN_FRAME void wake_plain(void)
{
	set(&plain_word);
	futex(&plain_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static OWN_FRAME void wait_bitset(int number)
{
	(void)number;
	while (!value_of(&bitset_word))
		futex(&bitset_word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 4);
}

static OWN_FRAME void wake_bitset(void)
{
	set(&bitset_word);
	futex(&bitset_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 4);
}

static OWN_FRAME void wait_shared(int number)
{
	(void)number;
	while (!value_of(&shared_word))
		futex(&shared_word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static OWN_FRAME void wake_shared(void)
{
	set(&shared_word);
	futex(&shared_word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static OWN_FRAME void lock_pi(void)
{
	uint32_t expected = 0;

	if (!__atomic_compare_exchange_n(&pi_word, &expected, gettid(), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    futex(&pi_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0))
		die("FUTEX_LOCK_PI");
}

static OWN_FRAME void unlock_pi(void)
{
	uint32_t expected = gettid();

	if (!__atomic_compare_exchange_n(&pi_word, &expected, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    futex(&pi_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0))
		die("FUTEX_UNLOCK_PI");
}

static OWN_FRAME void wait_pi(int number)
{
	(void)number;
	lock_pi();
	unlock_pi();
}

static OWN_FRAME void wake_pi(void)
{
	unlock_pi();
}

static OWN_FRAME void wait_vector(int number)
{
	struct futex_waitv waits[VECTOR_WORDS] = { 0 };

	(void)number;
	for (int i = 0; i < VECTOR_WORDS; i++) {
		waits[i].uaddr = (uintptr_t)&vector_words[i];
		waits[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	}
	while (!value_of(&vector_words[1]))
		syscall(SYS_futex_waitv, waits, VECTOR_WORDS, 0, NULL, CLOCK_MONOTONIC);
}

static OWN_FRAME void wake_vector(void)
{
	set(&vector_words[1]);
	futex(&vector_words[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static OWN_FRAME void wait_single(int number)
{
	(void)number;
	while (!value_of(&single_word))
		syscall(SYS_futex_wait, &single_word, 0l, 0xfffffffful, FUTEX2_SIZE_U32 | FUTEX2_PRIVATE, NULL,
			CLOCK_MONOTONIC);
}

static OWN_FRAME void wake_single(void)
{
	set(&single_word);
	futex(&single_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A wait that was moved lasts until the other word's wake-up: it is one system call. */
static OWN_FRAME void wait_requeued(int number)
{
	(void)number;
	futex(&requeue_from, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static OWN_FRAME void wake_requeued(void)
{
	const void *moved_max = (void *)(intptr_t)INT_MAX; /* in the limit's place */

	if (futex(&requeue_from, FUTEX_CMP_REQUEUE_PRIVATE, 1, moved_max, &requeue_to, 0) != 2)
		die("FUTEX_CMP_REQUEUE");
	compute_ms(WAKE_MS);
	futex(&requeue_to, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void plant(const char *name, int count, void (*wait)(int), long call, void (*wake)(void))
{
	struct role waiters[2];

	role_start_all(waiters, count, name, wait);
	role_await_all(waiters, count, call);
	compute_ms(WAKE_MS);
	wake();
	role_join_all(waiters, count);
}

/* Whether the kernel knows the call, asked with arguments that it must refuse. */
static int has_call(long call, const char *name)
{
	if (syscall(call, NULL, 0, 0, 0, NULL, 0) < 0 && errno == ENOSYS) {
		printf("no %s() here\n", name);
		return 0;
	}
	return 1;
}

int main(void)
{
	role_name_self("waker");
	plant("plain", 1, wait_plain, SYS_futex, wake_plain);
	plant("bitset", 1, wait_bitset, SYS_futex, wake_bitset);
	plant("shared", 1, wait_shared, SYS_futex, wake_shared);
	lock_pi();
	plant("pi", 1, wait_pi, SYS_futex, wake_pi);
	plant("requeued-%d", 2, wait_requeued, SYS_futex, wake_requeued);
	if (has_call(SYS_futex_waitv, "futex_waitv"))
		plant("vector", 1, wait_vector, SYS_futex_waitv, wake_vector);
	if (has_call(SYS_futex_wait, "futex_wait"))
		plant("single", 1, wait_single, SYS_futex_wait, wake_single);
	return 0;
}
