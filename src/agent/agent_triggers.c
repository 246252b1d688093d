/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_triggers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

/* Two seconds, or multiples: what users without privileges may watch for. */
enum { WINDOW_US = 2000000, PERCENT_MAX = 100, US_A_PERCENT = WINDOW_US / 100 };

static const char *const resources[TRIGGERS_MAX] = { "cpu", "io", "memory" };

/* The resource, and how many percent; NULL: it is no trigger. */
static const char *parse(const char *spec, long *percent)
{
	for (size_t i = 0; i < TRIGGERS_MAX; i++) {
		size_t length = strlen(resources[i]);
		char *end;

		if (strncmp(spec, resources[i], length) != 0 || spec[length] != ':')
			continue;
		*percent = strtol(spec + length + 1, &end, 10);
		if (end != spec + length + 1 && !strcmp(end, "%") && *percent > 0 && *percent <= PERCENT_MAX)
			return resources[i];
	}
	return NULL;
}

int agent_trigger_check(const char *spec)
{
	long percent;

	return parse(spec, &percent)
		       ? 0
		       : fail_plain(-EINVAL, "--trigger takes cpu:N%%, io:N%% or memory:N%%, N from 1 to 100, not '%s'",
				    spec);
}

int agent_triggers_add(struct agent_triggers *triggers, const char *spec)
{
	char path[64], words[64];
	long percent;
	const char *resource = parse(spec, &percent);
	int fd, length;

	if (!resource || triggers->count == TRIGGERS_MAX)
		return fail_plain(-EINVAL, "--trigger can be given once for each of cpu, io and memory");
	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	length = snprintf(words, sizeof(words), "some %ld %d", percent * US_A_PERCENT, WINDOW_US);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	/* The kernel wants the end of the string, too. */
	if (fd < 0 || write(fd, words, length + 1) < 0) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return fail(err, "cannot watch %s: the kernel has no pressure stall information, or does not allow it",
			    path);
	}
	triggers->list[triggers->count].resource = resource;
	triggers->list[triggers->count++].fd = fd;
	return 0;
}

void agent_triggers_close(struct agent_triggers *triggers)
{
	for (size_t i = 0; i < triggers->count; i++)
		close(triggers->list[i].fd);
	triggers->count = 0;
}

void agent_triggers_fill(const struct agent_triggers *triggers, struct pollfd *fds)
{
	for (size_t i = 0; i < triggers->count; i++)
		fds[i] = (struct pollfd){ .fd = triggers->list[i].fd, .events = POLLPRI };
}

const char *agent_triggers_reason(const struct agent_triggers *triggers, const struct pollfd *fds)
{
	for (size_t i = 0; i < triggers->count; i++)
		if (fds[i].revents & POLLPRI)
			return triggers->list[i].resource;
	return NULL;
}
