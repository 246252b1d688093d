/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/receivers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "clocks/clock_exchange.h"
#include "clocks/clock_fit.h"
#include "collect/clock_asker.h"
#include "collect/clock_process.h"
#include "scope/receiver.h"
#include "scope/spool.h"

/* One source: its process, and the pipe through which the process beside that tells its host's clock. */
struct source {
	pid_t pid; /* 0: it has ended */
	size_t reading_count;
};

struct receivers {
	struct received *list;
	struct source *sources;
	struct pollfd *poll_fds; /* the pipe of each source, -1: closed; behind them that of signals */
	size_t count, running;
	struct clock_readings *clocks;
	size_t clock_capacity;
	uint64_t end_ns; /* when all shall end; UINT64_MAX: no matter when */
	bool is_ending, is_killed;
	sigset_t signals_before;
};

/* --- The process of one source ---------------------------------------------------------------------- */

/* Where it is connected to, of UDP: the scope's host answers who asks its clock. 0: it is this host. */
static int open_clock(const struct receiver *receiver, int *fd)
{
	struct sockaddr_storage peer;
	socklen_t size_bytes = sizeof(peer);

	if (getpeername(receiver_socket(receiver), (void *)&peer, &size_bytes) || peer.ss_family == AF_UNIX)
		return -ENOTSUP;
	*fd = socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return -errno;
	return connect(*fd, (void *)&peer, size_bytes) ? -errno : 0;
}

/* Whether the clocks are known well enough is for who merges the traces to say. */
static pid_t start_clock(const struct receiver *receiver, int pipe)
{
	pid_t pid = 0;
	int fd = -1;

	if (!open_clock(receiver, &fd))
		clock_asker_start(&fd, 1, pipe, &pid);
	if (fd >= 0)
		close(fd);
	return pid;
}

/* Signals come from the process that started it: those of the terminal would come twice. */
static _Noreturn void be_source(const struct received *received, int pipe, pid_t parent)
{
	struct receiver *receiver;
	pid_t clock;
	int err;

	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* it says what goes wrong from the background, too */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	err = receiver_open(received->options, &receiver);
	if (err)
		_exit(1);
	clock = start_clock(receiver, pipe);
	close(pipe);
	err = receiver_take(receiver, spool_fd(received->spool));
	clock_process_stop(clock);
	receiver_close(receiver);
	_exit(err ? 1 : 0);
}

static int start_source(struct receivers *receivers, size_t number)
{
	struct received *received = &receivers->list[number];
	pid_t parent = getpid(), pid;
	int ends[2], err = spool_new(&received->spool);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return fail(-errno, "cannot receive the trace of %s", received->options->address);
	pid = fork();
	if (!pid) {
		for (size_t i = 0; i < number; i++)
			close(receivers->poll_fds[i].fd);
		close(ends[0]);
		be_source(received, ends[1], parent);
	}
	err = -errno;
	close(ends[1]);
	receivers->poll_fds[number] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	if (pid < 0)
		return fail(err, "cannot receive the trace of %s", received->options->address);
	receivers->sources[number].pid = pid;
	receivers->running++;
	return 0;
}

/* --- All of them --------------------------------------------------------------------------------------- */

static int block_signals(struct receivers *receivers)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, &receivers->signals_before);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	receivers->poll_fds[receivers->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static void kill_all(const struct receivers *receivers, int number)
{
	for (size_t i = 0; i < receivers->count; i++)
		if (receivers->sources[i].pid)
			kill(receivers->sources[i].pid, number);
}

/* Those who have not even connected end no sooner than at the second time. */
static void end_all(struct receivers *receivers)
{
	receivers->is_killed = receivers->is_ending;
	kill_all(receivers, receivers->is_killed ? SIGKILL : SIGTERM);
	receivers->is_ending = true;
	receivers->end_ns = UINT64_MAX;
}

static void reap(struct receivers *receivers)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < receivers->count; i++) {
			if (receivers->sources[i].pid != pid)
				continue;
			receivers->sources[i].pid = 0;
			receivers->running--;
			receivers->list[i].has_failed = status && !receivers->is_killed;
			if (WIFSIGNALED(status) && !receivers->is_killed)
				warn("what receives %s was ended by signal %d: what came is used",
				     receivers->list[i].options->address, WTERMSIG(status));
		}
}

