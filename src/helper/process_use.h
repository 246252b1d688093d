/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes have used since they began: disks (/proc/PID/io) and CPUs (/proc/PID/stat). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_use {
	uint32_t pid;
	char name[16];
	uint64_t read_bytes, write_bytes;
	uint64_t call_bytes; /* that write() and the like were given, for whatever */
	uint64_t cpu_ns;     /* of all its threads; in ticks of the clock, 10 ms */
};

enum { PROCESS_USE_MAX = 2048 };

/*
 * Calls on_each for processes that may be read, at most so many. 0, or the errno of /proc. Reading one can take as long as
 * a process likes that executes a program: only the opener does that.
 */
int process_use_read(void (*on_each)(void *data, const struct process_use *use), void *data);

/* Fills in the bytes from a text of /proc/PID/io; false: it is none. */
bool process_use_parse_io(const char *text, struct process_use *out);

/* Fills in the CPU time from a text of /proc/PID/stat; false: it is none. */
bool process_use_parse_stat(const char *text, struct process_use *out);
