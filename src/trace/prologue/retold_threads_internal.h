/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What retold_threads.h keeps: retold_threads.c follows the events, retold_list.c tells. */
#pragma once

#include "trace/prologue/retold_threads.h"

enum {
	RETOLD_RECENT = 1024,
	RETOLD_CPUS_MAX = UINT16_MAX + 1,
	RETOLD_CPU_UNKNOWN = RETOLD_CPUS_MAX,
};

struct retold_threads {
	struct table *by_number;
	struct retold_thread *recent[RETOLD_RECENT];	/* by number: spares most look-ups */
	struct retold_thread *running[RETOLD_CPUS_MAX];	/* by CPU; NULL: not known */
	struct retold_thread *first_dead, *last_dead;	/* in order of death */
	size_t dead_count;
	uint64_t now_ns;
	uint32_t sync, begins;
	bool is_in_gap, is_in_sync, is_sync_damaged;
};

static inline uint32_t retold_thread_number(const struct retold_thread *thread)
{
	return thread->found.header.thread;
}
