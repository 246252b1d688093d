/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An activity: something that lasts from one event to another one, with a name and parameters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct activity_parameter {
	const char *name;
	enum { PARAMETER_INTEGER, PARAMETER_REAL, PARAMETER_STRING } type;
	int64_t integer;
	double real;
	const char *string;
};

/* Decoders make it, whoever takes it copies what it keeps. Strings may be of a traced program: they are not escaped. */
struct activity {
	const char *source; /* the script; NULL: built in */
	const char *name;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; end_ns >= begin_ns */
	uint32_t thread;           /* its number; 0: none */
	uint32_t end_thread;       /* where it ended; 0: not known, or in the same one */
	uint32_t cpu;              /* where it ended; CPU_UNKNOWN */
	bool is_message;           /* sent by thread, received by end_thread */
	const struct activity_parameter *parameters;
	size_t parameter_count;
};

/* Who takes activities. */
struct activity_sink {
	void (*take)(void *data, const struct activity *activity);
	void *data;
};
