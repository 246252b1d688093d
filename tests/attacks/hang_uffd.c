// SPDX-License-Identifier: GPL-2.0-or-later
// Its arguments and environment lie on a page of which it answers no fault: whoever reads its
// /proc/PID/cmdline or environ waits until this program ends. Says "ready", then "held" when one does.
//
// Needs root, or vm.unprivileged_userfaultfd: faults of the kernel are not for everybody.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

// The pages from the first argument to the end of the last environment string.
static int give_away(char **argv, char **envp)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	uintptr_t page = sysconf(_SC_PAGESIZE), begin = (uintptr_t)argv[0] & -page;
	const char *last = argv[0];
	int fd;

	while (*envp)
		last = *envp++;
	fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		die("userfaultfd");
	range.range.start = begin;
	range.range.len = (((uintptr_t)last + strlen(last)) & -page) + page - begin;
	if (ioctl(fd, UFFDIO_REGISTER, &range))
		die("UFFDIO_REGISTER");
	if (madvise((void *)begin, range.range.len, MADV_DONTNEED))
		die("madvise");
	return fd;
}

__attribute__((noinline)) static void run(char **argv, char **envp)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct pollfd poll_fd = { .events = POLLIN };
	static const char ready[] = "ready\n", held[] = "held\n";

	poll_fd.fd = give_away(argv, envp);
	if (write(STDOUT_FILENO, ready, sizeof(ready) - 1) < 0)
		die("write");
	for (;;) {
		struct uffd_msg fault;

		if (poll(&poll_fd, 1, 0) > 0 && read(poll_fd.fd, &fault, sizeof(fault)) > 0 &&
		    write(STDOUT_FILENO, held, sizeof(held) - 1) < 0)
			die("write");
		nanosleep(&pause, NULL);
	}
}

int main(int argc __attribute__((unused)), char **argv, char **envp)
{
	// The frames of what runs must not lie on those pages.
	volatile char gap[1 << 16];

	gap[0] = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	run(argv, envp);
	return gap[0];
}
