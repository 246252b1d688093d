/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command of this pinch, in a process of its own that may take so much and no more: whatever happens to it, the agent goes on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agent_child {
	pid_t pid; /* 0: none runs */
	bool has_ended;
	int status;      /* as of waitpid(), once it has ended */
	uint64_t cpu_ns; /* of it and of all that it waited for */
	int messages_fd; /* what it says, which is passed on if it fails; -1: there is none yet */
};

void agent_child_init(struct agent_child *child);
void agent_child_fini(struct agent_child *child);

/*
 * arguments: without "pinch", NULL behind the last one. cpu_seconds_max: it is stopped after so much. 0 or a negative errno, after a
 * message.
 */
int agent_child_start(struct agent_child *child, const char *const *arguments, unsigned int cpu_seconds_max);

/* Whether it has ended. */
bool agent_child_wait(struct agent_child *child);

bool agent_child_has_succeeded(const struct agent_child *child);
