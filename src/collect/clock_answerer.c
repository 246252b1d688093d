/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/clock_answerer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "clocks/clock_exchange.h"
#include "collect/clock_process.h"

struct clock_answerer {
	struct clock_server server;
	pid_t pid;
	int pipe; /* it ends when this end is closed */
};

static void answer_on(const void *data, const int *fds, size_t count)
{
	struct pollfd poll_fds[] = { { .fd = fds[0], .events = POLLIN }, { .fd = fds[count - 1] } };
	struct clock_server server = *(const struct clock_server *)data;

	server.fd = fds[0];
	while (poll(poll_fds, 2, -1) < 0 || !poll_fds[1].revents)
		clock_server_answer(&server);
	_exit(0);
}

static int start(struct clock_answerer *answerer)
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return fail(-errno, "cannot answer who asks the clock");
	answerer->pipe = ends[0];
	err = clock_process_start("pinch-clock", answer_on, &answerer->server,
				  (const int[]){ answerer->server.fd, ends[1] }, 2, &answerer->pid);
	close(ends[1]);
	return err;
}

int clock_answerer_open(const char *address, struct clock_answerer **out)
{
	struct clock_answerer *answerer = xcalloc(1, sizeof(*answerer));
	int err;

	answerer->pipe = -1;
	err = clock_server_open(&answerer->server, address);
	if (err) {
		free(answerer);
		return err;
	}
	err = start(answerer);
	close(answerer->server.fd); /* the process has it */
	if (err)
		clock_answerer_close(answerer);
	else
		*out = answerer;
	return err;
}

void clock_answerer_close(struct clock_answerer *answerer)
{
	if (!answerer)
		return;
	if (answerer->pipe >= 0)
		close(answerer->pipe);
	clock_process_stop(answerer->pid);
	free(answerer);
}
