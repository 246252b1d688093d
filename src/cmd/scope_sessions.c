/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/scope_sessions.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "collect/clock_answerer.h"
#include "helper/confine.h"
#include "live/serving.h"
#include "options/settings.h"
#include "scope/scope.h"
#include "scope/sessions_client.h"

enum { CLIENTS_MAX = 32, ACCEPT_PAUSE_MS = 100 };

/* A client has its own process, so that merging for it, and its TLS, hold nobody up. */
struct machine {
	struct scope *scope;
	struct clock_answerer *clock; /* NULL: there is none */
	pid_t clients[CLIENTS_MAX];   /* 0: free */
	size_t client_count;
	int signal_fd;
	uint64_t end_ns; /* UINT64_MAX: no matter when */
	bool is_ending;
};

/* What it reads is of the same user's processes, and of clients. */
static int confine(void)
{
	int err = confine_bounds(NULL, 0);

	if (!err)
		err = confine_capabilities(NULL, 0);
	return err ? err : confine_basics();
}

static _Noreturn void be_client(struct machine *machine, int fd, pid_t parent)
{
	int err;

	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* it says what goes wrong from the background, too */
	close(machine->signal_fd);
	err = confine();
	if (err)
		fail(err, "cannot give up privileges");
	if (err || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	err = scope_take(machine->scope, fd);
	if (!err)
		err = sessions_client_run(machine->scope);
	_exit(err ? 1 : 0);
}

static void let_in(struct machine *machine, int fd)
{
	pid_t parent = getpid(), pid;
	size_t i = 0;

	if (machine->client_count == CLIENTS_MAX) {
		scope_refuse(machine->scope, fd);
		return;
	}
	pid = fork();
	if (!pid)
		be_client(machine, fd, parent);
	close(fd);
	if (pid < 0) {
		fail(-errno, "cannot serve a client");
		return;
	}
	while (machine->clients[i])
		i++;
	machine->clients[i] = pid;
	machine->client_count++;
}

static void reap(struct machine *machine)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (size_t i = 0; i < CLIENTS_MAX; i++)
			if (machine->clients[i] == pid) {
				machine->clients[i] = 0;
				machine->client_count--;
			}
}

/* Clients get the ends of their traces; at the second time nobody is waited for. */
static void end(struct machine *machine)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (machine->clients[i])
			kill(machine->clients[i], machine->is_ending ? SIGKILL : SIGTERM);
	machine->is_ending = true;
	machine->end_ns = UINT64_MAX;
}

static void take_signals(struct machine *machine)
{
	struct signalfd_siginfo info;

	while (read(machine->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			reap(machine);
		else
			end(machine);
}

/* In ms; -1: nothing is due. */
static int wait_ms(const struct machine *machine)
{
	uint64_t now_ns = clock_ns(), left_ns = machine->end_ns > now_ns ? machine->end_ns - now_ns : 0;

	if (machine->end_ns == UINT64_MAX)
		return -1;
	return left_ns > 1000000000 ? 1000 : (int)((left_ns + 999999) / 1000000);
}

static void serve(struct machine *machine)
{
	struct pollfd poll_fds[] = {
		{ .fd = machine->signal_fd, .events = POLLIN },
		{ .fd = scope_poll_fd(machine->scope), .events = POLLIN },
	};
	int fd;

	while (!machine->is_ending || machine->client_count) {
		poll_fds[1].fd = machine->is_ending ? -1 : scope_poll_fd(machine->scope);
		poll(poll_fds, 2, wait_ms(machine));
		take_signals(machine);
		if (clock_ns() >= machine->end_ns)
			end(machine);
		if (machine->is_ending || !(poll_fds[1].revents & POLLIN))
			continue;
		fd = scope_accept(machine->scope);
		if (fd >= 0)
			let_in(machine, fd);
		else
			poll(NULL, 0, ACCEPT_PAUSE_MS); /* without descriptors nobody can be let in */
	}
}

static int open_signals(struct machine *machine)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	machine->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return machine->signal_fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static void open_clock(struct machine *machine)
{
	const char *address = scope_host_port(machine->scope);

	if (address && clock_answerer_open(address, &machine->clock))
		warn("who records this scope with those of other hosts cannot ask this host's clock");
}

int scope_sessions(const struct settings *settings)
{
	struct machine machine = { .signal_fd = -1, .end_ns = UINT64_MAX };
	struct scope_options options = serving_options(&settings->stream);
	int err = scope_open(&options, &machine.scope);

	if (!err)
		err = open_signals(&machine);
	if (!err) {
		open_clock(&machine);
		fprintf(stderr, "pinch: the scope of all sessions is at %s\n", scope_address(machine.scope));
		if (settings->duration_ns)
			machine.end_ns = clock_ns() + settings->duration_ns;
		serve(&machine);
	}
	clock_answerer_close(machine.clock);
	scope_close(machine.scope);
	if (machine.signal_fd >= 0)
		close(machine.signal_fd);
	return err ? EXIT_FAILED : 0;
}
