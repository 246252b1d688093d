// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs share whose code's shares are known: work in named functions, and a log of when each
 * thread entered and left them. tests/e2e/code_model.py joins the log with a trace of the same run, and so
 * knows how long each function ran, and with how many active threads: whatever the machine did meanwhile.
 *
 * A program is called as: NAME LOG MILLISECONDS. Of LOG only what is used takes memory. Its content lasts
 * however the program ends.
 */
#pragma once

#include "../roles.h"

#include <stdbool.h>
#include <sys/mman.h>

enum {
	LOG_NAMES_BYTES = 4088,
	LOG_ENTRIES_MAX = 1 << 24,
	LOG_CHUNK = 64, /* entries that a thread takes at once */
	LOG_LEAVE = 0xffffffff,
	LOG_CPU_NS = 2000000, /* a thread notes its CPU time so often at most */
	BURN_ROUNDS = 700,    /* about a microsecond */
};

struct log_entry {
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: not used */
	uint64_t cpu_ns;  /* CLOCK_THREAD_CPUTIME_ID, read before time_ns; 0: not read */
	uint32_t tid;
	uint32_t function; /* entered: its place among the names; LOG_LEAVE: the last one entered is left */
};

struct log_file {
	uint64_t used; /* entries; atomic */
	char names[LOG_NAMES_BYTES];
	struct log_entry entries[LOG_ENTRIES_MAX];
};

static struct log_file *log_file;
static uint64_t log_deadline_ns;
static __thread struct log_entry *log_next, *log_end;
static __thread pid_t log_tid;
static __thread uint64_t log_cpu_at_ns;

/* The names end with NULL. */
static inline void log_open(int argc, char **argv, const char *const *names)
{
	int fd, at = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s LOG MILLISECONDS\n", argv[0]);
		exit(2);
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*log_file)))
		die(argv[1]);
	log_file = (struct log_file *)mmap(NULL, sizeof(*log_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log_file == MAP_FAILED)
		die("mmap");
	close(fd);
	for (; *names; names++)
		at += sprintf(log_file->names + at, "%s\n", *names);
	log_deadline_ns = now_ns() + atoi(argv[2]) * 1000000ull;
}

static inline bool log_is_time(void)
{
	return now_ns() < log_deadline_ns;
}

/* In a process that fork() has made: its parent goes on with the same entries. */
static inline void log_forked(void)
{
	log_next = log_end = NULL;
	log_tid = 0;
}

static OWN_FRAME __attribute__((unused)) void log_take_chunk(void)
{
	uint64_t first = __atomic_fetch_add(&log_file->used, LOG_CHUNK, __ATOMIC_RELAXED);

	if (first + LOG_CHUNK > LOG_ENTRIES_MAX) {
		fprintf(stderr, "the log is full\n");
		_exit(1);
	}
	log_next = &log_file->entries[first];
	log_end = log_next + LOG_CHUNK;
	if (!log_tid)
		log_tid = gettid();
}

static inline __attribute__((always_inline)) void log_write(uint32_t function)
{
	uint64_t time_ns;

	if (log_next == log_end)
		log_take_chunk();
	time_ns = now_ns();
	if (time_ns - log_cpu_at_ns > LOG_CPU_NS) {
		log_next->cpu_ns = cpu_time_ns();
		time_ns = log_cpu_at_ns = now_ns();
	}
	log_next->tid = log_tid;
	log_next->function = function;
	log_next->time_ns = time_ns;
	log_next++;
}

static inline __attribute__((always_inline)) void log_enter(uint32_t function)
{
	log_write(function);
}

static inline __attribute__((always_inline)) void log_leave(void)
{
	log_write(LOG_LEAVE);
}

/* Sleeps for so long on average, half as long to half as long again: in step with nothing. */
static inline void pause_us(unsigned us)
{
	static __thread uint64_t random;
	struct timespec time;

	random = random * 6364136223846793005ull + 1442695040888963407ull;
	time.tv_sec = 0;
	time.tv_nsec = us * 500ull + (random >> 33) % (us * 1000ull);
	nanosleep(&time, NULL);
}

/* Computes for about so long, and calls nothing. A macro: inlined functions have rows of their own. */
#define BURN_US(us)                                                \
	do {                                                       \
		uint64_t x = (us), i = (uint64_t)(us)*BURN_ROUNDS; \
                                                                   \
		for (; i; i--)                                     \
			x = x * 6364136223846793005ull + i;        \
		__asm__ volatile("" : : "r"(x));                   \
	} while (0)

/* A function that computes for so long. Nothing of it is another one's. */
#define WORK(name, number)                           \
	static OWN_FRAME void name(unsigned us)      \
	{                                            \
		log_enter(number);                   \
		BURN_US(us);                         \
		log_leave();                         \
		__asm__ volatile("" : : : "memory"); \
	}
