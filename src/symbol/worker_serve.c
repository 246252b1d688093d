/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/object.h"
#include "symbol/worker_message.h"

enum {
	ANSWER_SECONDS_MAX = 60,	/* includes what a debuginfod server may take */
	ANSWER_CPU_SECONDS_MAX = 20,	/* a large program's compressed debug file takes 5 */
	SOCKET = 3,
};

/* Before one file's unpacked debug information makes room for another's. */
static const size_t memory_bytes_first = 32 << 20, memory_bytes_last = 512 << 20;

struct file {
	struct object *object;	/* NULL: closed to save memory */
	int fd;			/* -1: none */
	uint32_t pid;
	uint64_t used;		/* the question that last used it */
	bool is_vdso;
	bool was_closed;
	char *path;
};

struct server {
	struct table *files;	/* by module number + 1 */
	size_t memory_bytes_max;
	uint64_t question_count;
	struct answer answer;
};

static void limit_resources(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__	/* which reserves terabytes that it never uses */
	struct rlimit data = { 1 << 30, 1 << 30 };

	setrlimit(RLIMIT_DATA, &data);
#endif
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* The end of the socket ends this process; the terminal's signals are for the tool. */
static void reset_signals(void)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whatever the tool has open would stay so after its death: above all, its BPF links. */
static void close_inherited(int socket)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (socket != SOCKET)
		dup2(socket, SOCKET);
	close_range(SOCKET + 1, ~0u, 0);
}

static struct file *file_add(struct server *server, const struct question *question, int fd)
{
	struct file *file = xcalloc(1, sizeof(*file));

	file->fd = fd;
	file->pid = question->pid;
	file->is_vdso = question->is_vdso;
	file->path = xstrdup(question->path);
	table_put(server->files, (uint64_t)question->module + 1, file);
	return file;
}

static size_t memory_used_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Closes the files that were used least recently until memory is within its bound. */
static void save_memory(struct server *server, const struct file *current)
{
	while (memory_used_bytes() > server->memory_bytes_max) {
		struct file *file, *oldest = NULL;
		size_t cursor = 0;

		while ((file = table_next(server->files, &cursor)))
			if (file->object && file != current &&
			    (!oldest || file->used < oldest->used))
				oldest = file;
		if (!oldest)
			return;
		object_free(oldest->object);
		oldest->object = NULL;
		oldest->was_closed = true;
		malloc_trim(0);
	}
}

static struct object *object_get(struct server *server, struct file *file)
{
	file->used = ++server->question_count;
	if (file->object)
		return file->object;
	/* What comes back is worth its memory: opening it again and again takes far longer. */
	if (file->was_closed && server->memory_bytes_max < memory_bytes_last)
		server->memory_bytes_max *= 2;
	file->object = file->is_vdso ? object_new_vdso()
				     : object_new(fcntl(file->fd, F_DUPFD_CLOEXEC, 0), file->pid,
						  file->path);
	return file->object;
}

static void answer_question(struct server *server, const struct question *question, int fd,
			    int socket)
{
	struct file *file;

	if (question->has_file)
		file = file_add(server, question, fd);
	else
		file = table_find(server->files, (uint64_t)question->module + 1);
	if (!file)
		_exit(1);
	object_find(object_get(server, file), question->file_offset, question->wants_lines,
		    &server->answer);
	send(socket, &server->answer, offsetof(struct answer, text) + server->answer.text_bytes,
	     MSG_NOSIGNAL);
	save_memory(server, file);
}

static int received_fd(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Default actions of both signals end the process: no file may keep it for ever. */
static void set_deadline(unsigned int seconds, unsigned int cpu_seconds)
{
	struct itimerval cpu = { .it_value.tv_sec = cpu_seconds };

	alarm(seconds);
	setitimer(ITIMER_PROF, &cpu, NULL);
}

_Noreturn void worker_serve(int socket)
{
	struct server *server;
	union {
		struct question question;
		char bytes[sizeof(struct question) + WORKER_PATH_BYTES_MAX + 1];
	} in;

	reset_signals();
	close_inherited(socket);
	limit_resources();
	prctl(PR_SET_NAME, "pinch-symbols");
	server = xcalloc(1, sizeof(*server));
	server->files = table_new();
	server->memory_bytes_max = memory_bytes_first;
	for (;;) {
		union {
			struct cmsghdr header;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec part = { &in, sizeof(in) - 1 };
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1,
			.msg_control = &control, .msg_controllen = sizeof(control),
		};
		ssize_t n = recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)sizeof(struct question))
			_exit(0);
		in.bytes[n] = '\0';
		set_deadline(ANSWER_SECONDS_MAX, ANSWER_CPU_SECONDS_MAX);
		answer_question(server, &in.question, received_fd(&message), SOCKET);
		set_deadline(0, 0);
	}
}
