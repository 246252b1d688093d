/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What examining hostile processes may cost. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/opener.h"
#include "helper/pair.h"
#include "symbol/worker/worker.h"

enum { MAPPINGS = 40000, LEVELS = 15, NAME_BYTES = 250, MB = 1 << 20 };

static struct helper_pair *pair;
static struct opener *opener;
static char base[64];

static void on_stuck(void *data, uint32_t pid, const char *path)
{
	(void)data, (void)pid, (void)path;
	fail_msg("a process could not be looked at");
}

static void begin(void)
{
	pair = helper_pair_new(worker_roles());
	opener = opener_new(pair, on_stuck, NULL);
}

static void end(void)
{
	opener_free(opener);
	helper_pair_free(pair);
}

/* A file with a path of nearly 4 KB, open; the process is in its folder then. */
static int make_deep_file(void)
{
	char name[NAME_BYTES + 1] = { 0 };
	int fd;

	memset(name, 'd', NAME_BYTES);
	snprintf(base, sizeof(base), "/tmp/pinch-opener-XXXXXX");
	CHECK(mkdtemp(base) && !chdir(base));
	for (int i = 0; i < LEVELS; i++)
		CHECK(!mkdir(name, 0700) && !chdir(name));
	fd = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	CHECK_THAT(fd, >=, 0);
	CHECK(!ftruncate(fd, 4096));
	return fd;
}

/* A child that has mapped a file so often. */
static pid_t start_mapper(int fd, unsigned int count)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		for (unsigned int i = 0; i < count; i++)
			if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
				_exit(1);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	CHECK_EQUAL(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

struct seen {
	size_t count, own_bytes;
};

static void on_mapping(void *data, const struct file_mapping *mapping)
{
	struct seen *seen = data;
	struct mallinfo2 info = mallinfo2();

	CHECK_THAT(mapping->end, >, mapping->start);
	seen->count++;
	if (info.uordblks + info.hblkhd > seen->own_bytes)
		seen->own_bytes = info.uordblks + info.hblkhd;
}

TEST(a_process_with_many_mappings_of_long_paths_takes_little_memory)
{
	int fd = make_deep_file();
	pid_t pid = start_mapper(fd, MAPPINGS);
	struct seen seen = { 0 };
	char command[128];

	begin();
	CHECK_EQUAL(opener_read_maps(opener, pid, on_mapping, &seen), -E2BIG);
	CHECK_THAT(seen.count, >, 100);
	CHECK_THAT(seen.count, <, MAPPINGS);
	CHECK_THAT(seen.own_bytes, <, 16 * MB);
	end();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	CHECK(!chdir("/"));
	snprintf(command, sizeof(command), "rm -rf %s", base);
	CHECK(!system(command));
}

TEST(all_mappings_of_an_honest_process_are_recorded)
{
	struct seen seen = { 0 };

	begin();
	CHECK(!opener_read_maps(opener, getpid(), on_mapping, &seen));
	CHECK_THAT(seen.count, >, 3);
	end();
}
