/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pause.h"
#include "symbol/answer_book.h"
#include "symbol/worker_message.h"

enum {
	DEATHS_MAX = 24,	/* then names are given up: something is wrong on this machine */
	ANSWER_SECONDS_MAX = 90,	/* the worker's own limit is lower */
	AHEAD_MAX = 16,		/* questions: all fit into the socket, whatever the worker does */
	PAUSE_MS = 10,
	PRIORITY_MORE = -10,	/* there is who waits for it; as nice(2) has it */
};

struct worker {
	pid_t pid;		/* 0: not running */
	int socket;
	int priority;		/* whatever we have when a later one starts */
	unsigned int death_count;
	uint64_t memory_bytes;	/* peak of the processes that ended */
	bool *is_known;		/* by module number: the present process has its file */
	size_t known_room;
	union {
		struct answer place;
		struct variable_answer variable;
		struct segments_answer segments;
		struct code_answer code;
		struct function_answer function;
		struct symbol_functions functions;
		struct sources_answer sources;
	} answer;
	size_t answer_bytes;
	struct pause *pause;	/* NULL: none */
	struct answer_book *book;	/* NULL: none */
	struct answer_book *ahead;	/* what was asked ahead, if there is no book; NULL: nothing */
	bool is_book_alone;
};

static int start(struct worker *worker)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS_MAX };
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	if (!pid) {
		setpriority(PRIO_PROCESS, 0, worker->priority);
		worker_serve(sockets[1]);
	}
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return -EAGAIN;
	}
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	worker->pid = pid;
	worker->socket = sockets[0];
	if (worker->known_room)
		memset(worker->is_known, 0, worker->known_room * sizeof(*worker->is_known));
	return 0;
}

static void stop(struct worker *worker)
{
	struct rusage usage;
	pid_t pid;

	if (!worker->pid)
		return;
	close(worker->socket);
	kill(worker->pid, SIGKILL);
	/* Another part of the tool may wait for any child, and have been first. */
	do
		pid = wait4(worker->pid, NULL, 0, &usage);
	while (pid < 0 && errno == EINTR);
	if (pid == worker->pid && (uint64_t)usage.ru_maxrss * 1024 > worker->memory_bytes)
		worker->memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
	worker->pid = 0;
}

struct worker *worker_new(void)
{
	struct worker *worker = xcalloc(1, sizeof(*worker));

	worker->priority = getpriority(PRIO_PROCESS, 0) + PRIORITY_MORE;
	/* Early: what a child shares with us counts as its memory too. */
	start(worker);
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	stop(worker);
	answer_book_free(worker->ahead);
	free(worker->is_known);
	free(worker);
}

void worker_set_pause(struct worker *worker, struct pause *pause)
{
	worker->pause = pause;
}

void worker_use_book(struct worker *worker, struct answer_book *book, bool is_alone)
{
	worker->book = book;
	worker->is_book_alone = is_alone;
	if (is_alone)
		stop(worker);
}

/* Until there is an answer, or the worker has had all the time that it gets. */
static void wait_answer(struct worker *worker)
{
	struct pollfd poll_fd = { .fd = worker->socket, .events = POLLIN };

	pause_take_if_due(worker->pause);
	for (int i = 0; i < ANSWER_SECONDS_MAX * 1000 / PAUSE_MS; i++) {
		if (poll(&poll_fd, 1, PAUSE_MS) > 0)
			return;
		pause_take(worker->pause);
	}
}

uint64_t worker_memory_bytes(const struct worker *worker)
{
	unsigned long long kilobytes = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", worker->pid);
	file = worker->pid ? fopen(path, "re") : NULL;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024 > worker->memory_bytes ? kilobytes * 1024 : worker->memory_bytes;
}

static bool *known_get(struct worker *worker, uint32_t module)
{
	if (module >= worker->known_room) {
		size_t room = (size_t)module * 2 + 64;

		worker->is_known = xrealloc(worker->is_known, room, sizeof(*worker->is_known));
		memset(worker->is_known + worker->known_room, 0,
		       (room - worker->known_room) * sizeof(*worker->is_known));
		worker->known_room = room;
	}
	return &worker->is_known[module];
}

