/* SPDX-License-Identifier: BSD-2-Clause */
#include "ticks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "environment.h"

bool pinchtrace_has_tsc;

/* What a short file has, with a NUL; empty: nothing can be read. */
static void read_file(const char *path, char *text, size_t size_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? 0 : read(fd, text, size_bytes - 1);

	if (fd >= 0)
		close(fd);
	text[count > 0 ? count : 0] = '\0';
}

/* Whether the kernel's own clock is the counter: then it has found that those of all CPUs agree. Else one may be behind another. */
static bool tsc_is_kernels(void)
{
	char text[64];

	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof(text));
	return strcmp(text, "tsc\n") == 0;
}

/* Whether the counter runs at one speed, whatever the CPU does. */
static bool tsc_is_invariant(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#else
	return false;
#endif
}

void pinchtrace_ticks_init(void)
{
	pinchtrace_has_tsc = !pinchtrace_environment.is_monotonic && tsc_is_invariant() && tsc_is_kernels();
}

__attribute__((cold)) uint64_t pinchtrace_ticks_monotonic(void)
{
	return pinchtrace_clock_ns(CLOCK_MONOTONIC);
}

/* A word of digits, perhaps with a sign, behind spaces; moves text behind it. */
static int64_t take_number(const char **text)
{
	uint64_t number = 0;
	bool is_negative;

	*text += strspn(*text, " ");
	is_negative = **text == '-';
	*text += is_negative;
	for (; **text >= '0' && **text <= '9'; ++*text)
		number = number * 10 + (uint64_t)(**text - '0');
	return (int64_t)(is_negative ? -number : number);
}

/* "monotonic  SECONDS  NANOSECONDS", then a line of another clock. */
static int64_t parse_shift(const char *text)
{
	static const char name[] = "monotonic";
	int64_t seconds;

	if (strncmp(text, name, sizeof(name) - 1))
		return 0;
	text += sizeof(name) - 1;
	seconds = take_number(&text);
	return (int64_t)((uint64_t)seconds * 1000000000 + (uint64_t)take_number(&text));
}

int64_t pinchtrace_clock_shift(void)
{
	struct stat own, next;
	char text[128];
	int64_t shift_ns;

	read_file("/proc/self/timens_offsets", text, sizeof(text));
	shift_ns = parse_shift(text);
	/* That is the namespace of children: before a fork or an exec, a process may have another one, the machine's. */
	return shift_ns && !stat("/proc/self/ns/time", &own) && !stat("/proc/self/ns/time_for_children", &next) &&
			       own.st_ino == next.st_ino
		       ? shift_ns
		       : 0;
}

void pinchtrace_pair_take(struct pinchtrace_pair *pair)
{
	struct pinchtrace_pair taken;
	uint64_t before_ns;
	int i;

	pair->error_ns = UINT64_MAX;
	for (i = 0; i < 5; i++) {
		before_ns = pinchtrace_clock_ns(CLOCK_MONOTONIC);
		taken.ticks = pinchtrace_ticks();
		taken.error_ns = pinchtrace_clock_ns(CLOCK_MONOTONIC) - before_ns;
		taken.monotonic_ns = before_ns + taken.error_ns / 2;
		if (taken.error_ns < pair->error_ns)
			*pair = taken;
	}
}
