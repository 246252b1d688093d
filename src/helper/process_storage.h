/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/io: what processes have read from disks and written for them, since they began. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_storage {
	uint32_t pid;
	char name[16];
	uint64_t read_bytes, write_bytes;
	uint64_t call_bytes; /* that write() and the like were given, for whatever */
};

enum { PROCESS_STORAGE_MAX = 2048 };

/*
 * Calls on_each for processes that may be read, at most so many. 0, or the errno of /proc. Reading one can take as long as
 * a process likes that executes a program: only the opener does that.
 */
int process_storage_read(void (*on_each)(void *data, const struct process_storage *storage), void *data);

/* Fills in the bytes from a text of /proc/PID/io; false: it is none. */
bool process_storage_parse(const char *text, struct process_storage *out);
