/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch itself, in another process. */
#pragma once

#include <sys/types.h>

struct text;

/*
 * Runs it with these arguments, the last one NULL, and waits. What it prints is added to out, its messages to messages. 0; -EIO: it
 * failed; or another negative errno: it could not be started.
 */
int own_command_run(const char *const *arguments, struct text *out, struct text *messages);

/* Begins one, which writes to these descriptors and reads nothing; the caller waits for it. 0 or a negative errno; nothing is said. */
int own_command_start(const char *const *arguments, int out_fd, int messages_fd, pid_t *pid);
