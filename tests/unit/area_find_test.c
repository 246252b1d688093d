/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Areas are found in the processes that made them. */
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "area/area.h"
#include "area/find.h"
#include "pinchtrace_programs.h"

struct seen {
	int count;
	uint32_t pid;
	char path[512];
	uint64_t inode;
};

static void on_area(void *data, const struct area_found *found)
{
	struct seen *seen = data;
	struct area *area = NULL;
	struct stat status;

	CHECK_EQUAL(fstat(found->fd, &status), 0);
	CHECK(status.st_ino == found->inode && status.st_dev == found->device);
	CHECK_EQUAL(area_open(found->fd, &area), 0);
	seen->pid = area_facts(area)->pid;
	snprintf(seen->path, sizeof(seen->path), "%s", found->path);
	seen->inode = found->inode;
	seen->count++;
	area_close(area);
}

/* --- The programs ------------------------------------------------------------------------ */

static void wait_for_end(void)
{
	trace_event(1, 1, 1);
	for (;;)
		pause();
}

/* Without its file's name. */
static void wait_without_name(void)
{
	char path[512] = "";

	MUST(mapped_areas(getpid(), path, sizeof(path)) == 1);
	unlink(path);
	wait_for_end();
}

/* A child that has recorded nothing; it writes its number. */
static void wait_with_child(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	trace_event(1, 1, pid);
	for (;;)
		pause();
}

const struct program programs[] = {
	{ "wait_for_end", wait_for_end },
	{ "wait_without_name", wait_without_name },
	{ "wait_with_child", wait_with_child },
	{ 0 },
};

/* --- The tests --------------------------------------------------------------------------- */

static void end_program(pid_t pid, const char *directory)
{
	kill(pid, SIGKILL);
	program_wait(pid);
	directory_remove(directory);
}

static void check_found(const char *name, const char *place)
{
	const char *directory = directory_make();
	pid_t pid = program_start(name, directory, NULL);
	struct seen seen = { 0 };

	WAIT_FOR(area_find(pid, false, on_area, &seen) == 1);
	CHECK_EQUAL(seen.pid, pid);
	CHECK(strstr(seen.path, place ? place : directory));
	CHECK(!strstr(seen.path, "(deleted)"));
	seen.count = 0;
	CHECK_EQUAL(area_find(pid, true, on_area, &seen), 1);
	CHECK_EQUAL(seen.count, 1);
	end_program(pid, directory);
	CHECK_THAT(area_find(pid, false, on_area, &seen), <, 0);
}

TEST(the_area_of_a_process_is_found_by_its_file)
{
	check_found("wait_for_end", NULL);
}

TEST(an_area_whose_file_has_no_name_is_found)
{
	if (geteuid())
		skip();
	check_found("wait_without_name", NULL);
}

TEST(an_area_in_a_memfd_is_found)
{
	pid_t pid;
	struct seen seen = { 0 };

	if (geteuid())
		skip();
	pid = program_start("wait_for_end", "/proc/self/nowhere", NULL);
	WAIT_FOR(area_find(pid, false, on_area, &seen) == 1);
	CHECK(strstr(seen.path, "memfd:"));
	kill(pid, SIGKILL);
	program_wait(pid);
}

static void get_child(void *data, const struct area_event *event)
{
	*(pid_t *)data = event->argument;
}

static void ignore_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	(void)data, (void)tid, (void)from_ticks, (void)before_ticks, (void)slots;
}

static void read_child(void *data, const struct area_found *found)
{
	struct area_listener listener = { get_child, ignore_lost, data };
	uint64_t until = UINT64_MAX;
	struct area *area = NULL;

	CHECK_EQUAL(area_open(found->fd, &area), 0);
	CHECK_EQUAL(area_take(area, &listener, &until), 0);
	area_close(area);
}

static void note_inode(void *data, uint64_t device, uint64_t inode)
{
	(void)device;
	*(uint64_t *)data = inode;
}

TEST(the_area_of_a_parent_is_not_its_childs)
{
	const char *directory = directory_make();
	pid_t pid = program_start("wait_with_child", directory, NULL), child = 0;
	struct seen seen = { 0 };
	uint64_t inode = 0;

	WAIT_FOR((area_find(pid, false, read_child, &child), child));
	CHECK_EQUAL(area_find(child, false, on_area, &seen), -ENOENT);
	CHECK_EQUAL(area_find(pid, false, on_area, &seen), 1);
	area_find_mapped(child, note_inode, &inode);
	CHECK_EQUAL(inode, seen.inode);
	kill(child, SIGKILL);
	end_program(pid, directory);
}

TEST(a_file_that_only_has_the_name_is_none)
{
	struct seen seen = { 0 };
	char path[64];
	void *mapped;
	int fd;

	snprintf(path, sizeof(path), "/tmp/pinchtrace.%d.0", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 65536) == 0);
	mapped = mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(mapped != MAP_FAILED);
	/* This program's own. */
	CHECK_EQUAL(area_find(getpid(), false, on_area, &seen), 1);
	CHECK(strcmp(seen.path, path) != 0);
	munmap(mapped, 65536);
	close(fd);
	unlink(path);
}
