// SPDX-License-Identifier: GPL-2.0-or-later
// A sound program: it says "ready", then works and sleeps in functions whose names no attack may cost it.
#include <stdio.h>
#include <time.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void bystander_work(void)
{
	for (unsigned long i = 0; i < 300000; i++)
		sum += i;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void bystander_sleep(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		bystander_work();
		bystander_sleep();
	}
}
