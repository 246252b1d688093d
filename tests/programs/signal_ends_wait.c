// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `victim` waits three times for what never comes; each time the
 * thread `killer` (main) sees it wait, computes for 200 ms and sends it a signal, which a handler
 * takes.
 * Known answer: of `victim`, a `pipe` wait in read_nothing(), a `semaphore` wait on never_posted in
 * take_nothing() and a `sleep` in sleep_long(), each ended by a signal, from interrupt_victim() in
 * `killer`.
 */
#include "roles.h"
#include <errno.h>
#include <semaphore.h>

enum { SIGNAL_MS = 200, LONG_S = 20 };

static int empty_pipe[2];
static sem_t never_posted;
static struct role victim;

static void must_be_interrupted(int is_so, const char *what)
{
	if (!is_so) {
		fprintf(stderr, "%s did not end by a signal\n", what);
		exit(1);
	}
}

static OWN_FRAME void read_nothing(void)
{
	char byte;

	must_be_interrupted(read(empty_pipe[0], &byte, 1) < 0 && errno == EINTR, "read");
}

static OWN_FRAME void take_nothing(void)
{
	must_be_interrupted(sem_wait(&never_posted) && errno == EINTR, "sem_wait");
}

static OWN_FRAME void sleep_long(void)
{
	struct timespec length = { .tv_sec = LONG_S };

	must_be_interrupted(nanosleep(&length, NULL) && errno == EINTR, "nanosleep");
}

static void wait_in_vain(int number)
{
	(void)number;
	read_nothing();
	take_nothing();
	sleep_long();
}

static OWN_FRAME void interrupt_victim(long call)
{
	role_await_all(&victim, 1, call);
	compute_ms(SIGNAL_MS);
	pthread_kill(victim.thread, SIGUSR1);
}

static void on_signal(int number)
{
	(void)number;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal }; /* without SA_RESTART */

	role_name_self("killer");
	sem_init(&never_posted, 0, 0);
	if (pipe(empty_pipe) || sigaction(SIGUSR1, &action, NULL))
		die("signal_ends_wait");
	role_start(&victim, "victim", wait_in_vain, 0);
	interrupt_victim(SYS_read);
	interrupt_victim(SYS_futex);
	interrupt_victim(SYS_clock_nanosleep);
	role_join_all(&victim, 1);
	return 0;
}
