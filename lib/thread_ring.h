/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings of threads: who has one, who gets one. Async-signal-safe, but for the start. */
#pragma once

#include <stdint.h>

struct pinchtrace_ring;

/* Not 0, which is that of a process without an area. */
#define PINCHTRACE_NO_GENERATION UINT64_MAX

/* What a thread keeps to itself. Valid for one generation of the area. */
struct pinchtrace_thread {
	uint64_t generation;
	struct pinchtrace_ring *ring;
};

extern __thread struct pinchtrace_thread pinchtrace_thread;

void pinchtrace_thread_ring_start(void);

/* The ring of this thread, which it gets now if it has none; or NULL: there is none to be had. */
struct pinchtrace_ring *pinchtrace_thread_ring_get(void);
