// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_lasting
 * Planted contention that does not end: `keeper` writes to a pipe bytes that lie in a page which nobody
 * provides (userfaultfd), and so sleeps in a page fault with the pipe's mutex; `waiter` begins to write to
 * the same pipe after that. Prints "ready", and begins when it has read a byte; prints "stuck" when both
 * sleep, and ends with its input.
 * Known answer: the mutex of the pipe, which waiter waits for in put_bytes() until the end, and which keeper
 * has, in handle_userfault(). Exit status 77: no userfaultfd here.
 */
#include "roles.h"
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

static int pipe_fds[2];
static char *missing; /* a page that is not there */

static OWN_FRAME void put_bytes(const char *bytes)
{
	if (write(pipe_fds[1], bytes, 16) < 0)
		die("write");
}

static void keep(int number)
{
	(void)number;
	put_bytes(missing);
}

static void wait_for(int number)
{
	(void)number;
	put_bytes("what is here");
}

static void register_missing(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	missing = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)missing;
	range.range.len = PAGE_BYTES;
	if (fd < 0 || missing == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)) {
		perror("userfaultfd");
		exit(TEST_SKIPPED);
	}
}

/* Until it sleeps in a write; one that waits for a mutex does so uninterruptibly. */
static void await_write(struct role *role)
{
	char stat[64], call[64], *state;

	do {
		sleep_ms(1);
		while (!__atomic_load_n(&role->tid, __ATOMIC_SEQ_CST))
			sleep_ms(1);
		read_thread(role->tid, "stat", stat, sizeof(stat));
		read_thread(role->tid, "syscall", call, sizeof(call));
		state = strrchr(stat, ')');
	} while (!state || (state[2] != 'S' && state[2] != 'D') || strtol(call, NULL, 10) != SYS_write);
}

int main(void)
{
	static struct role keeper, waiter;
	char byte;

	register_missing();
	if (pipe(pipe_fds))
		die("pipe");
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		die("read");
	role_start(&keeper, "keeper", keep, 0);
	await_write(&keeper);
	role_start(&waiter, "waiter", wait_for, 1);
	await_write(&waiter);
	puts("stuck");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}
