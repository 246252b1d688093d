// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: for 800 ms, eight threads, `logger-0` to `logger-7`, take one lock all the
 * time, and do little else. Who has it writes for some 50 us, for which a sleep stands: so the
 * others come to a lock that is held, on one CPU, too, and by the time it is free again all of them
 * wait.
 * Known answer: the heaviest wait is `lock`, on journal_lock, in append_journal(), which is its
 * waker, too: many short waits, with nearly all threads in the queue.
 */
#include "roles.h"

enum { LOGGERS = 8, LENGTH_MS = 800, WRITE_NS = 50000, BETWEEN_NS = 20000 };

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t entries; /* owned by journal_lock */
static uint64_t end_ns;

static void sleep_ns(long length_ns)
{
	struct timespec length = { .tv_nsec = length_ns };

	nanosleep(&length, NULL);
}

static OWN_FRAME void append_journal(void)
{
	pthread_mutex_lock(&journal_lock);
	sleep_ns(WRITE_NS);
	entries++;
	pthread_mutex_unlock(&journal_lock);
}

static void log_all(int number)
{
	(void)number;
	prctl(PR_SET_TIMERSLACK, 1l);
	while (now_ns() < end_ns) {
		append_journal();
		/* Else it would have the lock again before the one that it woke can run. */
		sleep_ns(BETWEEN_NS);
	}
}

int main(void)
{
	struct role loggers[LOGGERS];

	end_ns = now_ns() + LENGTH_MS * 1000000ull;
	role_start_all(loggers, LOGGERS, "logger-%d", log_all);
	role_join_all(loggers, LOGGERS);
	return 0;
}