static void take_readings(struct receivers *receivers, size_t number)
{
	struct pollfd *poll_fd = &receivers->poll_fds[number];
	struct source *source = &receivers->sources[number];
	struct clock_readings *clocks = receivers->clocks;
	struct clock_reading reading;
	ssize_t got;

	while ((got = read(poll_fd->fd, &reading, sizeof(reading))) == sizeof(reading)) {
		if (source->reading_count == CLOCK_SAMPLES_MAX)
			continue;
		source->reading_count++;
		ARRAY_GROW(clocks->list, clocks->count, receivers->clock_capacity, 64);
		clocks->list[clocks->count++] = reading;
	}
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	close(poll_fd->fd);
	poll_fd->fd = -1;
}

static void take_signals(struct receivers *receivers)
{
	struct signalfd_siginfo info;

	while (read(receivers->poll_fds[receivers->count].fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			reap(receivers);
		else
			end_all(receivers);
}

/* In ms; -1: nothing is due. */
static int wait_ms(const struct receivers *receivers)
{
	uint64_t now_ns = clock_ns(), left_ns = receivers->end_ns > now_ns ? receivers->end_ns - now_ns : 0;

	if (receivers->end_ns == UINT64_MAX)
		return -1;
	return left_ns > 1000000000 ? 1000 : (int)((left_ns + 999999) / 1000000);
}

static void receive(struct receivers *receivers)
{
	while (receivers->running) {
		poll(receivers->poll_fds, receivers->count + 1, wait_ms(receivers));
		for (size_t i = 0; i < receivers->count; i++)
			if (receivers->poll_fds[i].fd >= 0 && receivers->poll_fds[i].revents)
				take_readings(receivers, i);
		take_signals(receivers);
		if (clock_ns() >= receivers->end_ns)
			end_all(receivers);
	}
	for (size_t i = 0; i < receivers->count; i++)
		if (receivers->poll_fds[i].fd >= 0)
			take_readings(receivers, i);
}

static void close_all(struct receivers *receivers)
{
	kill_all(receivers, SIGKILL);
	for (size_t i = 0; i < receivers->count; i++)
		if (receivers->sources[i].pid)
			waitpid(receivers->sources[i].pid, NULL, 0);
	for (size_t i = 0; i <= receivers->count; i++)
		if (receivers->poll_fds[i].fd >= 0)
			close(receivers->poll_fds[i].fd);
	sigprocmask(SIG_SETMASK, &receivers->signals_before, NULL);
	free(receivers->sources);
	free(receivers->poll_fds);
}

int receivers_run(struct received *list, size_t count, uint64_t duration_ns, struct clock_readings *clocks)
{
	struct receivers receivers = { .list = list, .count = count, .clocks = clocks, .end_ns = UINT64_MAX };
	int err;

	receivers.sources = xcalloc(count, sizeof(*receivers.sources));
	receivers.poll_fds = xcalloc(count + 1, sizeof(*receivers.poll_fds));
	for (size_t i = 0; i < count; i++)
		receivers.poll_fds[i].fd = -1;
	*clocks = (struct clock_readings){ 0 };
	clock_boot_read(clocks->boot);
	err = block_signals(&receivers);
	for (size_t i = 0; !err && i < count; i++)
		err = start_source(&receivers, i);
	if (!err) {
		if (duration_ns)
			receivers.end_ns = clock_ns() + duration_ns;
		receive(&receivers);
	}
	close_all(&receivers);
	return err;
}
