// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_forks [THREADS [LENGTH_MS]]			(8 1000)
 * Planted contention: the threads `forker-0` and so on fork processes that end at once, and reap
 * them.
 * Known answer: `mmap_lock` of the process, which each fork writes to, in make_child(); `tasklist_lock`,
 * a rwlock, in make_child(), reap_child() and the end of each child.
 */
#include "klock.h"

static OWN_FRAME pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(0);
	return pid;
}

static OWN_FRAME void reap_child(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("waitpid");
}

static void turn(int number)
{
	(void)number;
	reap_child(make_child());
}

int main(int argc, char **argv)
{
	crew_init(argc, argv, 1);
	crew_run("forker-%d", turn);
	crew_emit("mmap_lock, tasklist_lock", NULL);
	return 0;
}
