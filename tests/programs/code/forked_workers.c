// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A parent starts three processes again and again, waits for them, and puts together what they have made.
 * Known answer: merge_parts(), during which nobody else runs, leads, before scan_part(), which is more of the
 * CPUs' time.
 */
#include "code_log.h"

enum { SCAN_PART, MERGE_PARTS, PROCESSES = 3 };

static const char *const names[] = { "scan_part", "merge_parts", NULL };

WORK(scan_part, SCAN_PART)
WORK(merge_parts, MERGE_PARTS)

static void run(void)
{
	log_forked();
	scan_part(4000);
}

int main(int argc, char **argv)
{
	pid_t pids[PROCESSES];

	log_open(argc, argv, names);
	while (log_is_time()) {
		for (int i = 0; i < PROCESSES; i++)
			pids[i] = role_fork("part", run);
		for (int i = 0; i < PROCESSES; i++)
			role_wait(pids[i]);
		merge_parts(9000);
	}
	return 0;
}
