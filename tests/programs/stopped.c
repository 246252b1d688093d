// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the process `child` stops itself, and the process `parent` (the first)
 * computes for 600 ms before it continues it.
 * Known answer: the heaviest wait is `stopped`, in stop_self(), of `child`, ended by a signal from
 * continue_child() in `parent`, which leads.
 */
#include "roles.h"

enum { STOPPED_MS = 600 };

static OWN_FRAME void stop_self(void)
{
	raise(SIGSTOP);
}

static OWN_FRAME void continue_child(pid_t pid)
{
	compute_ms(STOPPED_MS);
	kill(pid, SIGCONT);
}

int main(void)
{
	int status;
	pid_t pid;

	role_name_self("parent");
	pid = role_fork("child", stop_self);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		die("waitpid");
	continue_child(pid);
	role_wait(pid);
	return 0;
}
