// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: for each document a process is started, /bin/true, and waited for. Cured: the filter is a function
 * that does the same: nothing.
 * Known answer: run_filter(), /bin/true.
 */
#include "planted.h"
#include <spawn.h>

enum { THREADS = 2, DOCUMENT_US = 50 };

extern char **environ;

static OWN_FRAME void run_filter(void)
{
	char *arguments[] = { "/bin/true", NULL };
	int status;
	pid_t pid;

	if (is_cured)
		return;
	if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) || waitpid(pid, &status, 0) != pid)
		die(arguments[0]);
}

static OWN_FRAME void convert_document(void)
{
	burn_us(DOCUMENT_US);
}

static void run(int number)
{
	for (number = 0;; number++) {
		convert_document();
		run_filter();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	role_start_all(threads, THREADS, "convert-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
