// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: threads whose names contain control characters, terminal escape sequences, invalid UTF-8,
 * a newline, quotes, backslashes, markup and more. They are alive together and compute in turn,
 * alone.
 * Known answer: odd_work(); the first thread, named "\033[31mred\033[0m", computes four times
 * longer than any other and leads. No report may contain a raw control character or invalid UTF-8.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>

/* At most 15 bytes each, which is what the kernel keeps. */
static const char *const names[] = {
	"\033[31mred\033[0m",
	"\033]0;title\a", /* sets a terminal's title */
	"bell\a\b\x7f\r",
	"new\nline",
	"tab\tend",
	"\xff\xfe\xc3(\x80", /* never UTF-8 */
	"cut \xe2\x82",      /* UTF-8 cut short */
	"\xc2\x9b"
	"31mC1", /* CSI as one C1 character */
	"\xe2\x80\xae"
	"lairt", /* right-to-left override */
	"quo\"te'\\back",
	"%s%n%x{0}$(id)",
	"<b>&amp;</b>",
	"a) R 1 (b", /* misleads readers of /proc/PID/stat */
	"semi;colon,tab",
	"  spaces  ",
	"",
};

enum { THREADS = sizeof(names) / sizeof(names[0]), LOOPS = 85000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn = -1; /* whose turn; owned by lock */
static volatile uint64_t sink;

static __attribute__((noinline)) uint64_t odd_work(uint64_t x, int loops)
{
	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static void wait_for_turn(int id)
{
	pthread_mutex_lock(&lock);
	while (turn != id)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void give_turn(int id)
{
	pthread_mutex_lock(&lock);
	turn = id;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *run(void *data)
{
	int id = (int)(intptr_t)data;

	prctl(PR_SET_NAME, names[id]);
	wait_for_turn(id);
	sink = odd_work(id, id ? LOOPS : 4 * LOOPS);
	give_turn(id + 1);
	wait_for_turn(THREADS); /* so that all stay alive, with their names */
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i)) {
			perror("pthread_create");
			return 1;
		}
	give_turn(0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
