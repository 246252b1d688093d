/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/target/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/size_signal.h"
#include "collect/target/command_user.h"

struct launch {
	pid_t pid;
	int go_fd;    /* a byte lets the child go; closing it lets it end */
	int error_fd; /* a struct failure; closed by a successful exec */
};

struct failure {
	enum launch_step step;
	int err; /* a positive errno */
};

void inheritance_take(struct inheritance *inheritance)
{
	sigprocmask(SIG_SETMASK, NULL, &inheritance->signal_mask);
	getrlimit(RLIMIT_NOFILE, &inheritance->open_files);
	inheritance->input_fd = inheritance->output_fd = inheritance->error_fd = -1;
	inheritance->user = NULL;
}

static void __attribute__((noreturn)) child_fail(int error_fd, enum launch_step step, int err)
{
	struct failure failure = { .step = step, .err = err };

	while (write(error_fd, &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	_exit(step == LAUNCH_USER ? 125 : err == ENOENT ? 127 : 126);
}

static void put_in_place(int fd, int standard_fd)
{
	if (fd >= 0 && dup2(fd, standard_fd) < 0)
		_exit(125);
}

/* As a shell would: along PATH, and a script without "#!" is given to /bin/sh. */
static void __attribute__((noreturn))
child_run(char *const *arguments, const struct inheritance *inheritance, int go_fd, int error_fd)
{
	ssize_t n;
	char go;
	int err;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125); /* pinch is gone */
	setrlimit(RLIMIT_NOFILE, &inheritance->open_files);
	put_in_place(inheritance->input_fd, STDIN_FILENO);
	put_in_place(inheritance->output_fd, STDOUT_FILENO);
	put_in_place(inheritance->error_fd, STDERR_FILENO);
	size_signal_restore();
	sigprocmask(SIG_SETMASK, &inheritance->signal_mask, NULL);
	err = inheritance->user ? command_user_become(inheritance->user) : 0;
	if (err)
		child_fail(error_fd, LAUNCH_USER, -err);
	execvp(arguments[0], arguments);
	child_fail(error_fd, LAUNCH_EXEC, errno);
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
		close(go[1]); /* so that it ends when pinch does */
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

int launch_go(struct launch *launch, enum launch_step *step)
{
	struct failure failure;
	ssize_t n;

	n = write(launch->go_fd, "", 1);
	close(launch->go_fd);
	launch->go_fd = -1;
	do
		n = read(launch->error_fd, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(failure))
		return 0;
	waitpid(launch->pid, NULL, 0);
	*step = failure.step;
	return -failure.err;
}
