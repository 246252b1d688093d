/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a command that waits before its exec until it is released, with the signal
 * mask, limits, priority, descriptors and process group that pinch itself was given.
 */
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct command_user;

/* What the command inherits; taken before pinch changes any of it for itself. */
struct inheritance {
	sigset_t signal_mask;
	struct rlimit open_files;
	int input_fd, output_fd, error_fd; /* in place of the standard ones; -1: those */
	const struct command_user *user;   /* NULL: who runs pinch; borrowed */
};

void inheritance_take(struct inheritance *inheritance);

struct launch;

/* Forks. 0 or a negative errno, after a message. */
int launch_new(char *const *arguments, const struct inheritance *inheritance, struct launch **out);

/* Ends a command that was not released. The command's own fate is the caller's to wait for. */
void launch_free(struct launch *launch);

pid_t launch_pid(const struct launch *launch);

/* What the child does before it is the command. */
enum launch_step {
	LAUNCH_USER, /* becomes another user */
	LAUNCH_EXEC,
};

/*
 * Lets it go. 0 once the exec has succeeded, else a negative errno, with the step that failed in *step (and the
 * child is gone): -ENOENT of the exec when there is no such command.
 */
int launch_go(struct launch *launch, enum launch_step *step);
