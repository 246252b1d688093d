// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_create [DIRECTORY [THREADS [LENGTH_MS]]]		(. 8 1000)
 * Planted contention: the threads `create-0` and so on make and remove files in one directory, each
 * one of its own.
 * Known answer: `i_rwsem` of the directory DIRECTORY/spool, which they wait for in create_file() and
 * remove_file(). The directory is removed.
 */
#include "klock.h"

static const char *spool;
static char paths[CREW_MAX][4096]; /* row i is of thread i */

static OWN_FRAME void create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		die(path);
	close(fd);
}

static OWN_FRAME void remove_file(const char *path)
{
	if (unlink(path))
		die(path);
}

static void turn(int number)
{
	create_file(paths[number]);
	remove_file(paths[number]);
}

int main(int argc, char **argv)
{
	spool = path_in(argc > 1 ? argv[1] : ".", "spool");
	crew_init(argc, argv, 2);
	if (mkdir(spool, 0755))
		die(spool);
	for (int i = 0; i < crew.threads; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/job-%d", spool, i);
	crew_run("create-%d", turn);
	crew_emit("i_rwsem", spool);
	rmdir(spool);
	return 0;
}
