/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	TABLE_SECONDS_MAX = 5,		/* while it is made, nobody reads the rings */
	TABLE_CPU_SECONDS_MAX = 2,	/* 35,000 functions take a hundredth of one */
	SOCKET = 3,
	OPENED_MAX = 4,			/* times a file is opened before it may stay */
};

/* What the worker holds beyond what it began with: of its own, and of files' pages. */
static const size_t own_bytes_max = 16 << 20, own_bytes_last = 512 << 20;
static const size_t mapped_bytes_max = 12 << 20;

struct file {
	struct object *object;	/* NULL: closed to save memory */
	int fd;			/* -1: none */
	uint32_t pid;
	uint64_t used;		/* the question that last used it */
	size_t kept_bytes;	/* stays as long as it is open */
	unsigned int opened_count;
	bool is_vdso;
	char *path;
};

/* Resident memory. */
struct memory {
	size_t own_bytes, mapped_bytes;
};

struct server {
	struct table *files;	/* by module number + 1 */
	int statm_fd;
	struct memory first;
	size_t own_bytes_max;
	uint64_t question_count;
	union {
		struct answer place;
		struct variable_answer variable;
		struct segments_answer segments;
		struct code_answer code;
		struct function_answer function;
		struct symbol_functions functions;
		struct sources_answer sources;
	} answer;
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
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, SIGXFSZ };
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

static struct file *file_new(const struct question *question, int fd)
{
	struct file *file = xcalloc(1, sizeof(*file));

	file->fd = fd;
	file->pid = question->pid;
	file->is_vdso = question->is_vdso;
	file->path = xstrdup(question->path);
	return file;
}

static void file_free(struct file *file)
{
	object_free(file->object);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

static struct file *file_add(struct server *server, const struct question *question, int fd)
{
	struct file *file = file_new(question, fd);

	table_put(server->files, (uint64_t)question->module + 1, file);
	return file;
}

/* What there is more than at first. The kernel's count takes far less time than malloc's. */
static struct memory memory_used(const struct server *server)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), resident, shared;
	struct memory memory = { 0 };
	char text[128];
	ssize_t n = pread(server->statm_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%*u %zu %zu", &resident, &shared) != 2 || shared > resident)
		return memory;
	memory.own_bytes = (resident - shared) * page_bytes;
	memory.mapped_bytes = shared * page_bytes;
	memory.own_bytes -= memory.own_bytes < server->first.own_bytes ? memory.own_bytes
								      : server->first.own_bytes;
	memory.mapped_bytes -= memory.mapped_bytes < server->first.mapped_bytes
				? memory.mapped_bytes : server->first.mapped_bytes;
	return memory;
}

static struct file *find_oldest(const struct server *server, const struct file *current)
{
	struct file *file, *oldest = NULL;
	size_t cursor = 0;

	while ((file = table_next(server->files, &cursor)))
		if (file->object && file != current && (!oldest || file->used < oldest->used))
			oldest = file;
	return oldest;
}

/*
 * Closes the files that were used least recently, then shrinks the current one, until memory is
 * within its bound. What even that leaves, such as unpacked sections, is the file's to keep.
 */
static void save_own_memory(struct server *server, struct file *current)
{
	size_t max = server->own_bytes_max + current->kept_bytes;
	struct file *oldest;

	do {
		if (memory_used(server).own_bytes <= max)
			return;
		oldest = find_oldest(server, current);
		if (oldest) {
			object_free(oldest->object);
			oldest->object = NULL;
			oldest->kept_bytes = 0;
			malloc_trim(0);
		}
	} while (oldest);
	object_shrink(current->object);
	malloc_trim(0);
	current->kept_bytes = memory_used(server).own_bytes;
}

static void save_memory(struct server *server, struct file *current)
{
	struct memory used = memory_used(server);
	struct file *file;
	size_t cursor = 0;

	if (used.own_bytes > server->own_bytes_max)
		save_own_memory(server, current);
	if (used.mapped_bytes <= mapped_bytes_max)
		return;
	while ((file = table_next(server->files, &cursor)))
		if (file->object)
			object_release(file->object);
}

