// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `reader` (main) scans a table for 600 ms under a read lock, for
 * which four writers, `writer-0` to `writer-3`, wait.
 * Known answer: the heaviest wait is `lock`, on table_lock, a rwlock, in update_row(). The first
 * writer sleeps on another word of the lock than those behind it. scan_table() in `reader` wakes
 * the first one, and is the most critical unlocker; update_row() wakes the others.
 */
#include "roles.h"

enum { WRITERS = 4, SCAN_MS = 600 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int rows[WRITERS]; /* owned by table_lock */
static struct role writers[WRITERS];

static OWN_FRAME void update_row(int number)
{
	pthread_rwlock_wrlock(&table_lock);
	rows[number]++;
	pthread_rwlock_unlock(&table_lock);
}

static OWN_FRAME void scan_table(void)
{
	pthread_rwlock_rdlock(&table_lock);
	role_start_all(writers, WRITERS, "writer-%d", update_row);
	role_await_all(writers, WRITERS, SYS_futex);
	compute_ms(SCAN_MS);
	pthread_rwlock_unlock(&table_lock);
}

int main(void)
{
	role_name_self("reader");
	scan_table();
	role_join_all(writers, WRITERS);
	return 0;
}
