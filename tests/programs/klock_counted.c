// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_counted [DIRECTORY [TURNS]]			(. 1000)
 * Takes kernel locks so often, all of them free: main() looks TURNS times into an empty pipe, which has its
 * mutex for a moment, overwrites DIRECTORY/counted TURNS / 50 times whole, which has its i_rwsem as long as the
 * system call lasts, and maps and unmaps a page TURNS times, writing to it once.
 * Known answer: on a line of JSON, with how long the writes lasted, all together and the longest one. The file
 * is removed.
 */
#include "roles.h"
#include <errno.h>
#include <sys/mman.h>

enum { TURNS = 1000, TURNS_A_WRITE = 50, FILE_BYTES = 4 << 20, PAGE_BYTES = 4096 };

static uint64_t write_ns, max_write_ns;

static OWN_FRAME void look_into_pipe(int turns)
{
	int fds[2];
	char byte;

	if (pipe2(fds, O_NONBLOCK))
		die("pipe2");
	for (int i = 0; i < turns; i++)
		if (read(fds[0], &byte, 1) >= 0 || errno != EAGAIN)
			die("read");
	close(fds[0]);
	close(fds[1]);
}

static OWN_FRAME void overwrite_file(const char *path, int turns)
{
	char *bytes = calloc(1, FILE_BYTES);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (!bytes || fd < 0)
		die(path);
	for (int i = 0; i < turns; i++) {
		uint64_t begin_ns = now_ns();

		if (pwrite(fd, bytes, FILE_BYTES, 0) != FILE_BYTES)
			die("pwrite");
		begin_ns = now_ns() - begin_ns;
		write_ns += begin_ns;
		max_write_ns = begin_ns > max_write_ns ? begin_ns : max_write_ns;
	}
	free(bytes);
	close(fd);
}

static OWN_FRAME void map_pages(int turns)
{
	for (int i = 0; i < turns; i++) {
		char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			die("mmap");
		*page = 1;
		munmap(page, PAGE_BYTES);
	}
}

int main(int argc, char **argv)
{
	const char *path = path_in(argc > 1 ? argv[1] : ".", "counted");
	int turns = argc > 2 ? atoi(argv[2]) : TURNS;

	look_into_pipe(turns);
	overwrite_file(path, turns / TURNS_A_WRITE);
	map_pages(turns);
	printf("{\"looks\": %d, \"writes\": %d, \"maps\": %d, \"write_ns\": %llu, \"max_write_ns\": %llu}\n", turns,
	       turns / TURNS_A_WRITE, turns, (unsigned long long)write_ns, (unsigned long long)max_write_ns);
	unlink(path);
	return 0;
}
