/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that asks clocks of other hosts, or answers those who ask: it does nothing else that could delay it, and reads
 * what others send without any privileges.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* fds: those that the process keeps beside the standard ones, count of them, CLOCK_PROCESS_FDS_MAX at most. Does not return. */
typedef void clock_work(const void *data, const int *fds, size_t count);

enum { CLOCK_PROCESS_FDS_MAX = 9 };

/*
 * Starts it, called name, as nobody if that is allowed. The descriptors stay the caller's. It ends with this process.
 * 0 and its ID in *pid, or a negative errno after a message. Comes before there are threads.
 */
int clock_process_start(const char *name, clock_work *work, const void *data, const int *fds, size_t count, pid_t *pid);

/* Ends it; 0 is fine. Whoever must not end a process of nobody's closes the pipe first that it looks at. */
void clock_process_stop(pid_t pid);
