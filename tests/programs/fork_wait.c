// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the process `parent` (the first) waits for the end of the process `child`,
 * which computes for 700 ms when `parent` waits already.
 * Known answer: the heaviest wait is `child`, in await_child(); what ends it is the exit of
 * `child`, which leads by slow_child().
 */
#include "roles.h"

enum { SLOW_MS = 700 };

static pid_t parent;

static OWN_FRAME void slow_child(void)
{
	await_blocked(parent, SYS_wait4);
	compute_ms(SLOW_MS);
}

static OWN_FRAME void await_child(pid_t pid)
{
	role_wait(pid);
}

int main(void)
{
	role_name_self("parent");
	parent = getpid();
	await_child(role_fork("child", slow_child));
	return 0;
}
