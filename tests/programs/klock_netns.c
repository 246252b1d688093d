// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_netns [THREADS [LENGTH_MS]]			(4 1000)
 * Planted contention of a thread of the kernel: the threads `namer-0` and so on make network namespaces and leave
 * them at once; a worker of the kernel takes them apart, which needs rtnl_mutex as making them does.
 * Known answer: a thread of the kernel waits for that mutex in cleanup_net(), and `namer-*` in copy_net_ns(). Needs
 * CAP_SYS_ADMIN.
 */
#include "klock.h"

#include <errno.h>

static void turn(int number)
{
	(void)number;
	if (!unshare(CLONE_NEWNET))
		return;
	/* A slow machine has more of them than it may: the worker is behind. */
	if (errno != ENOSPC && errno != ENOMEM)
		die("unshare");
	sleep_ms(1);
}

int main(int argc, char **argv)
{
	crew_init(argc, argv, 1);
	crew_run("namer-%d", turn);
	crew_emit("rtnl_mutex", NULL);
	return 0;
}
