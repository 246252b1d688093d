/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many symbol files, of several users: nobody's take from another's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/jit_places.h"
#include "symbol/jit/jit_maps.h"

enum { MANY = 300, LARGE = 8, LINES = 1 << 18, USER = 12345, OTHER = 12346 };

/* As in their owner, the worker, they have no end before that of the process. */
static struct jit_maps *many, *large;

static uid_t owner;
static size_t line_count, give_count;

/* A file of many lines, of the present owner; where its first is, the space says. */
static int give(void *data, uint32_t space)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	FILE *file = fdopen(dup(fd), "w");

	(void)data;
	CHECK(file);
	for (size_t i = 0; i < line_count; i++)
		fprintf(file, "%zx 10 of_%u\n", (size_t)space * 0x10000000 + i * 16, space);
	fclose(file);
	CHECK(!fchown(fd, owner, -1));
	give_count++;
	return fd;
}

static int find(struct jit_maps *maps, uint32_t space)
{
	char name[64] = "", expected[64];
	uint64_t start;
	int err = jit_maps_find(maps, space, space * 0x10000000ull + 8, name, sizeof(name), &start);

	snprintf(expected, sizeof(expected), "of_%u", space);
	CHECK(err || !strcmp(name, expected));
	return err;
}

TEST(a_user_may_have_more_files_than_are_open_at_once)
{
	struct jit_maps *maps = many = jit_maps_new(give, NULL);

	owner = getuid();
	line_count = 1;
	for (uint32_t space = 1; space <= MANY; space++)
		CHECK(!jit_maps_read(maps, space));
	/* Those that were given up are read again. */
	give_count = 0;
	for (uint32_t space = 1; space <= MANY; space++)
		CHECK(!find(maps, space));
	CHECK(give_count);
	for (uint32_t space = 1; space <= MANY; space++)
		jit_maps_forget(maps, space);
	CHECK(!find(maps, MANY + 1));
}

TEST(large_files_of_a_user_leave_others_and_the_next_one_their_lines)
{
	struct jit_maps *maps = large = jit_maps_new(give, NULL);

	if (getuid())
		skip();
	line_count = 1;
	owner = OTHER;
	CHECK(!jit_maps_read(maps, 1000));
	owner = 0;
	CHECK(!jit_maps_read(maps, 1001));
	owner = USER;
	line_count = LINES;
	for (uint32_t space = 1; space <= LARGE; space++)
		CHECK(!jit_maps_read(maps, space) && !find(maps, space));
	give_count = 0;
	CHECK(!find(maps, 1000) && !find(maps, 1001) && !give_count);
	owner = OTHER;
	CHECK(!jit_maps_read(maps, 1002) && !find(maps, 1002));
}

/* The processes of a user, which wait for the end of this one. */
static pid_t start(uid_t user)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		close(ready[0]);
		if (setresuid(user, user, user) || write(ready[1], "r", 1) != 1)
			_exit(1);
		sleep(10);
		_exit(0);
	}
	close(ready[1]);
	CHECK_EQUAL(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static bool is_lost(const struct jit_places *places, uint32_t space)
{
	int fd = jit_places_open(places, space);

	if (fd >= 0) /* of an earlier process of that number */
		close(fd);
	return fd == -ENOSPC;
}

TEST(a_user_with_too_many_places_loses_the_oldest_and_nobody_elses)
{
	struct jit_places *places = jit_places_new(3, 4);
	pid_t root, user, other;

	if (getuid())
		skip();
	root = start(0);
	user = start(USER);
	other = start(OTHER);
	CHECK(!jit_places_find(places, 1, root) && !jit_places_find(places, 2, other));
	for (uint32_t space = 3; space <= 10; space++)
		CHECK(!jit_places_find(places, space, user));
	CHECK(!is_lost(places, 1) && !is_lost(places, 2) && is_lost(places, 3) && !is_lost(places, 10));
	/* All together have too many: of who has most. */
	CHECK(!jit_places_find(places, 11, other));
	CHECK(!is_lost(places, 2) && !is_lost(places, 11) && is_lost(places, 8) && !is_lost(places, 9));
	jit_places_forget(places, 3);
	CHECK(!is_lost(places, 3));
	jit_places_free(places);
	for (const pid_t *pid = (pid_t[]){ root, user, other, 0 }; *pid; pid++) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
}
