/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/clock_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "helper/confine.h"

enum { FIRST_FD = 3 };

/* Closes all else: ends of sockets by which others notice that pinch has ended, and the kernel's objects. */
static void keep_only(const int *fds, size_t count, int *kept)
{
	for (size_t i = 0; i < count; i++)
		kept[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FD + CLOCK_PROCESS_FDS_MAX);
	for (size_t i = 0; i < count; i++)
		kept[i] = dup2(kept[i], FIRST_FD + i);
	close_range(FIRST_FD + count, UINT_MAX, 0);
}

static int confine_calls(void)
{
	static const struct confined_call allowed[] = {
		ALLOWED(sendto),     ALLOWED(recvfrom),        ALLOWED(poll),   ALLOWED(write), ALLOWED(clock_gettime),
		ALLOWED(exit_group), ALLOWED(restart_syscall), ALLOWED(getppid)
	};

	return IS_SANITIZED ? 0 : confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

/* It reads what other hosts send, and needs nothing but its descriptors. */
static int confine(pid_t parent)
{
	bool must_change_user = confine_can_change_user();
	int err = confine_bounds(NULL, 0);

	if (!err && confine_user() && must_change_user)
		err = -EPERM;
	if (!err)
		err = confine_capabilities(NULL, 0);
	if (!err)
		err = confine_basics();
	/* Another user's process would be without it. */
	if (!err && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		err = -ESRCH;
	return err ? err : confine_calls();
}

int clock_process_start(const char *name, clock_work *work, const void *data, const int *fds, size_t count, pid_t *pid)
{
	int kept[CLOCK_PROCESS_FDS_MAX];
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		return fail(-errno, "cannot start the process %s", name);
	if (!child) {
		prctl(PR_SET_NAME, name);
		signal(SIGPIPE, SIG_IGN);
		keep_only(fds, count, kept);
		if (!confine(parent))
			work(data, kept, count);
		_exit(1);
	}
	*pid = child;
	return 0;
}

/* It ends by itself, but that may take a second while it waits for an answer, and it must not be waited for then. */
void clock_process_stop(pid_t pid)
{
	if (pid > 0)
		waitpid(pid, NULL, kill(pid, SIGKILL) ? WNOHANG : 0);
}
