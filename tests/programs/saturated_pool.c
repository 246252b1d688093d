// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * saturated_pool [slack | unnamed]
 * Planted bottleneck: `dispatcher` submits jobs as fast as the queue takes them; the three threads of
 * the pool, `crew-0` to `crew-2`, take 10 ms for each and are never without one.
 * Known answer: the wait for not_full in submit() is for a pool that is saturated, in crew's do_job().
 * Near miss (slack): there is a job every 10 ms only. Then nobody waits for the pool, and no pool is
 * saturated.
 * Near miss (unnamed): no thread has a name, and four others work more than the pool, for nobody, and never
 * wait. The same answer: the pool are the three that began in run_crew().
 */
#include "roles.h"

enum { CREW = 3, OTHERS = 4, ROOM = 4, JOBS = 180, JOB_MS = 10 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int jobs, is_over; /* owned by queue_lock */
static int has_slack;
static int are_others_done; /* atomic */

static OWN_FRAME void submit(void)
{
	pthread_mutex_lock(&queue_lock);
	while (jobs == ROOM)
		pthread_cond_wait(&not_full, &queue_lock);
	jobs++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&queue_lock);
}

static OWN_FRAME int take_job(void)
{
	int is_job;

	pthread_mutex_lock(&queue_lock);
	while (!jobs && !is_over)
		pthread_cond_wait(&not_empty, &queue_lock);
	is_job = jobs > 0;
	jobs -= is_job;
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&queue_lock);
	return is_job;
}

static OWN_FRAME void do_job(void)
{
	compute_ms(has_slack ? 1 : JOB_MS);
}

static OWN_FRAME void work(int number)
{
	(void)number;
	while (take_job())
		do_job();
}

static OWN_FRAME void dispatch(int number)
{
	for (number = 0; number < JOBS / (has_slack ? 2 : 1); number++) {
		if (has_slack)
			sleep_ms(JOB_MS);
		submit();
	}
	pthread_mutex_lock(&queue_lock);
	is_over = 1;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&queue_lock);
}

static void *run_crew(void *data)
{
	work(0);
	return data;
}

static void *run_dispatcher(void *data)
{
	dispatch(0);
	return data;
}

static void *run_other(void *data)
{
	while (!__atomic_load_n(&are_others_done, __ATOMIC_SEQ_CST))
		compute_ms(1);
	return data;
}

static void start(pthread_t *threads, int count, void *(*run)(void *))
{
	while (count--)
		if (pthread_create(threads++, NULL, run, NULL))
			die("pthread_create");
}

static void join(const pthread_t *threads, int count)
{
	while (count--)
		pthread_join(*threads++, NULL);
}

static void run_unnamed(void)
{
	pthread_t crew[CREW], dispatcher, others[OTHERS];

	start(others, OTHERS, run_other);
	start(crew, CREW, run_crew);
	start(&dispatcher, 1, run_dispatcher);
	join(&dispatcher, 1);
	join(crew, CREW);
	__atomic_store_n(&are_others_done, 1, __ATOMIC_SEQ_CST);
	join(others, OTHERS);
}

int main(int argc, char **argv)
{
	struct role crew[CREW], dispatcher;

	if (argc > 1 && !strcmp(argv[1], "unnamed")) {
		run_unnamed();
		return 0;
	}
	has_slack = argc > 1 && !strcmp(argv[1], "slack");
	role_start_all(crew, CREW, "crew-%d", work);
	role_start(&dispatcher, "dispatcher", dispatch, 0);
	role_join_all(&dispatcher, 1);
	role_join_all(crew, CREW);
	return 0;
}
