// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a worker signals that its job is ready before anybody waits, and nobody looks at a flag: main waits
 * for ever, and the worker for the next job. Prints `hung` first. Cured: the jobs are counted.
 * Known answer: a hang: await_job() waits for job_ready, which nobody alive can signal.
 */
#include "planted.h"

static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job_ready = PTHREAD_COND_INITIALIZER, job_wanted = PTHREAD_COND_INITIALIZER;
static int ready, wanted; /* owned by jobs_lock */

static void run_worker(int number)
{
	pthread_mutex_lock(&jobs_lock);
	for (number = 0;; number++) {
		ready++;
		pthread_cond_signal(&job_ready);
		if (is_cured)
			planted_done(1);
		while (!wanted)
			pthread_cond_wait(&job_wanted, &jobs_lock);
		wanted--;
	}
}

static OWN_FRAME void await_job(void)
{
	if (!is_cured)
		pthread_cond_wait(&job_ready, &jobs_lock);
	while (!ready)
		pthread_cond_wait(&job_ready, &jobs_lock);
	ready--;
	wanted++;
	pthread_cond_signal(&job_wanted);
}

int main(int argc, char **argv)
{
	struct role worker;

	planted_open(argc, argv);
	role_start(&worker, "worker", run_worker, 0);
	role_await_all(&worker, 1, SYS_futex);
	if (!is_cured)
		dprintf(STDOUT_FILENO, "hung\n");
	pthread_mutex_lock(&jobs_lock);
	for (;;)
		await_job();
}
