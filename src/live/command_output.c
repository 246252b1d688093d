/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/command_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "collect/target/launch.h"

enum { PASSED_BYTES = 16 << 10 };

struct command_output {
	int read_fd, write_fd, null_fd; /* -1: closed */
};

/* What goes to a file or to another terminal goes on doing so. */
static bool is_same_terminal(int fd, int other)
{
	struct stat a, b;

	return isatty(fd) && !fstat(fd, &a) && !fstat(other, &b) && a.st_rdev == b.st_rdev;
}

int command_output_open(struct inheritance *inheritance, struct command_output **out)
{
	struct command_output *output = xcalloc(1, sizeof(*output));
	int fds[2], err;

	output->read_fd = output->write_fd = -1;
	output->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (output->null_fd < 0) {
		err = fail(-errno, "cannot open /dev/null");
		goto out_close;
	}
	if (pipe2(fds, O_CLOEXEC)) {
		err = fail(-errno, "cannot make a pipe for the command's output");
		goto out_close;
	}
	output->read_fd = fds[0];
	output->write_fd = fds[1];
	fcntl(output->read_fd, F_SETFL, O_NONBLOCK);
	inheritance->input_fd = output->null_fd;
	inheritance->output_fd = output->write_fd;
	if (is_same_terminal(STDERR_FILENO, STDOUT_FILENO))
		inheritance->error_fd = output->write_fd;
	*out = output;
	return 0;

out_close:
	command_output_close(output);
	return err;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void command_output_close(struct command_output *output)
{
	if (!output)
		return;
	command_output_begin(output);
	close_fd(&output->read_fd);
	free(output);
}

void command_output_begin(struct command_output *output)
{
	if (!output)
		return;
	close_fd(&output->write_fd);
	close_fd(&output->null_fd);
}

int command_output_fd(const struct command_output *output)
{
	return output ? output->read_fd : -1;
}

static int write_all(const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(STDOUT_FILENO, bytes, count);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd terminal = { .fd = STDOUT_FILENO, .events = POLLOUT };

			poll(&terminal, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n > 0) {
			bytes += n;
			count -= (size_t)n;
		}
	}
	return 0;
}

bool command_output_pass(struct command_output *output)
{
	char bytes[PASSED_BYTES];
	ssize_t n;

	while ((n = read(output->read_fd, bytes, sizeof(bytes))) > 0) {
		if (write_all(bytes, (size_t)n)) {
			close_fd(&output->read_fd); /* the command shall know */
			return false;
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}
