// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lost_signal [WHAT]
 * Planted cause: a wake-up that is lost. `baker` signals `ordered` before main waits for it, and waits for `paid` himself,
 * for ever. "hung" on standard output says that all wait.
 * Known answer: a hang: main waits for ordered in await_order(), baker for paid in bake().
 *
 * WHAT makes it none, by one more thread: "limit": it waits with a limit of time; "reader": it reads standard input;
 * "shared": it waits for a condition in memory that processes may share.
 */
#include "roles.h"
#include <sys/mman.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER, paid = PTHREAD_COND_INITIALIZER;
static const char *what;

struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
};

static OWN_FRAME void bake(void)
{
	pthread_mutex_lock(&counter);
	pthread_cond_signal(&ordered);
	pthread_cond_wait(&paid, &counter);
	pthread_mutex_unlock(&counter);
}

static void run_baker(int number)
{
	(void)number;
	bake();
}

static void wait_with_limit(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 1000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &end);
}

static void wait_in_shared_memory(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;

	if (shared == MAP_FAILED)
		die("mmap");
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &mutex);
	pthread_cond_init(&shared->condition, &condition);
	pthread_mutex_lock(&shared->mutex);
	pthread_cond_wait(&shared->condition, &shared->mutex);
}

static void run_other(int number)
{
	char byte;

	(void)number;
	if (!strcmp(what, "limit"))
		wait_with_limit();
	else if (!strcmp(what, "shared"))
		wait_in_shared_memory();
	else if (read(STDIN_FILENO, &byte, 1) < 0)
		die("read");
}

static OWN_FRAME void await_order(void)
{
	pthread_mutex_lock(&counter);
	dprintf(STDOUT_FILENO, "hung\n");
	pthread_cond_wait(&ordered, &counter);
	pthread_mutex_unlock(&counter);
}

int main(int argc, char **argv)
{
	struct role baker, other;

	what = argc > 1 ? argv[1] : NULL;
	role_start(&baker, "baker", run_baker, 0);
	role_await_all(&baker, 1, SYS_futex);
	if (what) {
		role_start(&other, "other", run_other, 0);
		role_await_all(&other, 1, strcmp(what, "reader") ? SYS_futex : SYS_read);
	}
	await_order();
	return 0;
}
