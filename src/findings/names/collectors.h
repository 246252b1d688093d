/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Garbage collectors, as their threads and functions are called. */
#pragma once

#include <stddef.h>

struct report_frame;

struct collector {
	const char *name;   /* "the JVM" */
	const char *advice; /* what gives it less work, without an end of sentence */
};

/*
 * The collector that code belongs to, which a thread of that name ran by that call path, innermost function first; static.
 * thread: NULL: it is not known. NULL: it is none that is known. *own: how many of the frames are its own, the rest has called it; all in its threads.
 */
const struct collector *collector_of(const char *thread, const struct report_frame *frames, size_t count, size_t *own);
