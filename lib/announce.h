/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells tracers that the process has made its area. Mappings of data have no event in the kernel that costs nothing when nobody
 * traces; the name of a thread has: task:task_rename. So the thread takes the name that it has.
 */
#pragma once

#include <sys/prctl.h>

/* Async-signal-safe. */
static inline void pinchtrace_announce(void)
{
	char name[16];

	if (!prctl(PR_GET_NAME, name, 0, 0, 0))
		prctl(PR_SET_NAME, name, 0, 0, 0);
}
