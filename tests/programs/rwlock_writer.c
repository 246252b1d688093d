// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: six threads, `reader-0` to `reader-5`, look something up every 5 ms under a
 * read lock. Four times the thread `writer` (main) takes the write lock and computes for 150 ms
 * when all of them wait.
 * Known answer: the heaviest wait is `lock`, on table_lock, a rwlock, in read_table(); its waker is
 * rewrite_table() in `writer`, which holds it. The readers' sleeps come after it.
 */
#include "roles.h"

enum { READERS = 6, REWRITES = 4, REWRITE_MS = 150, BETWEEN_MS = 30, LOOKUP_MS = 5 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int table[8]; /* owned by table_lock */
static int is_over;           /* atomic */
static struct role readers[READERS];

static OWN_FRAME int read_table(int number)
{
	int value;

	pthread_rwlock_rdlock(&table_lock);
	value = table[number];
	pthread_rwlock_unlock(&table_lock);
	return value;
}

static OWN_FRAME void rewrite_table(void)
{
	pthread_rwlock_wrlock(&table_lock);
	role_await_all(readers, READERS, SYS_futex);
	compute_ms(REWRITE_MS);
	for (int i = 0; i < READERS; i++)
		table[i]++;
	pthread_rwlock_unlock(&table_lock);
}

static void look_up(int number)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) {
		read_table(number);
		sleep_ms(LOOKUP_MS);
	}
}

int main(void)
{
	role_name_self("writer");
	role_start_all(readers, READERS, "reader-%d", look_up);
	for (int i = 0; i < REWRITES; i++) {
		sleep_ms(BETWEEN_MS);
		rewrite_table();
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
	role_join_all(readers, READERS);
	return 0;
}
