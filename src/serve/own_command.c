/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/own_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

enum { ARGUMENTS_MAX = 1100, READ_BYTES = 1 << 13 };

extern char **environ;

struct output {
	int read, write; /* ends of a pipe */
	struct text *text;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_output(struct output *output, struct text *text)
{
	int ends[2];

	*output = (struct output){ -1, -1, text };
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	output->read = ends[0];
	output->write = ends[1];
	return 0;
}

int own_command_start(const char *const *arguments, int out_fd, int messages_fd, pid_t *pid)
{
	const char *all[ARGUMENTS_MAX + 2] = { "pinch" };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int err;

	for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
		all[i + 1] = arguments[i];
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, messages_fd, STDERR_FILENO);
	err = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, (char *const *)all, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static void take(struct output *output)
{
	char bytes[READ_BYTES];
	ssize_t got = read(output->read, bytes, sizeof(bytes));

	if (got > 0)
		text_put_bytes(output->text, bytes, got);
	else if (!got || errno != EINTR)
		close_end(&output->read);
}

static void take_all(struct output outputs[2])
{
	while (outputs[0].read >= 0 || outputs[1].read >= 0) {
		struct pollfd fds[2] = {
			{ .fd = outputs[0].read, .events = POLLIN },
			{ .fd = outputs[1].read, .events = POLLIN },
		};

		if (poll(fds, 2, -1) < 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (fds[i].revents)
				take(&outputs[i]);
	}
}

static bool has_succeeded(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int own_command_run(const char *const *arguments, struct text *out, struct text *messages)
{
	struct output outputs[2] = { { -1, -1, NULL }, { -1, -1, NULL } };
	int err = open_output(&outputs[0], out);
	pid_t pid;

	if (!err)
		err = open_output(&outputs[1], messages);
	if (!err)
		err = own_command_start(arguments, outputs[0].write, outputs[1].write, &pid);
	close_end(&outputs[0].write);
	close_end(&outputs[1].write);
	if (!err) {
		take_all(outputs);
		err = has_succeeded(pid) ? 0 : -EIO;
	}
	close_end(&outputs[0].read);
	close_end(&outputs[1].read);
	return err;
}