static int send_question(struct worker *worker, const struct question *question, const char *path,
			 int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec parts[2] = {
		{ (void *)question, sizeof(*question) }, { (void *)path, strlen(path) + 1 },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = question->has_file ? 2 : 1 };
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(worker->socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* It has read hostile files, and a book comes from a trace: answers are input. */
static bool is_answer_valid(const struct worker *worker, enum question_kind kind)
{
	size_t size_bytes = worker->answer_bytes;

	switch (kind) {
	case QUESTION_PLACE:
		return answer_is_valid(&worker->answer.place, size_bytes);
	case QUESTION_VARIABLE:
		return variable_answer_is_valid(&worker->answer.variable, size_bytes);
	case QUESTION_SEGMENTS:
		return segments_answer_is_valid(&worker->answer.segments, size_bytes);
	case QUESTION_CODE:
		return code_answer_is_valid(&worker->answer.code, size_bytes);
	case QUESTION_FUNCTION:
		return function_answer_is_valid(&worker->answer.function, size_bytes);
	case QUESTION_FUNCTIONS:
		return symbol_functions_are_valid(&worker->answer.functions, size_bytes);
	case QUESTION_SOURCES:
		return sources_answer_is_valid(&worker->answer.sources, size_bytes);
	case QUESTION_TABLE:
		break;
	}
	return false;
}

static int receive_answer(struct worker *worker, enum question_kind kind)
{
	ssize_t n;

	if (worker->pause)
		wait_answer(worker);
	do
		n = recv(worker->socket, &worker->answer, sizeof(worker->answer), 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ECHILD;
	worker->answer_bytes = n;
	return is_answer_valid(worker, kind) ? 0 : -ECHILD;
}

/* Where a book has the answer; 0: not at all. */
static enum book_kind book_kind_of(const struct question *question)
{
	switch (question->kind) {
	case QUESTION_PLACE:
		return question->wants_debug ? BOOK_PLACE : BOOK_PLACE_BY_SYMBOLS;
	case QUESTION_VARIABLE:
		return BOOK_VARIABLE;
	case QUESTION_SEGMENTS:
		return BOOK_SEGMENTS;
	case QUESTION_CODE:
		return BOOK_CODE;
	}
	return 0;
}

static uint64_t book_place_of(const struct question *question)
{
	return question->file_offset | (uint64_t)question->size_bytes << BOOK_CODE_SIZE_SHIFT;
}

static struct answer_book *known_answers(const struct worker *worker)
{
	return worker->book ? worker->book : worker->ahead;
}

/* What was asked ahead is for this process alone, in which modules have numbers. */
static uint64_t owner_of(const struct worker *worker, const struct module *module)
{
	return worker->book ? module_owner(module) : module->number;
}

static const void *find_entry(const struct worker *worker, const struct module *module,
			      enum book_kind kind, uint64_t place, size_t *size_bytes)
{
	const void *content = answer_book_find(known_answers(worker), kind, owner_of(worker, module),
					       place, size_bytes);

	/* In traces of before. */
	if (!content && worker->is_book_alone)
		content = answer_book_find(worker->book, kind, module_old_owner(module), place,
					   size_bytes);
	return content;
}

static bool find_in_book(struct worker *worker, const struct module *module,
			 const struct question *question)
{
	enum book_kind kind = known_answers(worker) ? book_kind_of(question) : 0;
	const void *content = NULL;
	size_t size_bytes;

	if (kind)
		content = find_entry(worker, module, kind, book_place_of(question), &size_bytes);
	if (!content || size_bytes > sizeof(worker->answer))
		return false;
	memcpy(&worker->answer, content, size_bytes);
	worker->answer_bytes = size_bytes;
	return is_answer_valid(worker, question->kind);
}

static void put_in_book(struct worker *worker, const struct module *module,
			const struct question *question)
{
	enum book_kind kind = book_kind_of(question);

	if (kind)
		answer_book_put(known_answers(worker), kind, owner_of(worker, module),
				book_place_of(question), &worker->answer, worker->answer_bytes);
}

/* Sends the question, with the module's file unless the process has that already. */
static int send_with_file(struct worker *worker, const struct module *module,
			  struct question *question)
{
	bool *is_known = known_get(worker, module->number);
	int fd = -1, err;

	if (!*is_known && module->kind == MODULE_FILE) {
		fd = module->fd >= 0 ? module->fd : module_open(module);
		if (fd < 0)
			return fd;
	}
	question->has_file = !*is_known;
	*is_known = true;
	err = send_question(worker, question, module->path, fd);
	if (fd != module->fd)
		close(fd);
	/* A socket that does not take it has nobody on its other end. */
	return err ? -ECHILD : 0;
}

/* The descriptor that comes with a message, -1 when there is none. */
static int receive_table(struct worker *worker, struct table_answer *answer, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	const struct cmsghdr *header;
	ssize_t n;

	*fd = -1;
	if (worker->pause)
		wait_answer(worker);
	do
		n = recvmsg(worker->socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return n == sizeof(*answer) ? 0 : -ECHILD;
}

/* Makes sure that there is a process. */
static int need_process(struct worker *worker)
{
	if (worker->death_count >= DEATHS_MAX)
		return -ECANCELED;
	if (!worker->pid && start(worker)) {
		worker->death_count++;
		return -ECANCELED;
	}
	return 0;
}

/* Makes sure that there is a process, and sends it the question. */
static int send_to_process(struct worker *worker, const struct module *module,
			   struct question *question)
{
	int err = need_process(worker);

	question->module = module->number;
	question->pid = module->pid;
	question->is_vdso = module->kind == MODULE_VDSO;
	return err ? err : send_with_file(worker, module, question);
}

static void note_death(struct worker *worker)
{
	stop(worker);
	worker->death_count++;
}

static int ask_process(struct worker *worker, const struct module *module,
		       struct question *question)
{
	int err = send_to_process(worker, module, question);

	if (!err)
		err = receive_answer(worker, question->kind);
	if (err == -ECHILD)
		note_death(worker);
	return err;
}

static int ask(struct worker *worker, const struct module *module, struct question *question)
{
	int err;

	if (find_in_book(worker, module, question))
		return 0;
	if (worker->is_book_alone)
		return -ENODATA;
	err = ask_process(worker, module, question);
	if (!err && worker->book)
		put_in_book(worker, module, question);
	return err;
}

/* Of a file that is no module. */
static int ask_file(struct worker *worker, const struct symbol_open_file *file, struct question *question)
{
	int err = worker->is_book_alone ? -ENODATA : need_process(worker);

	question->pid = file->pid;
	question->has_file = question->is_once = true;
	if (!err)
		err = send_question(worker, question, file->path, file->fd) ? -ECHILD : 0;
	if (!err)
		err = receive_answer(worker, question->kind);
	if (err == -ECHILD)
		note_death(worker);
	return err;
}

static struct question as_question(const struct worker_question *wanted)
{
	struct question question = {
		.kind = wanted->kind == WORKER_CODE ? QUESTION_CODE : QUESTION_PLACE,
		.file_offset = wanted->file_offset, .wants_debug = wanted->wants_lines,
		.size_bytes = wanted->size_bytes,
	};

	return question;
}

/* Sends some questions, then takes their answers. Returns false when that is of no use any more. */
static bool ask_some_ahead(struct worker *worker, const struct worker_question *questions,
			   size_t count)
{
	const struct worker_question *sent[AHEAD_MAX];
	size_t sent_count = 0;
	int err = 0;

	for (size_t i = 0; i < count && err != -ECHILD && err != -ECANCELED; i++) {
		struct question question = as_question(&questions[i]);

		if (find_in_book(worker, questions[i].module, &question))
			continue;
		err = send_to_process(worker, questions[i].module, &question);
		if (!err)
			sent[sent_count++] = &questions[i];
	}
	for (size_t i = 0; i < sent_count && err != -ECHILD; i++) {
		struct question question = as_question(sent[i]);

		err = receive_answer(worker, question.kind);
		if (!err)
			put_in_book(worker, sent[i]->module, &question);
	}
	if (err == -ECHILD)
		note_death(worker);
	return err != -ECHILD && err != -ECANCELED;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Where answers take long, one is asked for at a time: that of the next may be worth waiting for less. */
void worker_ask_ahead(struct worker *worker, const struct worker_question *questions, size_t count)
{
	static const uint64_t soon_ns = 10000000, all_ns_max = 10000000000;
	uint64_t begin_ns = now_ns();
	size_t at = 0, some = 1;

	if (worker->is_book_alone)
		return;
	answer_book_free(worker->ahead);
	worker->ahead = worker->book ? NULL : answer_book_new();
	while (at < count && now_ns() - begin_ns < all_ns_max) {
		uint64_t asked_ns = now_ns();

		if (some > count - at)
			some = count - at;
		if (!ask_some_ahead(worker, &questions[at], some))
			return;
		at += some;
		if (now_ns() - asked_ns > soon_ns * some)
			some = 1;
		else if (some < AHEAD_MAX)
			some *= 2;
	}
}

int worker_ask(struct worker *worker, const struct module *module, uint64_t file_offset,
	       bool wants_lines, const struct answer **answer)
{
	struct question question = {
		.kind = QUESTION_PLACE, .file_offset = file_offset, .wants_debug = wants_lines,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->answer.place;
	return err;
}

int worker_ask_variable(struct worker *worker, const struct module *module, uint64_t address,
			bool wants_types, const struct variable_answer **answer)
{
	struct question question = {
		.kind = QUESTION_VARIABLE, .address = address, .wants_debug = wants_types,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->answer.variable;
	return err;
}

int worker_ask_sources(struct worker *worker, const struct module *module,
		       const struct sources_answer **answer)
{
	struct question question = { .kind = QUESTION_SOURCES };
	int err = worker->is_book_alone ? -ENODATA : ask_process(worker, module, &question);

	if (!err)
		*answer = &worker->answer.sources;
	return err;
}

int worker_ask_segments(struct worker *worker, const struct module *module,
			const struct segments_answer **answer)
{
	struct question question = { .kind = QUESTION_SEGMENTS };
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->answer.segments;
	return err;
}

int worker_ask_code(struct worker *worker, const struct module *module, uint64_t file_offset,
		    size_t size_bytes, const struct code_answer **answer)
{
	struct question question = {
		.kind = QUESTION_CODE, .file_offset = file_offset,
		.size_bytes = size_bytes < CODE_BYTES_MAX ? size_bytes : CODE_BYTES_MAX,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->answer.code;
	return err;
}

int worker_ask_function(struct worker *worker, const struct symbol_open_file *file, const char *name,
			uint64_t *file_offset)
{
	struct question question = { .kind = QUESTION_FUNCTION };
	int err;

	snprintf(question.function, sizeof(question.function), "%s", name);
	err = ask_file(worker, file, &question);
	if (err)
		return err;
	if (!worker->answer.function.is_found)
		return -ENOENT;
	*file_offset = worker->answer.function.file_offset;
	return 0;
}

int worker_ask_functions(struct worker *worker, const struct symbol_open_file *file, const char *name,
			 const struct symbol_functions **answer)
{
	struct question question = { .kind = QUESTION_FUNCTIONS };
	int err;

	if (strlen(name) >= sizeof(question.function))
		return -ENOENT;
	strcpy(question.function, name);
	err = ask_file(worker, file, &question);
	if (!err)
		*answer = &worker->answer.functions;
	return err;
}

int worker_ask_table(struct worker *worker, const struct module *module, struct unwind_file *file)
{
	struct question question = { .kind = QUESTION_TABLE };
	int err = send_to_process(worker, module, &question), fd = -1;
	struct table_answer answer;

	if (!err)
		err = receive_table(worker, &answer, &fd);
	if (err == -ECHILD)
		note_death(worker);
	if (!err)
		err = answer.err ? answer.err : unwind_file_read(fd, file);
	if (fd >= 0)
		close(fd);
	return err;
}
