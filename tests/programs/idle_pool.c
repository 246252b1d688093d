// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * idle_pool [stdin]
 * Near miss: eight threads, `worker-0` to `worker-7`, wait for work, which the thread `dispatcher`
 * brings seldom: it sleeps for 250 ms before each of four pieces, and before it closes the pool;
 * or, if asked to, it says that it is ready and reads a byte of the standard input, from another
 * process, for each piece, to the end. Work takes 1 ms. The thread `busy` does the real work alone,
 * for 1.2 s or until the input ends. Where that is allowed, `dispatcher` comes before all others: what
 * waits for it is not idle while it waits for a CPU.
 * Known answer: `busy` leads by real_work(). The waits in take_work(), a `condition` on work_ready,
 * are idle and lead nothing, though they are eight times as long as the run; so is the `sleep`, or
 * the `pipe` wait for a process that is not traced, in fetch_work() of `dispatcher`.
 */
#include "roles.h"
#include <sched.h>

enum { WORKERS = 8, PIECES = 4, FETCH_MS = 250, WORK_MS = 1, BUSY_MS = 1200 };

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_ready = PTHREAD_COND_INITIALIZER;
static int pieces, is_over; /* owned by work_lock */
static int is_busy = 1;     /* atomic */
static int is_stdin;

static OWN_FRAME int take_work(void)
{
	int is_work;

	pthread_mutex_lock(&work_lock);
	while (!pieces && !is_over)
		pthread_cond_wait(&work_ready, &work_lock);
	is_work = pieces > 0;
	pieces -= is_work;
	pthread_mutex_unlock(&work_lock);
	return is_work;
}

static void work(int number)
{
	(void)number;
	while (take_work())
		compute_ms(WORK_MS);
}

static OWN_FRAME int fetch_work(int number)
{
	char byte;

	if (is_stdin)
		return read(STDIN_FILENO, &byte, 1) == 1;
	sleep_ms(FETCH_MS);
	return number < PIECES;
}

static void come_first(void)
{
	struct sched_param priority = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_FIFO, &priority);
}

static OWN_FRAME void dispatch(int number)
{
	come_first();
	if (is_stdin) {
		puts("ready");
		fflush(stdout);
	}
	for (number = 0; fetch_work(number); number++) {
		pthread_mutex_lock(&work_lock);
		pieces++;
		pthread_cond_signal(&work_ready);
		pthread_mutex_unlock(&work_lock);
	}
	pthread_mutex_lock(&work_lock);
	is_over = 1;
	pthread_cond_broadcast(&work_ready);
	pthread_mutex_unlock(&work_lock);
	__atomic_store_n(&is_busy, 0, __ATOMIC_SEQ_CST);
}

static OWN_FRAME void real_work(int number)
{
	uint64_t end_ns = now_ns() + BUSY_MS * 1000000ull;

	(void)number;
	while (is_stdin ? __atomic_load_n(&is_busy, __ATOMIC_SEQ_CST) : now_ns() < end_ns)
		compute_ms(1);
}

int main(int argc, char **argv)
{
	struct role workers[WORKERS], dispatcher, busy;

	is_stdin = argc > 1 && !strcmp(argv[1], "stdin");
	role_start(&dispatcher, "dispatcher", dispatch, 0);
	role_start_all(workers, WORKERS, "worker-%d", work);
	role_start(&busy, "busy", real_work, 0);
	role_join_all(&busy, 1);
	role_join_all(&dispatcher, 1);
	role_join_all(workers, WORKERS);
	return 0;
}
