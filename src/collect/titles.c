/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/titles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/opener.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum {
	PROCESSES_MAX = 1024,
	AT_ONCE = 16, /* a read takes some 50 us */
};

/* A process that was just created has the title of its parent, and a server gives itself one soon. */
static const uint64_t settle_ns = 100000000;

struct process {
	uint32_t pid, thread; /* its first thread's number */
	uint64_t due_ns;      /* UINT64_MAX: not before the end */
	struct ev_thread_title said;
};

struct titles {
	struct session *session;
	struct symbols *symbols;
	struct table *processes; /* by pid + 1; owns them */
	size_t due_count;        /* at most */
};

static void expect(struct titles *titles, uint32_t pid, uint32_t thread, uint64_t due_ns)
{
	struct process *process = table_find(titles->processes, (uint64_t)pid + 1);

	if (!process && table_count(titles->processes) >= PROCESSES_MAX)
		return;
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		process->due_ns = UINT64_MAX;
		table_put(titles->processes, (uint64_t)pid + 1, process);
	}
	titles->due_count += process->due_ns == UINT64_MAX;
	process->thread = thread;
	process->due_ns = due_ns;
}

static void on_born(void *data, const struct ev_header *header)
{
	const struct ev_thread_born *e = (const struct ev_thread_born *)header;

	if (thread_is_traced(header->thread) && e->tid == e->pid)
		expect(data, e->pid, header->thread, clock_ns() + settle_ns);
}

/* Recorded again in every list of threads. */
static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;
	struct titles *titles = data;
	const struct process *process = table_find(titles->processes, (uint64_t)e->pid + 1);

	if (thread_is_traced(header->thread) && e->tid == e->pid && !(process && process->thread == header->thread))
		expect(titles, e->pid, header->thread, clock_ns());
}

static void on_exec(void *data, const struct ev_header *header)
{
	if (thread_is_traced(header->thread))
		expect(data, ((const struct ev_thread_exec *)header)->tid, header->thread, clock_ns() + settle_ns);
}

static void forget(struct titles *titles, uint32_t pid)
{
	struct process *process = table_take(titles->processes, (uint64_t)pid + 1);

	if (process)
		titles->due_count -= process->due_ns != UINT64_MAX;
	free(process);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exit *)header)->pid);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ EV_THREAD_EXEC, on_exec },
	{ EV_SPACE_EXIT, on_exit_of },
	{ 0 },
};

struct titles *titles_new(struct session *session, struct symbols *symbols)
{
	struct titles *titles = xcalloc(1, sizeof(*titles));

	titles->session = session;
	titles->symbols = symbols;
	titles->processes = table_new();
	session_subscribe(session, handlers, titles);
	return titles;
}

void titles_free(struct titles *titles)
{
	struct process *process;
	size_t cursor = 0;

	if (!titles)
		return;
	while ((process = table_next(titles->processes, &cursor)))
		free(process);
	table_free(titles->processes);
	free(titles);
}

/* One string with several words, which no command line is that the kernel has set up. */
static void fill_title(struct ev_thread_title *e, const char *line)
{
	if (!strchr(line, '\n') && strpbrk(line, " :"))
		memcpy(e->title, line, strnlen(line, sizeof(e->title) - 1));
}

/*
 * Its name comes from the path that was executed, through links, and so does the first word of its command line, as a
 * rule: where both agree, a program runs under that name.
 */
static void fill_program(struct ev_thread_title *e, const struct process_words *words)
{
	size_t length = strcspn(words->line, " \n");
	const char *slash, *file = strrchr(words->path, '/');
	char first[sizeof(e->program)] = { 0 }, cut[sizeof(words->name)];

	slash = memrchr(words->line, '/', length);
	length -= slash ? slash + 1 - words->line : 0;
	slash = slash ? slash + 1 : words->line;
	length -= length && slash[length - 1] == ':';
	if (!length || length >= sizeof(first) || !file || strlen(file + 1) >= sizeof(e->file))
		return;
	memcpy(first, slash, length);
	/* The kernel cuts names. */
	snprintf(cut, sizeof(cut), "%s", first);
	if (strcmp(cut, words->name) || !strcmp(first, file + 1))
		return;
	memcpy(e->program, first, sizeof(first));
	memcpy(e->file, file + 1, strlen(file + 1));
}

/* What is read is an event like others; the same again is none. False: the process has ended. */
static bool read_title(struct titles *titles, struct process *process)
{
	struct ev_thread_title e = {
		.header = { .time_ns = session_time_ns(titles->session),
			    .thread = process->thread,
			    .subsys = TRACE_SUBSYS_THREAD,
			    .event = TRACE_EVENT_THREAD_TITLE },
		.pid = process->pid,
	};
	const size_t begin = offsetof(struct ev_thread_title, title);
	struct process_words words;

	titles->due_count -= process->due_ns != UINT64_MAX;
	process->due_ns = UINT64_MAX;
	if (symbols_read_words(titles->symbols, process->pid, &words))
		return false;
	fill_title(&e, words.line);
	fill_program(&e, &words);
	if (memcmp((char *)&e + begin, (char *)&process->said + begin, sizeof(e) - begin)) {
		process->said = e;
		session_hand_out(titles->session, &e.header);
	}
	return true;
}

/* Of those that are due at a time; which they are may change while one is read. */
static void read_due(struct titles *titles, uint64_t due_ns, size_t count_max)
{
	uint32_t pids[PROCESSES_MAX];
	const struct process *found;
	size_t cursor = 0, count = 0;

	while (count < count_max && (found = table_next(titles->processes, &cursor)))
		if (found->due_ns <= due_ns)
			pids[count++] = found->pid;
	for (size_t i = 0; i < count; i++) {
		struct process *process = table_find(titles->processes, (uint64_t)pids[i] + 1);

		if (process && !read_title(titles, process))
			forget(titles, pids[i]);
	}
}

void titles_step(struct titles *titles)
{
	if (titles->due_count)
		read_due(titles, clock_ns(), AT_ONCE);
}

void titles_finish(struct titles *titles)
{
	read_due(titles, UINT64_MAX, PROCESSES_MAX);
}
