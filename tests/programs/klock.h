// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs share that make threads wait for kernel locks: a crew of threads, spread
 * over the CPUs, that all begin at once and do one thing over and over until the time is up, and the
 * line that says what was planted. A turn is short and never blocks except for kernel locks.
 */
#pragma once

#include "roles.h"
#include <sched.h>
#include <sys/stat.h>

enum { CREW_MAX = 256, CREW_THREADS = 8, CREW_LENGTH_MS = 1000, CREW_LENGTH_MS_MAX = 60000 };

struct crew {
	int threads;
	unsigned length_ms;
	void (*turn)(int number);
	pthread_barrier_t begin;
	uint64_t end_ns; /* written before the barrier opens */
	uint64_t turns;  /* atomic */
	uint64_t wall_ns;
};

static struct crew crew;

static inline long crew_number(const char *text, long max)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 1 || number > max) {
		fprintf(stderr, "%s: not a number from 1 to %ld\n", text, max);
		exit(2);
	}
	return number;
}

/* [THREADS [LENGTH_MS]]: what is left of the arguments from the first on. */
static inline void crew_init(int argc, char **argv, int first)
{
	crew.threads = argc > first ? crew_number(argv[first], CREW_MAX) : CREW_THREADS;
	crew.length_ms = argc > first + 1 ? crew_number(argv[first + 1], CREW_LENGTH_MS_MAX) : CREW_LENGTH_MS;
}

/*
 * Keeps the thread on one CPU, in turn. Else others who want the CPUs may leave the whole crew on one,
 * where nobody waits for a lock that is never held by a thread that does not run.
 */
static inline void crew_pin(int number)
{
	cpu_set_t all, one;
	int turn;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	turn = number % CPU_COUNT(&all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || turn--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			die("sched_setaffinity");
		return;
	}
}

static inline void crew_work(int number)
{
	uint64_t turns = 0;

	crew_pin(number);
	pthread_barrier_wait(&crew.begin);
	for (; now_ns() < crew.end_ns; turns++)
		crew.turn(number);
	__atomic_fetch_add(&crew.turns, turns, __ATOMIC_RELAXED);
}

/* All threads have ended when it returns. The name may contain %d. */
static inline void crew_run(const char *name, void (*turn)(int))
{
	static struct role roles[CREW_MAX];
	uint64_t begin_ns;

	crew.turn = turn;
	pthread_barrier_init(&crew.begin, NULL, crew.threads + 1);
	for (int i = 0; i < crew.threads; i++) /* the mask: names have space for so many digits */
		role_start(&roles[i], name, crew_work, i & (CREW_MAX - 1));
	begin_ns = now_ns();
	crew.end_ns = begin_ns + crew.length_ms * 1000000ull;
	pthread_barrier_wait(&crew.begin);
	role_join_all(roles, crew.threads);
	crew.wall_ns = now_ns() - begin_ns;
}

/* One line of JSON. The path and the number of the inode only where a file is what is locked. */
static inline void crew_emit(const char *lock, const char *path)
{
	struct stat file;

	printf("{\"lock\": \"%s\", \"threads\": %d, \"turns\": %llu, \"wall_ns\": %llu", lock, crew.threads,
	       (unsigned long long)crew.turns, (unsigned long long)crew.wall_ns);
	if (path) {
		if (stat(path, &file))
			die(path);
		printf(", \"path\": \"%s\", \"inode\": %llu", path, (unsigned long long)file.st_ino);
	}
	puts("}");
}
