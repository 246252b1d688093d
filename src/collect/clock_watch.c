/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/clock_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "clocks/clock_exchange.h"
#include "helper/confine.h"
#include "session/session.h"

enum { PEERS_MAX = 8, BURST = 8, FAST_ROUNDS = 10, FAST_MS = 100, SLOW_MS = 1000, FIRST_FD = 3 };

/* As it comes through the pipe: less than PIPE_BUF, so it comes as a whole. */
struct reading {
	struct clock_sample sample;
	uint8_t boot[CLOCK_BOOT_BYTES];
};

struct clock_watch {
	pid_t pid;
	int pipe;
	struct reading next; /* not handed out yet */
	bool has_next;
};

/* --- The process that asks ------------------------------------------------------------------------- */

/* A peer that does not answer at first may do so later. */
static void ask(const int *fds, size_t count, int pipe)
{
	struct reading reading;

	for (size_t i = 0; i < count; i++) {
		int err = clock_peer_ask(fds[i], BURST, &reading.sample, reading.boot);

		if (!err && write(pipe, &reading, sizeof(reading)) != sizeof(reading) && errno != EAGAIN)
			_exit(0); /* nobody reads */
	}
}

/* Closes all else: ends of sockets by which others notice that pinch has ended, and the kernel's objects. */
static void keep_only(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FD + PEERS_MAX + 1);
	for (size_t i = 0; i < count; i++)
		fds[i] = dup2(fds[i], FIRST_FD + i);
	close_range(FIRST_FD + count, UINT_MAX, 0);
}

static int confine_calls(void)
{
	static const struct confined_call allowed[] = {
		ALLOWED(sendto),     ALLOWED(recvfrom),        ALLOWED(poll),   ALLOWED(write), ALLOWED(clock_gettime),
		ALLOWED(exit_group), ALLOWED(restart_syscall), ALLOWED(getppid)
	};

	return IS_SANITIZED ? 0 : confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

/* It reads what other hosts send, and needs nothing but its sockets and the pipe. */
static int confine(pid_t parent)
{
	bool must_change_user = confine_can_change_user();
	int err = confine_bounds(NULL, 0);

	if (!err && confine_user() && must_change_user)
		err = -EPERM;
	if (!err)
		err = confine_capabilities(NULL, 0);
	if (!err)
		err = confine_basics();
	/* Another user's process would be without it. */
	if (!err && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		err = -ESRCH;
	return err ? err : confine_calls();
}

/* fds: of the peers, and behind these that of the pipe. */
static _Noreturn void run(int *fds, size_t count, pid_t parent)
{
	struct pollfd reader;

	prctl(PR_SET_NAME, "pinch-clocks");
	signal(SIGPIPE, SIG_IGN);
	keep_only(fds, count + 1);
	reader = (struct pollfd){ .fd = fds[count] };
	if (confine(parent))
		_exit(1);
	for (unsigned int round = 0;; round++) {
		ask(fds, count, reader.fd);
		/* As soon as nobody reads any more, that is an error. */
		if (poll(&reader, 1, round < FAST_ROUNDS ? FAST_MS : SLOW_MS))
			_exit(0);
	}
}

static int start(struct clock_watch *watch, int *fds, size_t count)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return fail(-errno, "cannot record clocks");
	watch->pipe = ends[0];
	watch->pid = fork();
	fds[count] = ends[1];
	if (!watch->pid)
		run(fds, count, parent);
	close(ends[1]);
	return watch->pid < 0 ? fail(-errno, "cannot start the process that asks clocks") : 0;
}

static int check(const char *address, int fd)
{
	struct reading reading;
	int err = clock_peer_ask(fd, 1, &reading.sample, reading.boot);

	return err ? fail(err, "no clock answers at %s: run pinch clocks --serve there", address) : 0;
}

/* --- The engine's side ------------------------------------------------------------------------------ */

int clock_watch_open(const char *const *addresses, size_t count, struct clock_watch **out)
{
	struct clock_watch *watch = xcalloc(1, sizeof(*watch));
	int fds[PEERS_MAX + 1], err = 0;
	size_t opened = 0;

	watch->pipe = -1;
	for (; !err && opened < count && opened < PEERS_MAX; opened += !err) {
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
	/* It ends without a reader. That may take a second while it waits for an answer, and it must not be waited for then. */
	if (watch->pid > 0)
		waitpid(watch->pid, NULL, kill(watch->pid, SIGKILL) ? WNOHANG : 0);
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
