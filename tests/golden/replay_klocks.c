/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "klocks/klocks.h"
#include "replay.h"

static void print_sum(const struct klock_sum *sum)
{
	printf("waited %llu times %llu max %llu", (unsigned long long)sum->wait_ns, (unsigned long long)sum->waits,
	       (unsigned long long)sum->max_ns);
}

static void print_klock(const struct replay *replay, const struct klock *klock)
{
	static const char *const kinds[KLOCK_KINDS] = {
		"spinlock",    "rwlock-read", "rwlock-write", "mutex",   "rwsem-read",
		"rwsem-write", "percpu-read", "percpu-write", "rtmutex",
	};
	const struct klock_facts *facts = klocks_find(replay->klocks, klock->lock);

	printf("klock 0x%llx %s: ", (unsigned long long)klock->lock, kinds[klock->kind]);
	print_sum(&klock->sum);
	if (klock->lasting)
		printf(" lasting %llu", (unsigned long long)klock->lasting);
	if (klock->gave_up)
		printf(" gave-up %llu", (unsigned long long)klock->gave_up);
	if (facts)
		printf(" at 0x%llx of object %d pid %u '%s' file %llu", (unsigned long long)facts->address,
		       facts->object, facts->pid, facts->process, (unsigned long long)facts->file);
	printf("\n");
	for (const struct klock_waiter *waiter = klock->waiters; waiter; waiter = waiter->next) {
		printf("  thread %u tid %u context %d: ", waiter->thread, waiter->tid, waiter->context);
		print_sum(&waiter->sum);
		printf(" mostly at %llu\n", waiter->path ? (unsigned long long)waiter->path->stack : 0);
	}
	for (const struct klock_owner *owner = klock->owners; owner; owner = owner->next) {
		printf("  owner %u at %llu: ", owner->tid, (unsigned long long)owner->stack);
		print_sum(&owner->sum);
		printf("\n");
	}
	for (const struct klock_path *path = klock->paths; path; path = path->next)
		printf("  at %llu of pid %u: waited %.6g times %g\n", (unsigned long long)path->stack, path->pid,
		       path->wait_ns, path->waits);
}

void replay_print_klocks(const struct replay *replay)
{
	const struct klock *klock;
	size_t cursor = 0;

	while ((klock = klocks_next(replay->klocks, &cursor)))
		print_klock(replay, klock);
}
