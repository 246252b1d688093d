/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What makes the agent watch at once: threads of the machine that wait for its CPUs, disks or memory, as the kernel measures it (PSI). */
#pragma once

#include <stddef.h>

struct pollfd;

enum { TRIGGERS_MAX = 3 };

struct agent_triggers {
	struct {
		const char *resource; /* "cpu", "io" or "memory" */
		int fd;
	} list[TRIGGERS_MAX];
	size_t count;
};

/* spec: "cpu:20%": of two seconds, some thread waited for a CPU for so long. 0, or -EINVAL after a message. */
int agent_trigger_check(const char *spec);

/* Adds one that was checked. 0 or a negative errno, after a message. */
int agent_triggers_add(struct agent_triggers *triggers, const char *spec);
void agent_triggers_close(struct agent_triggers *triggers);

/* What to wait for. */
void agent_triggers_fill(const struct agent_triggers *triggers, struct pollfd *fds);

/* What has happened, by what was filled in; NULL: nothing. */
const char *agent_triggers_reason(const struct agent_triggers *triggers, const struct pollfd *fds);
