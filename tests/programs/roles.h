// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs share that plant a cause of waiting: threads and processes that play a role and
 * bear its name, work that takes a known time, and a way to see that another one waits. With that
 * one, what a wait lasts at least is certain: whoever ends it looks first, and works then.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In every stack it has a frame of its own, under its own name. */
#define OWN_FRAME __attribute__((noinline, noclone))

/* ANY_CALL: where the C library chooses the system call by the architecture. */
enum { AWAIT_LIMIT_MS = 30000, TEST_SKIPPED = 77, ANY_CALL = -1 };

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* That the calling thread has had of a CPU. */
static inline uint64_t cpu_time_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* By the wall clock: on a busy machine, too, others wait as long for it. */
static inline void compute_ms(unsigned length_ms)
{
	uint64_t end_ns = now_ns() + length_ms * 1000000ull;
	volatile uint64_t sink;
	uint64_t x = end_ns;

	do {
		for (int i = 0; i < 2000; i++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
	} while (now_ns() < end_ns);
	sink = x;
	(void)sink;
}

static inline void sleep_ms(unsigned length_ms)
{
	struct timespec left = { length_ms / 1000, length_ms % 1000 * 1000000l };

	while (nanosleep(&left, &left))
		;
}

/* The role of the calling thread; of a process, when it is the first one. */
static inline void role_name_self(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* What /proc says of the thread. */
static inline void read_thread(pid_t tid, const char *name, char *text, size_t size)
{
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, size - 1);
	if (length <= 0)
		die(path);
	text[length] = 0;
	close(fd);
}

/*
 * Until the thread, or the first one of the process, is asleep in that system call. Its state is
 * asked for, too: of a thread that was just woken on another CPU, /proc/TID/syscall may tell as if
 * it were asleep.
 */
static inline void await_blocked(pid_t tid, long call)
{
	for (int i = 0; i < AWAIT_LIMIT_MS; i++) {
		char stat[64], text[64], *state, *end;
		long number;

		read_thread(tid, "stat", stat, sizeof(stat));
		read_thread(tid, "syscall", text, sizeof(text));
		state = strrchr(stat, ')');
		number = strtol(text, &end, 10); /* "running", or -1 in a page fault */
		if (state && state[2] == 'S' && end > text && number >= 0 && (number == call || call == ANY_CALL))
			return;
		sleep_ms(1);
	}
	fprintf(stderr, "thread %d never waited in system call %ld\n", tid, call);
	exit(1);
}

/* A thread. Its owner sets nothing in it but by role_start(). */
struct role {
	pthread_t thread;
	char name[16];
	void (*run)(int number);
	int number;
	pid_t tid; /* atomic; 0 until it runs */
};

static inline void *role_main(void *data)
{
	struct role *role = (struct role *)data;

	role_name_self(role->name);
	__atomic_store_n(&role->tid, gettid(), __ATOMIC_SEQ_CST);
	role->run(role->number);
	return NULL;
}

/* The name may contain %d, which is the number. */
static inline void role_start(struct role *role, const char *name, void (*run)(int), int number)
{
	snprintf(role->name, sizeof(role->name), name, number);
	role->run = run;
	role->number = number;
	role->tid = 0;
	if (pthread_create(&role->thread, NULL, role_main, role))
		die("pthread_create");
}

static inline void role_start_all(struct role *roles, int count, const char *name, void (*run)(int))
{
	for (int i = 0; i < count; i++)
		role_start(&roles[i], name, run, i);
}

static inline void role_join_all(struct role *roles, int count)
{
	for (int i = 0; i < count; i++)
		pthread_join(roles[i].thread, NULL);
}

/* Until all of them are asleep in that system call. */
static inline void role_await_all(struct role *roles, int count, long call)
{
	for (int i = 0; i < count; i++) {
		while (!__atomic_load_n(&roles[i].tid, __ATOMIC_SEQ_CST))
			sleep_ms(1);
		await_blocked(roles[i].tid, call);
	}
}

/* A process of one thread, which ends when run() returns, or with its parent. */
static inline pid_t role_fork(const char *name, void (*run)(void))
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	role_name_self(name);
	if (getppid() == parent)
		run();
	_exit(0);
}

static inline void role_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "process %d did not end well\n", pid);
		exit(1);
	}
}

/* What a program that works on files gets: the directory, and a name in it. */
static inline const char *path_in(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		die("asprintf");
	return path;
}

static inline void write_byte(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

static inline void read_byte(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read");
}
