/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row of the list of events. What it points to is borrowed from who made it. */
#pragma once

#include <stdint.h>

struct event_row {
	uint64_t row;     /* its number, from 0 on */
	int64_t time_ns;  /* since the first event */
	uint32_t thread;  /* number; 0: none */
	uint32_t tid;     /* as its host numbers it; 0: unknown */
	int32_t cpu;      /* where it happened; -1: unknown */
	const char *host; /* empty: there is only one; bytes of this and the next two are anyone's, not escaped */
	const char *process, *name;    /* of the thread; empty: unknown */
	const char *event;             /* "sched.SWITCH" */
	const char *text;              /* its fields as pinch dump prints them */
	uint64_t stack, ip, kernel_ip; /* of a sample, as sched.SAMPLE has them; of all else 0 */
};
