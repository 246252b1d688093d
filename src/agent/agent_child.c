/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_child.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "serve/own_command.h"

enum { GRACE_SECONDS = 5, MESSAGES_BYTES_MAX = 4096 };

int agent_child_start(struct agent_child *child, const char *const *arguments, unsigned int cpu_seconds_max)
{
	/* At the first limit it gets a signal, at the second one it is killed. */
	const struct rlimit limit = { cpu_seconds_max, cpu_seconds_max + GRACE_SECONDS };
	int err = 0;

	if (child->messages_fd < 0)
		child->messages_fd = memfd_create("messages", MFD_CLOEXEC);
	if (child->messages_fd < 0 || ftruncate(child->messages_fd, 0) || lseek(child->messages_fd, 0, SEEK_SET))
		err = -errno;
	*child = (struct agent_child){ .messages_fd = child->messages_fd };
	if (!err)
		err = own_command_start(arguments, child->messages_fd, child->messages_fd, &child->pid);
	if (err) {
		child->pid = 0;
		return fail(err, "cannot start pinch %s", arguments[0]);
	}
	prlimit(child->pid, RLIMIT_CPU, &limit, NULL);
	return 0;
}

void agent_child_init(struct agent_child *child)
{
	*child = (struct agent_child){ .messages_fd = -1 };
}

void agent_child_fini(struct agent_child *child)
{
	if (child->messages_fd >= 0)
		close(child->messages_fd);
	child->messages_fd = -1;
}

/* The first ones say most. */
static void pass_on(const struct agent_child *child)
{
	char messages[MESSAGES_BYTES_MAX];
	ssize_t length = pread(child->messages_fd, messages, sizeof(messages), 0);

	while (length > 0 && write(STDERR_FILENO, messages, length) < 0 && errno == EINTR)
		continue;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

bool agent_child_has_succeeded(const struct agent_child *child)
{
	return child->has_ended && WIFEXITED(child->status) && !WEXITSTATUS(child->status);
}

bool agent_child_wait(struct agent_child *child)
{
	struct rusage used;
	pid_t got;

	if (!child->pid)
		return child->has_ended;
	do
		got = wait4(child->pid, &child->status, WNOHANG, &used);
	while (got < 0 && errno == EINTR);
	if (!got)
		return false;
	if (got > 0)
		child->cpu_ns = ns_of(&used.ru_utime) + ns_of(&used.ru_stime);
	else
		child->status = -1;
	child->pid = 0;
	child->has_ended = true;
	if (!agent_child_has_succeeded(child))
		pass_on(child);
	return true;
}
