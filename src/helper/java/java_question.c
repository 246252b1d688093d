/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/java/java_question.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

enum { POLL_MS = 20, ANSWER_BYTES_MAX = 4096 };

struct question {
	const struct java_process *process;
	uint64_t end_ns;
	int socket; /* -1: not connected */
	bool has_file;
	char file[32];
};

static int left_ms(const struct question *question)
{
	uint64_t now_ns = clock_ns();

	return now_ns < question->end_ns ? (int)((question->end_ns - now_ns) / 1000000) + 1 : 0;
}

/* Whoever made the socket, it is the process that listens there. */
static bool is_of_process(int socket, const struct java_process *process)
{
	struct ucred peer;
	socklen_t size_bytes = sizeof(peer);

	return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size_bytes) &&
	       (uint32_t)peer.pid == process->place.pid;
}

/* From within its directory, for a socket's path is short. */
static void try_to_connect(struct question *question)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), ".java_pid%u", question->process->place.own_pid);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    is_of_process(fd, question->process))
		question->socket = fd;
	else if (fd >= 0)
		close(fd);
}

/* A file of its user's, ours or one that is there already: seeing another one, it would write its stacks instead. */
static enum java_result make_file(struct question *question)
{
	const struct java_process *process = question->process;
	struct stat status;
	int fd;

	snprintf(question->file, sizeof(question->file), ".attach_pid%u", process->place.own_pid);
	fd = open(question->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		close(fd);
		question->has_file = true;
	}
	if (fstatat(AT_FDCWD, question->file, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
	    status.st_uid != process->place.uid)
		return JAVA_DIRECTORY;
	return JAVA_WRITTEN;
}

static enum java_result wake(struct question *question)
{
	enum java_result result = make_file(question);

	if (result == JAVA_WRITTEN && syscall(SYS_pidfd_send_signal, question->process->process_fd, SIGQUIT, NULL, 0))
		result = errno == ESRCH ? JAVA_GONE : JAVA_USER;
	return result;
}

/* The end of the process is seen, too. */
static enum java_result wait_for_socket(struct question *question)
{
	struct pollfd end = { .fd = question->process->process_fd, .events = POLLIN };

	while (question->socket < 0 && left_ms(question)) {
		if (poll(&end, 1, POLL_MS) > 0)
			return JAVA_GONE;
		try_to_connect(question);
	}
	return question->socket < 0 ? JAVA_SILENT : JAVA_WRITTEN;
}

static enum java_result result_of(const char *answer)
{
	char *end;
	long status = strtol(answer, &end, 10);

	if (end != answer && *end == '\n' && !status)
		return JAVA_WRITTEN;
	return strstr(answer, "Unknown diagnostic command") ? JAVA_OLD : JAVA_REFUSED;
}

/* Up to the end of the answer: before that, the file is not complete. */
static enum java_result read_answer(struct question *question)
{
	char answer[ANSWER_BYTES_MAX], rest[ANSWER_BYTES_MAX];
	struct pollfd ready = { .fd = question->socket, .events = POLLIN };
	size_t length = 0;
	ssize_t n = 1;

	while (n > 0) {
		bool is_full = length == sizeof(answer) - 1;

		if (poll(&ready, 1, left_ms(question)) <= 0)
			return JAVA_SILENT;
		n = is_full ? recv(question->socket, rest, sizeof(rest), 0)
			    : recv(question->socket, answer + length, sizeof(answer) - 1 - length, 0);
		if (n > 0 && !is_full)
			length += n;
		if (!left_ms(question))
			return JAVA_SILENT;
	}
	answer[length] = '\0';
	return n < 0 || !length ? JAVA_SILENT : result_of(answer);
}

enum java_result java_question_ask(const struct java_process *process, uint64_t limit_ns)
{
	/* A version, a command and three arguments, each with a NUL. */
	static const char command[] = "1\0jcmd\0Compiler.perfmap\0\0";
	struct question question = { .process = process, .end_ns = clock_ns() + limit_ns, .socket = -1 };
	enum java_result result = JAVA_WRITTEN;

	if (fchdir(process->directory_fd))
		return JAVA_DIRECTORY;
	try_to_connect(&question);
	if (question.socket < 0)
		result = wake(&question);
	if (result == JAVA_WRITTEN)
		result = wait_for_socket(&question);
	if (question.has_file)
		unlink(question.file);
	if (result == JAVA_WRITTEN &&
	    send(question.socket, command, sizeof(command), MSG_NOSIGNAL) != (ssize_t)sizeof(command))
		result = JAVA_SILENT;
	if (result == JAVA_WRITTEN)
		result = read_answer(&question);
	if (question.socket >= 0)
		close(question.socket);
	return result;
}
