/* SPDX-License-Identifier: BSD-2-Clause */
#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "pinchtrace_format.h"

/* The seed of this library had 8,000 events for each CPU. */
#define CAPACITY_DEFAULT 8192
#define RING_COUNT_DEFAULT 1024

struct pinchtrace_environment pinchtrace_environment;

/* A value that is too long is not taken at all: half a path is another path. */
static void copy_text(char *to, size_t to_bytes, const char *name, const char *otherwise)
{
	const char *value = secure_getenv(name);

	if (!value || strlen(value) >= to_bytes)
		value = otherwise;
	memcpy(to, value, strlen(value) + 1);
}

static uint32_t read_number(const char *name, uint32_t otherwise, uint32_t min, uint32_t max)
{
	const char *value = secure_getenv(name);
	char *end;
	unsigned long long number;

	if (!value || *value < '0' || *value > '9')
		return otherwise;
	number = strtoull(value, &end, 10);
	if (*end)
		return otherwise;
	return number < min ? min : number > max ? max : number;
}

static bool read_flag(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

/* "80,exit,crash": what is none of these is left out. */
static void read_flush(struct pinchtrace_environment *environment)
{
	const char *list = secure_getenv("PINCHTRACE_FLUSH_AT"), *end;
	unsigned long percent;
	size_t size;

	for (; list && *list; list = *end ? end + 1 : end) {
		end = list + strcspn(list, ",");
		size = (size_t)(end - list);
		percent = *list >= '0' && *list <= '9' ? strtoul(list, NULL, 10) : 0;
		if (percent)
			environment->flush_percent = percent < 100 ? percent : 100;
		environment->flushes_on_exit |= size == 4 && memcmp(list, "exit", 4) == 0;
		environment->flushes_on_crash |= size == 5 && memcmp(list, "crash", 5) == 0;
	}
}

void pinchtrace_environment_read(void)
{
	struct pinchtrace_environment *environment = &pinchtrace_environment;
	const char *clock = secure_getenv("PINCHTRACE_CLOCK");
	uint32_t event_count =
		read_number("PINCHTRACE_EVENTS", CAPACITY_DEFAULT, PINCHTRACE_CAPACITY_MIN, PINCHTRACE_CAPACITY_MAX);

	copy_text(environment->directory, sizeof(environment->directory), "PINCHTRACE_DIR", PINCHTRACE_DIRECTORY);
	copy_text(environment->file, sizeof(environment->file), "PINCHTRACE_FILE", "");
	copy_text(environment->signals, sizeof(environment->signals), "PINCHTRACE_SIGNAL", "");
	copy_text(environment->enabled, sizeof(environment->enabled), "PINCHTRACE_ENABLE", "all");
	environment->ring_count_max = read_number("PINCHTRACE_THREADS", RING_COUNT_DEFAULT, 1, PINCHTRACE_RINGS_MAX);
	read_flush(environment);
	environment->is_kept = read_flag("PINCHTRACE_KEEP");
	environment->is_monotonic = clock && strcmp(clock, "monotonic") == 0;
	for (environment->capacity = PINCHTRACE_CAPACITY_MIN; environment->capacity < event_count;)
		environment->capacity *= 2;
}
