// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_spin [yield | sleep | timer | futex | wake | group | all [THREADS [LENGTH_MS]]]	(all 8 1000)
 * Planted contention of spinlocks, by the threads `spinner-0` and so on:
 *   yield   give up the CPU: the run queue's lock, seldom, because it is another one on each CPU
 *   sleep   sleep for a microsecond: those of the CPU's timers and of its run queue, as seldom
 *   timer   arm one timer of the process: that timer's lock
 *   futex   ask to wait on one word for a value that it has not: the lock of its hash bucket
 *   wake    wake who waits on one word, or wait on it: the same lock, and the run queues', because
 *           who is woken belongs to the other CPU
 *   group   make the process lead the group that it leads already: tasklist_lock, a rwlock, for writing
 *   all     thread i does the (i mod 6)th of these
 * Known answer: on two CPUs at least, what is said above. How often they wait goes by the machine:
 * a spinlock is waited for only where another CPU has it in this very moment.
 */
#include "klock.h"
#include <linux/futex.h>
#include <sched.h>

enum { FAR_S = 3600, WAIT_NS = 50000 };

static timer_t timer;
static uint32_t word, gate;

static OWN_FRAME void give_up_cpu(void)
{
	sched_yield();
}

static OWN_FRAME void sleep_shortly(void)
{
	struct timespec length = { .tv_nsec = 1000 };

	nanosleep(&length, NULL);
}

static OWN_FRAME void arm_timer(void)
{
	struct itimerspec when = { .it_value.tv_sec = FAR_S };

	if (timer_settime(timer, 0, &when, NULL))
		die("timer_settime");
}

static OWN_FRAME void ask_futex(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word + 1, NULL);
}

/* The one in eight that waits has company, or its time is up. */
static OWN_FRAME void wake_or_wait(void)
{
	static __thread unsigned calls;
	struct timespec limit = { .tv_nsec = WAIT_NS };

	if (++calls % 8)
		syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, 1);
	else
		syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, gate, &limit);
}

/* Of a session's first process this is refused, after the lock was taken. */
static OWN_FRAME void lead_group(void)
{
	setpgid(0, 0);
}

static const struct {
	const char *name;
	void (*act)(void);
} kinds[] = {
	{ "yield", give_up_cpu }, { "sleep", sleep_shortly }, { "timer", arm_timer },
	{ "futex", ask_futex },   { "wake", wake_or_wait },   { "group", lead_group },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int only = -1; /* the index of the kind; -1: all */

static void turn(int number)
{
	kinds[only < 0 ? number % KINDS : only].act();
}

int main(int argc, char **argv)
{
	struct sigevent silent = { .sigev_notify = SIGEV_NONE };
	const char *kind = argc > 1 ? argv[1] : "all";

	crew_init(argc, argv, 2);
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kind, kinds[i].name))
			only = i;
	if (only < 0 && strcmp(kind, "all")) {
		fprintf(stderr, "%s: no such kind\n", kind);
		return 2;
	}
	if (timer_create(CLOCK_MONOTONIC, &silent, &timer))
		die("timer_create");
	prctl(PR_SET_TIMERSLACK, 1l); /* the threads inherit it */
	crew_run("spinner-%d", turn);
	crew_emit("spinlocks", NULL);
	return 0;
}