static struct object *object_get(struct server *server, struct file *file)
{
	file->used = ++server->question_count;
	if (file->object)
		return file->object;
	/* What keeps coming back is worth its memory: opening it each time takes far longer. */
	if (++file->opened_count >= OPENED_MAX && server->own_bytes_max < own_bytes_last)
		server->own_bytes_max *= 2;
	file->object = file->is_vdso ? object_new_vdso()
				     : object_new(fcntl(file->fd, F_DUPFD_CLOEXEC, 0), file->pid,
						  file->path);
	return file->object;
}

/* Says it with the descriptor, which is the receiver's then. */
static void send_table(int socket, struct table_answer answer, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (!answer.err) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	sendmsg(socket, &message, MSG_NOSIGNAL);
}

static void answer_table(struct object *object, int socket)
{
	struct unwind_file file = { 0 };
	int fd = memfd_create("pinch-unwind", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : object_unwind_file(object, &file);

	if (!err)
		err = unwind_file_write(&file, fd);
	send_table(socket, (struct table_answer){ err }, fd);
	unwind_file_fini(&file);
	if (fd >= 0)
		close(fd);
}

/* The size of the answer, which is in server->answer. */
static size_t find_answer(struct server *server, struct object *object,
			  const struct question *question)
{
	switch (question->kind) {
	case QUESTION_VARIABLE:
		object_find_variable(object, question->address, question->wants_debug,
				     &server->answer.variable);
		return offsetof(struct variable_answer, text) + server->answer.variable.text_bytes;
	case QUESTION_SEGMENTS:
		object_segments(object, &server->answer.segments);
		return sizeof(server->answer.segments);
	case QUESTION_CODE:
		object_read_code(object, question->file_offset, question->size_bytes,
				 &server->answer.code);
		return offsetof(struct code_answer, code) + server->answer.code.size_bytes;
	case QUESTION_FUNCTION:
		object_find_function(object, question->function, &server->answer.function);
		return sizeof(server->answer.function);
	case QUESTION_FUNCTIONS:
		object_find_functions(object, question->function, &server->answer.functions);
		return sizeof(server->answer.functions);
	case QUESTION_SOURCES:
		object_sources(object, &server->answer.sources);
		return sizeof(server->answer.sources);
	default:
		object_find(object, question->file_offset, question->wants_debug,
			    &server->answer.place);
		return offsetof(struct answer, text) + server->answer.place.text_bytes;
	}
}

static void answer_question(struct server *server, const struct question *question, int fd,
			    int socket)
{
	struct object *object;
	struct file *file;

	if (question->is_once)
		file = file_new(question, fd);
	else if (question->has_file)
		file = file_add(server, question, fd);
	else
		file = table_find(server->files, (uint64_t)question->module + 1);
	if (!file)
		_exit(1);
	object = object_get(server, file);
	if (question->kind == QUESTION_TABLE)
		answer_table(object, socket);
	else
		send(socket, &server->answer, find_answer(server, object, question), MSG_NOSIGNAL);
	if (question->is_once)
		file_free(file);
	else
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
	unmap_inherited();
	limit_resources();
	prctl(PR_SET_NAME, "pinch-symbols");
	server = xcalloc(1, sizeof(*server));
	server->files = table_new();
	server->own_bytes_max = own_bytes_max;
	server->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	server->first = memory_used(server);
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
		if (in.question.kind == QUESTION_TABLE)
			set_deadline(TABLE_SECONDS_MAX, TABLE_CPU_SECONDS_MAX);
		else
			set_deadline(ANSWER_SECONDS_MAX, ANSWER_CPU_SECONDS_MAX);
		answer_question(server, &in.question, received_fd(&message), SOCKET);
		set_deadline(0, 0);
	}
}
