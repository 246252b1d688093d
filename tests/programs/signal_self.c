// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signal_self SIGNAL
 * Edge: computes for half a second in the thread `victim`, then kills itself with SIGNAL, whose
 * action is the default one. Leaves no core. When the signal does not kill, exits with status 0.
 * Known answer: victim_work() leads; the status handed on is death by SIGNAL (128 + SIGNAL in a
 * shell).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOOPS = 450000000 };

static volatile uint64_t sink;

static __attribute__((noinline)) uint64_t victim_work(uint64_t x)
{
	for (int i = 0; i < LOOPS; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static void *run(void *data)
{
	sink = victim_work((uintptr_t)data);
	return data;
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	struct rlimit none = { 0, 0 };
	sigset_t set;
	pthread_t victim;

	if (number < 1 || number > SIGRTMAX) {
		fprintf(stderr, "usage: signal_self SIGNAL\n");
		return 2;
	}
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL); /* fails for SIGKILL and SIGSTOP, which need it not */
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (pthread_create(&victim, NULL, run, NULL)) {
		perror("pthread_create");
		return 1;
	}
	pthread_setname_np(victim, "victim");
	pthread_join(victim, NULL);
	if (kill(getpid(), number)) {
		perror("kill");
		return 1;
	}
	return 0;
}
