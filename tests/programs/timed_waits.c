// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `timed` waits with a limit, one wait after the other. Three times
 * the limit of 200 ms passes; the fourth limit is far away, and the thread `giver` (main) posts 200
 * ms after `timed` is seen to wait.
 * Known answer: of `timed`, four waits of about equal length: `lock` on busy_lock in
 * lock_in_vain(), which `giver` holds; `condition` on never_true in wait_in_vain(); `semaphore` on
 * never_posted in take_in_vain(); all ended by a timeout; and `semaphore` on given, in
 * take_given(), ended by give() in `giver`.
 */
#include "roles.h"
#include <errno.h>
#include <semaphore.h>

enum { LIMIT_MS = 200, GIVE_MS = 200, FAR_MS = 20000 };

static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never_true = PTHREAD_COND_INITIALIZER;
static sem_t never_posted, asked, given;

static struct timespec after(unsigned length_ms)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += length_ms % 1000 * 1000000l;
	time.tv_sec += length_ms / 1000 + time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void must_be(int is_so, const char *what)
{
	if (!is_so) {
		fprintf(stderr, "%s did not end as planted\n", what);
		exit(1);
	}
}

static OWN_FRAME void lock_in_vain(void)
{
	struct timespec limit = after(LIMIT_MS);

	must_be(pthread_mutex_timedlock(&busy_lock, &limit) == ETIMEDOUT, "timedlock");
}

static OWN_FRAME void wait_in_vain(void)
{
	struct timespec limit = after(LIMIT_MS);
	int status = 0;

	pthread_mutex_lock(&idle_lock);
	while (!status)
		status = pthread_cond_timedwait(&never_true, &idle_lock, &limit);
	pthread_mutex_unlock(&idle_lock);
	must_be(status == ETIMEDOUT, "timedwait");
}

static OWN_FRAME void take_in_vain(void)
{
	struct timespec limit = after(LIMIT_MS);

	must_be(sem_timedwait(&never_posted, &limit) && errno == ETIMEDOUT, "sem_timedwait");
}

static OWN_FRAME void take_given(void)
{
	struct timespec limit = after(FAR_MS);

	must_be(!sem_timedwait(&given, &limit), "sem_timedwait");
}

static void wait_with_limits(int number)
{
	(void)number;
	lock_in_vain();
	wait_in_vain();
	take_in_vain();
	sem_post(&asked);
	take_given();
}

static OWN_FRAME void give(void)
{
	compute_ms(GIVE_MS);
	sem_post(&given);
}

int main(void)
{
	struct role timed;

	sem_init(&never_posted, 0, 0);
	sem_init(&asked, 0, 0);
	sem_init(&given, 0, 0);
	role_name_self("giver");
	pthread_mutex_lock(&busy_lock);
	role_start(&timed, "timed", wait_with_limits, 0);
	sem_wait(&asked);
	role_await_all(&timed, 1, SYS_futex);
	give();
	role_join_all(&timed, 1);
	pthread_mutex_unlock(&busy_lock);
	return 0;
}
