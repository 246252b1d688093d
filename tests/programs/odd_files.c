// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_files [DIRECTORY]			(.)
 * Edge: files and sockets whose names contain control characters, terminal escape sequences, invalid
 * UTF-8, newlines, a right-to-left mark, names that the kernel gives to what is not a file, and paths
 * longer and deeper than any name that a program may give to open(). Main writes to each of them what
 * the thread named "\033]0;title\a" reads, 10 ms after that one has begun to wait; then it locks one.
 * Known answer: read_odd() waits for each of them once, for `write_odd()` in main; lock_odd() for
 * the lock of a file. What is made in DIRECTORY is removed.
 */
#include "roles.h"
#include <stddef.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { WAIT_MS = 10, LEVELS_MAX = 300 };

static const char *const fifo_names[] = {
	"new\nline",
	"\033[31mred\033[0m",
	"\033[2Jclear",
	"\xff\xfe\xc3(",
	"cut \xe2\x82",
	"\xc2\x9b"
	"31mC1",
	"\xe2\x80\xae"
	"txt.exe",
	"tab\tbell\a",
	"quo\"te'\\back",
	"%s%n{0}$(id)",
	"[eventfd]",
	"[timerfd]",
	"[eventpoll]",
	"pipe:[1]",
	"x (deleted)",
	" ",
};

static struct role reader;
static int odd_fd;

static OWN_FRAME void read_odd(int number)
{
	(void)number;
	role_name_self("\033]0;title\a");
	read_byte(odd_fd);
}

static OWN_FRAME void lock_odd(int number)
{
	(void)number;
	if (flock(odd_fd, LOCK_EX))
		die("flock");
}

static OWN_FRAME void write_odd(int fd)
{
	role_await_all(&reader, 1, SYS_read);
	compute_ms(WAIT_MS);
	write_byte(fd);
	role_join_all(&reader, 1);
}

static void wait_for(int fd, int other_fd)
{
	odd_fd = fd;
	role_start(&reader, "reader", read_odd, 0);
	write_odd(other_fd);
	close(fd);
	if (other_fd != fd)
		close(other_fd);
}

static void wait_for_fifo(int directory, const char *name)
{
	int fd;

	if (mkfifoat(directory, name, 0600))
		die("mkfifoat");
	fd = openat(directory, name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("openat");
	wait_for(fd, fd);
	unlinkat(directory, name, 0);
}

/* Directories within each other, and in the innermost what is waited for. */
static void wait_deep(int top, const char *name, int levels)
{
	int fds[LEVELS_MAX + 1] = { top };

	for (int i = 0; i < levels; i++) {
		if (mkdirat(fds[i], name, 0700))
			die("mkdirat");
		fds[i + 1] = openat(fds[i], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fds[i + 1] < 0)
			die("openat");
	}
	wait_for_fifo(fds[levels], "innermost");
	for (int i = levels; i > 0; i--) {
		close(fds[i]);
		unlinkat(fds[i - 1], name, AT_REMOVEDIR);
	}
}

static void wait_for_socket(const char *name, size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t bytes = offsetof(struct sockaddr_un, sun_path) + length;
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, name, length);
	if (bind(listening, (struct sockaddr *)&address, bytes) || listen(listening, 1) ||
	    connect(client, (struct sockaddr *)&address, bytes))
		die("socket");
	wait_for(client, accept(listening, NULL, NULL));
	close(listening);
	if (name[0])
		unlink(name);
}

static void wait_for_lock(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	odd_fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0 || odd_fd < 0 || flock(fd, LOCK_EX))
		die("flock");
	role_start(&reader, "locker", lock_odd, 0);
	role_await_all(&reader, 1, SYS_flock);
	compute_ms(WAIT_MS);
	flock(fd, LOCK_UN);
	role_join_all(&reader, 1);
	close(odd_fd);
	close(fd);
	unlink(name);
}

int main(int argc, char **argv)
{
	static const char abstract[] = "\0\033[31m\n\x80odd";
	char long_name[251] = "";
	int top;

	if (chdir(argc > 1 ? argv[1] : "."))
		die("chdir");
	top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(fifo_names) / sizeof(*fifo_names); i++)
		wait_for_fifo(top, fifo_names[i]);
	memset(long_name, 'x', sizeof(long_name) - 1);
	wait_for_fifo(top, long_name);
	wait_deep(top, long_name, 12); /* 3 000 bytes */
	wait_deep(top, long_name, 40); /* 10 000 bytes */
	wait_deep(top, "d", LEVELS_MAX);
	wait_for_socket("odd\033[31m\nsocket", sizeof("odd\033[31m\nsocket") - 1);
	wait_for_socket(abstract, sizeof(abstract) - 1);
	wait_for_lock("lock\033[2J\nfile");
	return 0;
}
