/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/clock_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "clocks/clock_exchange.h"
#include "collect/clock_asker.h"
#include "collect/clock_process.h"
#include "session/session.h"

struct clock_watch {
	pid_t pid;
	int pipe;
	struct clock_reading next; /* not handed out yet */
	bool has_next;
};

static int start(struct clock_watch *watch, int *fds, size_t count)
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return fail(-errno, "cannot record clocks");
	watch->pipe = ends[0];
	err = clock_asker_start(fds, count, ends[1], &watch->pid);
	close(ends[1]);
	return err;
}

static int check(const char *address, int fd)
{
	struct clock_reading reading;
	int err = clock_peer_ask(fd, 1, &reading.sample, reading.boot);

	return err ? fail(err, "no clock answers at %s: run pinch clocks --serve there", address) : 0;
}

int clock_watch_open(const char *const *addresses, size_t count, struct clock_watch **out)
{
	struct clock_watch *watch = xcalloc(1, sizeof(*watch));
	int fds[CLOCK_PEERS_ASKED_MAX], err = 0;
	size_t opened = 0;

	watch->pipe = -1;
	for (; !err && opened < count && opened < CLOCK_PEERS_ASKED_MAX; opened += !err) {
		err = clock_peer_open(addresses[opened], &fds[opened]);
		if (!err)
			err = check(addresses[opened], fds[opened]);
	}
	if (!err)
		err = start(watch, fds, opened);
	while (opened)
		close(fds[--opened]);
	if (err)
		clock_watch_close(watch);
	else
		*out = watch;
	return err;
}

void clock_watch_close(struct clock_watch *watch)
{
	if (!watch)
		return;
	if (watch->pipe >= 0)
		close(watch->pipe);
	clock_process_stop(watch->pid);
	free(watch);
}

static bool has_next(struct clock_watch *watch)
{
	if (!watch->has_next)
		watch->has_next = read(watch->pipe, &watch->next, sizeof(watch->next)) == sizeof(watch->next);
	return watch->has_next;
}

static void hand_out(struct clock_watch *watch, struct session *session)
{
	const struct clock_sample *sample = &watch->next.sample;
	uint64_t now_ns = session_time_ns(session);
	struct ev_clock_sample e = {
		.header = { .time_ns = sample->t3 > now_ns ? sample->t3 : now_ns,
			    .subsys = TRACE_SUBSYS_CLOCK,
			    .event = TRACE_EVENT_CLOCK_SAMPLE },
		.asked_ns = sample->t0,
		.received_ns = sample->t1,
		.answered_ns = sample->t2,
		.returned_ns = sample->t3,
	};

	memcpy(e.boot, watch->next.boot, sizeof(e.boot));
	session_hand_out(session, &e.header);
	watch->has_next = false;
}

void clock_watch_step(struct clock_watch *watch, struct session *session)
{
	while (watch && has_next(watch) && watch->next.sample.t3 <= session_time_ns(session))
		hand_out(watch, session);
}

void clock_watch_finish(struct clock_watch *watch, struct session *session)
{
	while (watch && has_next(watch))
		hand_out(watch, session);
}
