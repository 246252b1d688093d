/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/clock_asker.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "clocks/clock_exchange.h"
#include "collect/clock_process.h"

enum { BURST = 8, FAST_ROUNDS = 10, FAST_MS = 100, SLOW_MS = 1000 };

_Static_assert(sizeof(struct clock_reading) <= PIPE_BUF, "it comes through the pipe as a whole");

/* A peer that does not answer at first may do so later. */
static void ask(const int *sockets, size_t count, int pipe)
{
	struct clock_reading reading;

	for (size_t i = 0; i < count; i++) {
		int err = clock_peer_ask(sockets[i], BURST, &reading.sample, reading.boot);

		if (!err && write(pipe, &reading, sizeof(reading)) != sizeof(reading) && errno != EAGAIN)
			_exit(0); /* nobody reads */
	}
}

static void ask_on(const void *data, const int *fds, size_t count)
{
	struct pollfd reader = { .fd = fds[count - 1] };

	(void)data;
	for (unsigned int round = 0;; round++) {
		ask(fds, count - 1, reader.fd);
		/* As soon as nobody reads any more, that is an error. */
		if (poll(&reader, 1, round < FAST_ROUNDS ? FAST_MS : SLOW_MS))
			_exit(0);
	}
}

int clock_asker_start(const int *sockets, size_t count, int pipe, pid_t *pid)
{
	int fds[CLOCK_PEERS_ASKED_MAX + 1];

	_Static_assert(sizeof(fds) / sizeof(*fds) <= CLOCK_PROCESS_FDS_MAX, "a pipe beside the sockets");
	assert(count <= CLOCK_PEERS_ASKED_MAX);
	memcpy(fds, sockets, count * sizeof(*fds));
	fds[count] = pipe;
	return clock_process_start("pinch-clocks", ask_on, NULL, fds, count + 1, pid);
}
