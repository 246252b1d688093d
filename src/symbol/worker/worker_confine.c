/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "helper/confine.h"

enum {
	CPU_SECONDS_MAX = 600, /* of one process, for all its answers */
	STACK_MB_MAX = 16,
	FILES_MAX = 1 << 16,
};

/* So much, or what there may be at most. */
static void limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* Memory is its own, the stack's, of files that it would make, and what it takes to map all that. */
void worker_limit_resources(void)
{
	/* Some are never closed: file_close(). */
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (!IS_SANITIZED) {
		limit(RLIMIT_DATA, (rlim_t)WORKER_MEMORY_MB_MAX << 20);
		limit(RLIMIT_AS, (rlim_t)WORKER_ADDRESS_GB_MAX << 30);
	}
	limit(RLIMIT_STACK, (rlim_t)STACK_MB_MAX << 20);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CPU, CPU_SECONDS_MAX);
}

/* RLIMIT_DATA does not count what is shared, or grows as stacks do. */
static const unsigned long limited_flags = MAP_TYPE | MAP_GROWSDOWN | MAP_HUGETLB;

/*
 * Namespaces are root's, and a container's root may have none; Landlock is not in every kernel. That neither can
 * be had leaves it to the system calls that nothing is opened.
 */
static int confine_sight(void)
{
	int err = confine_namespaces();

	if (err)
		err = confine_paths(NULL, 0);
	return err == -ENOSYS ? 0 : err;
}

static int confine_calls(void)
{
	/* clang-format off */
	const struct confined_call allowed[] = {
		ALLOWED(read), ALLOWED(pread64), ALLOWED(close), ALLOWED(lseek),
		ALLOWED(fstat), ALLOWED(newfstatat), ALLOWED(fstatfs),
		ALLOWED_IF(fcntl, 1, CONFINED_INT, F_GETFD), ALLOWED_IF(fcntl, 1, CONFINED_INT, F_GETFL),
		ALLOWED(recvmsg), ALLOWED(sendmsg), ALLOWED(poll),
		{ SCMP_SYS(mmap), { { 2, PROT_EXEC, 0 }, { 3, limited_flags, MAP_PRIVATE } } },
		ALLOWED_IF(mprotect, 2, PROT_EXEC, 0),
		ALLOWED(munmap), ALLOWED(mremap), ALLOWED(madvise), ALLOWED(brk),
		ALLOWED(alarm), ALLOWED(setitimer), ALLOWED_IF(prlimit64, 0, CONFINED_INT, 0), ALLOWED(clock_gettime),
		ALLOWED(getpid), ALLOWED(gettid), ALLOWED_IF(tgkill, 0, CONFINED_INT, getpid()),
		ALLOWED(rt_sigprocmask), ALLOWED(rt_sigreturn),
		ALLOWED(restart_syscall), ALLOWED(futex), ALLOWED(getrandom), ALLOWED(exit),
		ALLOWED(exit_group),
	};
	/* clang-format on */

	return IS_SANITIZED ? 0 : confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

/* In the order of what each still takes. */
int worker_confine(void)
{
	bool must_change_user = confine_can_change_user();
	int err = confine_sight();

	if (!err)
		err = confine_bounds(NULL, 0);
	if (!err && confine_user() && must_change_user)
		err = -EPERM;
	if (!err)
		err = confine_capabilities(NULL, 0);
	if (!err)
		err = confine_basics();
	return err ? err : confine_calls();
}
