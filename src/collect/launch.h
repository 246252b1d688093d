/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a command that waits before its exec until it is told to go on, with the signal
 * mask, limits, priority, descriptors and process group that pinch itself was given.
 */
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What the command inherits; taken before pinch changes any of it for itself. */
struct inheritance {
	sigset_t signal_mask;
	struct rlimit open_files;
	int input_fd, output_fd, error_fd;	/* in place of the standard ones; -1: those */
};

void inheritance_take(struct inheritance *inheritance);

struct launch;

/* Forks. 0 or a negative errno, after having said so. */
int launch_new(char *const *arguments, const struct inheritance *inheritance, struct launch **out);

/* Ends a command that was not let go. The command's own fate is the caller's to wait for. */
void launch_free(struct launch *launch);

pid_t launch_pid(const struct launch *launch);

/*
 * Lets it go. 0 once the exec has succeeded, else the negative errno of the exec (and the
 * child is gone): -ENOENT when there is no such command.
 */
int launch_go(struct launch *launch);
