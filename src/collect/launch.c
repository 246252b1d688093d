/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/size_signal.h"

struct launch {
	pid_t pid;
	int go_fd;	/* a byte lets the child go; closing it lets it end */
	int error_fd;	/* the errno of a failed exec; closed by a successful one */
};

void inheritance_take(struct inheritance *inheritance)
{
	sigprocmask(SIG_SETMASK, NULL, &inheritance->signal_mask);
	getrlimit(RLIMIT_NOFILE, &inheritance->open_files);
	inheritance->input_fd = inheritance->output_fd = inheritance->error_fd = -1;
}

static void put_in_place(int fd, int standard_fd)
{
	if (fd >= 0 && dup2(fd, standard_fd) < 0)
		_exit(125);
}

/* As a shell would: along PATH, and a script without "#!" is given to /bin/sh. */
static void __attribute__((noreturn)) child_run(char *const *arguments,
						const struct inheritance *inheritance, int go_fd,
						int error_fd)
{
	ssize_t n;
	char go;
	int err;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125);	/* pinch is gone */
	setrlimit(RLIMIT_NOFILE, &inheritance->open_files);
	put_in_place(inheritance->input_fd, STDIN_FILENO);
	put_in_place(inheritance->output_fd, STDOUT_FILENO);
	put_in_place(inheritance->error_fd, STDERR_FILENO);
	size_signal_restore();
	sigprocmask(SIG_SETMASK, &inheritance->signal_mask, NULL);
	execvp(arguments[0], arguments);
	err = errno;
	while (write(error_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == ENOENT ? 127 : 126);
}

int launch_new(char *const *arguments, const struct inheritance *inheritance, struct launch **out)
{
	int go[2], error[2], err;
	struct launch *launch;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return fail(-errno, "cannot start %s", arguments[0]);
	if (pipe2(error, O_CLOEXEC)) {
		err = fail(-errno, "cannot start %s", arguments[0]);
		goto out_close_go;
	}
	pid = fork();
	if (pid < 0) {
		err = fail(-errno, "cannot start %s", arguments[0]);
		close(error[0]);
		close(error[1]);
		goto out_close_go;
	}
	if (!pid) {
		close(go[1]);	/* so that it ends when pinch does */
		child_run(arguments, inheritance, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	launch = xcalloc(1, sizeof(*launch));
	launch->pid = pid;
	launch->go_fd = go[1];
	launch->error_fd = error[0];
	*out = launch;
	return 0;

out_close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

void launch_free(struct launch *launch)
{
	if (!launch)
		return;
	if (launch->go_fd >= 0) {
		close(launch->go_fd);
		waitpid(launch->pid, NULL, 0);
	}
	close(launch->error_fd);
	free(launch);
}

pid_t launch_pid(const struct launch *launch)
{
	return launch->pid;
}

int launch_go(struct launch *launch)
{
	int exec_errno = 0;
	ssize_t n;

	n = write(launch->go_fd, "", 1);
	close(launch->go_fd);
	launch->go_fd = -1;
	do
		n = read(launch->error_fd, &exec_errno, sizeof(exec_errno));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	waitpid(launch->pid, NULL, 0);
	return -exec_errno;
}
