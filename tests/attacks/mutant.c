// SPDX-License-Identifier: GPL-2.0-or-later
// What mutated copies are made of: a program with all that compilers write, whose function mutant_work()
// can be called wherever the file is mapped, for it uses nothing but its stack.
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

struct pair {
	uint32_t first, second;
};

static inline __attribute__((always_inline)) uint32_t mix(struct pair pair)
{
	return pair.first * 31 + (pair.second ^ pair.first >> 3);
}

static inline __attribute__((always_inline)) uint32_t work(unsigned int rounds)
{
	struct pair pair = { 1, rounds };

	for (unsigned int i = 0; i < rounds; i++) {
		pair.first = mix(pair);
		__asm__ volatile("" : "+r"(pair.first));
	}
	return pair.first;
}

static inline __attribute__((always_inline)) void rest(void)
{
	struct timespec pause = { .tv_nsec = 500000 };
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&pause), "S"(0) : "rcx", "r11", "memory");
}

__attribute__((noinline)) uint32_t mutant_work(void)
{
	uint32_t result = work(20000);

	rest();
	return result;
}

int main(void)
{
	return printf("%u\n", mutant_work()) < 0;
}
