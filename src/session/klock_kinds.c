/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/klock_kinds.h"

#include <string.h>

static const char *const names[KLOCK_KINDS] = {
	[KLOCK_SPINLOCK] = "spinlock",
	[KLOCK_RWLOCK_READ] = "rwlock read",
	[KLOCK_RWLOCK_WRITE] = "rwlock write",
	[KLOCK_MUTEX] = "mutex",
	[KLOCK_RWSEM_READ] = "rwsem read",
	[KLOCK_RWSEM_WRITE] = "rwsem write",
	[KLOCK_PERCPU_READ] = "percpu-rwsem read",
	[KLOCK_PERCPU_WRITE] = "percpu-rwsem write",
	[KLOCK_RTMUTEX] = "rtmutex",
	[KLOCK_SEMAPHORE] = "semaphore",
};

const char *klock_kind_name(enum klock_kind kind)
{
	return names[kind];
}

enum klock_kind klock_kind_find(const char *name)
{
	int kind = 0;

	while (kind < KLOCK_KINDS && strcmp(names[kind], name))
		kind++;
	return kind;
}
