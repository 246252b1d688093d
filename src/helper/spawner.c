/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "helper/confine.h"
#include "helper/message.h"

enum {
	ANSWER_MS_MAX = 2000, /* it only forks; then something is wrong on this machine */
	SOCKET = 3,
	HELPERS = 4,
	PLACES_FIRST = 64,
	PRIORITY = -20, /* as nice(2) has it */
	END_MS_MAX = 200,
};

struct spawner {
	pid_t pid;
	int socket;
};

enum request { START_BOTH, START_WORKER, START_ATTACHER };

enum { ATTACHER, OPENER, WORKER, SERVERS };

/* Sent twice if err is 0: with the opener's socket (to the tool, or to the worker), and with the worker's. */
struct started {
	int32_t err;
	int32_t opener, worker; /* processes; 0: not started */
};

/* --- The process ---------------------------------------------------------------------------- */

/* The end of the socket ends this process; the terminal's signals are for the tool. */
static void reset_signals(void)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, SIGXFSZ };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for helpers: one may never end */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whatever the tool has open would stay so after its death: above all, its BPF links. */
static void close_inherited(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (socket != SOCKET)
		dup2(socket, SOCKET);
	close_range(SOCKET + 1, ~0u, 0);
}

/* The same holds for BPF maps that the tool has mapped; their pages would count as ours, too. */
static void unmap_inherited(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[8192];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, " anon_inode:") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			munmap((void *)start, end - start);
	if (maps)
		fclose(maps);
}

/* What its helpers may have, and what it takes to start them. */
static int confine(void)
{
	static const int kept[] = {
		CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE, CAP_SYS_NICE, CAP_SETUID,
		CAP_SETGID,     CAP_SETPCAP,         CAP_SYS_ADMIN,          CAP_KILL,
	};
	static const struct confined_call denied[] = {
		DENIED(execve),          DENIED(execveat),     DENIED(ptrace),     DENIED(process_vm_writev),
		DENIED(init_module),     DENIED(finit_module), DENIED(kexec_load), DENIED(bpf),
		DENIED(perf_event_open), DENIED(reboot),       DENIED(setns),
	};
	int err = confine_basics();

	if (!err)
		err = confine_capabilities(kept, sizeof(kept) / sizeof(*kept));
	return err ? err : confine_without_calls(denied, sizeof(denied) / sizeof(*denied));
}

/* Both ends of each socket. */
struct pairs {
	int opener[2], worker[2]; /* [0] is the tool's */
	int between[2];           /* [0] is the worker's */
	int servers[2];           /* the same */
};

static void pairs_close(const struct pairs *pairs)
{
	const int *fds = (const int *)pairs;

	for (size_t i = 0; i < sizeof(*pairs) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int pairs_open(struct pairs *pairs, bool has_servers)
{
	int *const all[] = { pairs->opener, pairs->worker, pairs->between, pairs->servers };
	size_t count = has_servers ? 4 : 3;

	memset(pairs, -1, sizeof(*pairs));
	for (size_t i = 0; i < count; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, all[i])) {
			pairs_close(pairs);
			return -errno;
		}
	}
	return 0;
}

/* Puts a helper's sockets where no others are, and closes all others. */
static void place(struct helper_sockets *sockets)
{
	int *fds[] = { &sockets->tool, &sockets->other, &sockets->debuginfod };
	int next = SOCKET;

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (*fds[i] >= 0)
			*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, PLACES_FIRST);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (*fds[i] >= 0)
			*fds[i] = dup3(*fds[i], next++, O_CLOEXEC);
	close_range(next, ~0u, 0);
}

void helper_refuse(const struct helper_sockets *sockets, int err)
{
	const int32_t refusal = err;

	message_put(sockets->tool, &refusal, HELPER_REFUSAL_BYTES, -1);
	_exit(1);
}

/* Returns its pid, 0 when it could not be started. */
static pid_t start_one(void (*role)(const struct helper_sockets *), struct helper_sockets sockets, int *pidfd)
{
	pid_t pid = fork();

	if (!pid) {
		place(&sockets);
		setpriority(PRIO_PROCESS, 0, 0);
		signal(SIGCHLD, SIG_DFL);
		role(&sockets);
		_exit(0);
	}
	*pidfd = pid > 0 ? syscall(SYS_pidfd_open, pid, 0) : -1;
	return pid > 0 ? pid : 0;
}

static void kill_from(int *pidfds, int first)
{
	for (int i = first; i < HELPERS; i++) {
		if (pidfds[i] < 0)
			continue;
		syscall(SYS_pidfd_send_signal, pidfds[i], SIGKILL, NULL, 0);
		close(pidfds[i]);
		pidfds[i] = -1;
	}
}

static struct started start(const struct helper_roles *roles, const struct pairs *pairs, enum request request,
			    int *pidfds)
{
	struct started started = { 0 };

	if (request == START_BOTH)
		started.opener =
			start_one(roles->open, (struct helper_sockets){ pairs->opener[1], pairs->between[1], -1 },
				  &pidfds[OPENER]);
	started.worker = start_one(roles->work,
				   (struct helper_sockets){ pairs->worker[1], pairs->between[0], pairs->servers[0] },
				   &pidfds[WORKER]);
	if (pairs->servers[1] >= 0)
		start_one(roles->ask_servers, (struct helper_sockets){ -1, -1, pairs->servers[1] }, &pidfds[SERVERS]);
	if ((request == START_BOTH && !started.opener) || !started.worker)
		started.err = -EAGAIN;
	return started;
}

