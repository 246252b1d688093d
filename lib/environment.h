/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment says at the program's start. Of programs with more rights than their user (set-user-ID): nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pinchtrace_environment {
	char directory[224]; /* of the area's file */
	char file[256];      /* where trace_flush() writes; empty: standard error */
	char signals[256];   /* "USR2:start,USR1:snapshot" */
	char enabled[1024];  /* "all", "none", or names and numbers of subsystems with commas between */
	uint32_t capacity;   /* slots of a ring: a power of two */
	uint32_t ring_count_max;
	uint32_t flush_percent; /* of a ring that was not flushed before; 0: never */
	bool flushes_on_exit, flushes_on_crash;
	bool is_kept;      /* the file stays when the program ends */
	bool is_monotonic; /* CLOCK_MONOTONIC even where the time stamp counter would do */
};

extern struct pinchtrace_environment pinchtrace_environment;

void pinchtrace_environment_read(void);
