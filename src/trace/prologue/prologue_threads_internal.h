/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What prologue_threads.h keeps: prologue_threads.c follows the events, prologue_list.c says. */
#pragma once

#include "trace/prologue/prologue_threads.h"
#include "values.h"

enum {
	PROLOGUE_RECENT = 1024,
	PROLOGUE_CPU_UNKNOWN = CPUS_MAX,
};

struct prologue_threads {
	struct table *by_number;
	struct prologue_thread *recent[PROLOGUE_RECENT]; /* by number: spares most look-ups */
	struct prologue_thread *running[CPUS_MAX];       /* by CPU; NULL: unknown */
	struct prologue_thread *first_dead, *last_dead;  /* in order of death */
	size_t dead_count;
	uint64_t now_ns;
	uint32_t sync, begins;
	bool is_in_gap, is_in_sync, is_sync_damaged;
};

static inline uint32_t prologue_thread_number(const struct prologue_thread *thread)
{
	return thread->found.header.thread;
}