/* One message, with the tool's end of its socket. */
static bool answer_attacher(const struct helper_roles *roles, int *pidfds)
{
	struct started started = { .err = -EAGAIN };
	int pair[2];
	bool is_sent;

	if (pidfds[ATTACHER] >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return !message_put(SOCKET, &started, sizeof(started), -1);
	if (start_one(roles->attach, (struct helper_sockets){ pair[1], -1, -1 }, &pidfds[ATTACHER]))
		started.err = 0;
	is_sent = !message_put(SOCKET, &started, sizeof(started), pair[0]);
	close(pair[0]);
	close(pair[1]);
	return is_sent;
}

/* False: nobody is there who could be answered. */
static bool answer(const struct helper_roles *roles, enum request request, int *pidfds)
{
	struct started started = { 0 };
	struct pairs pairs;
	bool is_sent;

	if (request == START_ATTACHER)
		return answer_attacher(roles, pidfds);
	kill_from(pidfds, request == START_BOTH ? OPENER : WORKER);
	started.err = pairs_open(&pairs, roles->ask_servers);
	if (started.err)
		return !message_put(SOCKET, &started, sizeof(started), -1);
	started = start(roles, &pairs, request, pidfds);
	is_sent = !message_put(SOCKET, &started, sizeof(started),
			       request == START_BOTH ? pairs.opener[0] : pairs.between[1]) &&
		  (started.err || !message_put(SOCKET, &started, sizeof(started), pairs.worker[0]));
	pairs_close(&pairs);
	return is_sent;
}

static _Noreturn void serve(int socket, const struct helper_roles *roles)
{
	struct pollfd ends[HELPERS] = {
		{ .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN }
	};
	int pidfds[HELPERS] = { -1, -1, -1, -1 }, fd;
	char request;

	reset_signals();
	close_inherited(socket);
	unmap_inherited();
	prctl(PR_SET_NAME, "pinch-spawner");
	/* The tool waits for it. */
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	/* Its helpers could not be confined either: then there are none. */
	if (confine())
		_exit(1);
	while (message_get(SOCKET, &request, sizeof(request), &fd) == sizeof(request))
		if (!answer(roles, request, pidfds))
			break;
	for (int i = 0; i < HELPERS; i++)
		ends[i].fd = fcntl(pidfds[i], F_DUPFD_CLOEXEC, 0);
	kill_from(pidfds, ATTACHER);
	/* Who is stuck ends later. */
	for (int i = 0; i < HELPERS; i++)
		if (ends[i].fd >= 0)
			poll(&ends[i], 1, END_MS_MAX);
	_exit(0);
}

/* --- The tool's side ------------------------------------------------------------------------ */

struct spawner *spawner_new(const struct helper_roles *roles)
{
	struct spawner *spawner;
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return NULL;
	pid = fork();
	if (!pid)
		serve(sockets[1], roles);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return NULL;
	}
	spawner = xcalloc(1, sizeof(*spawner));
	spawner->pid = pid;
	spawner->socket = sockets[0];
	return spawner;
}

void spawner_free(struct spawner *spawner)
{
	if (!spawner)
		return;
	close(spawner->socket);
	/* It ends at once, whatever its helpers do. Another part of the tool may have waited for any child. */
	while (waitpid(spawner->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(spawner);
}

static int receive(struct spawner *spawner, struct started *started, int *fd)
{
	struct pollfd poll_fd = { .fd = spawner->socket, .events = POLLIN };

	if (poll(&poll_fd, 1, ANSWER_MS_MAX) <= 0 ||
	    message_get(spawner->socket, started, sizeof(*started), fd) != sizeof(*started))
		return -ECHILD;
	return started->err;
}

static int ask(struct spawner *spawner, char request, struct started *started, int *first, int *worker)
{
	int err;

	*first = *worker = -1;
	if (message_put(spawner->socket, &request, sizeof(request), -1) || receive(spawner, started, first))
		return -ECHILD;
	err = receive(spawner, started, worker);
	if (!err && *first >= 0 && *worker >= 0)
		return 0;
	if (*first >= 0)
		close(*first);
	if (*worker >= 0)
		close(*worker);
	return -ECHILD;
}

int spawner_start(struct spawner *spawner, struct helpers *helpers)
{
	struct started started;
	int opener, worker, err = ask(spawner, START_BOTH, &started, &opener, &worker);

	if (!err)
		*helpers = (struct helpers){ started.opener, started.worker, opener, worker };
	return err;
}

int spawner_start_worker(struct spawner *spawner, struct helpers *helpers, int *other)
{
	struct started started;
	int worker, err = ask(spawner, START_WORKER, &started, other, &worker);

	if (err)
		return err;
	helpers->worker = started.worker;
	helpers->worker_socket = worker;
	return 0;
}

int spawner_start_attacher(struct spawner *spawner, int *socket)
{
	const char request = START_ATTACHER;
	struct started started;
	int err;

	*socket = -1;
	if (message_put(spawner->socket, &request, sizeof(request), -1))
		return -ECHILD;
	err = receive(spawner, &started, socket);
	return err || *socket < 0 ? -ECHILD : 0;
}
