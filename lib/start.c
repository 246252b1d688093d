/* SPDX-License-Identifier: BSD-2-Clause */
/* The library's first and last actions in a program, and what the program says first. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "area.h"
#include "environment.h"
#include "pinchtrace.h"
#include "signals.h"
#include "switches.h"
#include "thread_ring.h"
#include "ticks.h"

/*
 * Read by every event, written by others: mapped over, so it has its pages for itself. Every program refers to it, and so
 * has what else is in this file, from the static library too.
 */
__attribute__((aligned(PINCHTRACE_PAGE_BYTES))) unsigned char pinchtrace_on[PINCHTRACE_SUBSYSTEMS];

/* Before the constructors of the program, which may have events. */
__attribute__((constructor(101))) static void on_start(void)
{
	int saved_errno = errno;

	pinchtrace_environment_read();
	pinchtrace_ticks_init();
	pinchtrace_thread_ring_start();
	pinchtrace_area_start();
	pinchtrace_switches_start(pinchtrace_environment.enabled);
	pinchtrace_signals_start();
	errno = saved_errno;
}

__attribute__((destructor(101))) static void on_end(void)
{
	if (pinchtrace_environment.flushes_on_exit)
		pinchtrace_flush();
	pinchtrace_area_end();
}

/* Whether the schema has this text already. */
static bool has_text(uint64_t schema_bytes, const char *json, size_t size)
{
	const char *schema = pinchtrace_area.schema;
	uint64_t at, text_size;

	for (at = 0; at < schema_bytes; at += text_size + 1) {
		text_size = strnlen(schema + at, schema_bytes - at);
		if (text_size == size && at + size < schema_bytes && memcmp(schema + at, json, size) == 0)
			return true;
	}
	return false;
}

static int add_text(const char *json)
{
	struct pinchtrace_header *header = pinchtrace_area.header;
	uint64_t schema_bytes = __atomic_load_n(&header->schema_bytes, __ATOMIC_RELAXED);
	uint64_t bytes_max = pinchtrace_area.schema_bytes_max;
	size_t size = strlen(json);
	int err;

	if (size >= bytes_max || schema_bytes > bytes_max - size - 1)
		return -E2BIG;
	err = pinchtrace_area_populate(pinchtrace_area.schema, schema_bytes + size + 1);
	if (err)
		return err;
	if (has_text(schema_bytes, json, size))
		return 0;
	memcpy(pinchtrace_area.schema + schema_bytes, json, size + 1);
	/* Who sees the size sees the text. */
	__atomic_store_n(&header->schema_bytes, schema_bytes + size + 1, __ATOMIC_RELEASE);
	return 0;
}

int pinchtrace_register(const char *json)
{
	int saved_errno = errno, err = -ENOMEM;

	if (!json)
		return -EINVAL;
	if (pinchtrace_area_ensure()) {
		while (__atomic_exchange_n(&pinchtrace_own.is_registering, 1, __ATOMIC_ACQUIRE))
			sched_yield();
		err = add_text(json);
		__atomic_store_n(&pinchtrace_own.is_registering, 0, __ATOMIC_RELEASE);
		if (strcmp(pinchtrace_environment.enabled, "all") != 0)
			pinchtrace_switches_enable_named(json, pinchtrace_environment.enabled);
	}
	errno = saved_errno;
	return err;
}
