/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/program_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "symbol/names/names.h"

enum { PROGRAMS_MAX = 65536 };

struct program {
	const char *name, *file;
};

struct program_names {
	struct names *names;
	struct table *by_pid; /* +1; owns them */
};

static void forget(struct program_names *programs, uint32_t pid)
{
	free(table_take(programs->by_pid, (uint64_t)pid + 1));
}

static const char *keep(struct program_names *programs, const char *bytes, size_t size_bytes)
{
	char name[sizeof(((struct ev_thread_title *)NULL)->program) + 1] = { 0 };

	memcpy(name, bytes, size_bytes);
	return names_get(programs->names, name);
}

static void on_title(void *data, const struct ev_header *header)
{
	const struct ev_thread_title *e = (const struct ev_thread_title *)header;
	struct program_names *programs = data;
	struct program *program;

	_Static_assert(sizeof(e->program) == sizeof(e->file), "both are kept in the same way");
	forget(programs, e->pid);
	if (!e->program[0] || !e->file[0] || table_count(programs->by_pid) >= PROGRAMS_MAX)
		return;
	program = xcalloc(1, sizeof(*program));
	program->name = keep(programs, e->program, sizeof(e->program));
	program->file = keep(programs, e->file, sizeof(e->file));
	table_put(programs->by_pid, (uint64_t)e->pid + 1, program);
}

static void on_exec(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exec *)header)->pid);
}

/* Another process may get the id. */
static void on_fork(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_fork *)header)->pid);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_TITLE, on_title },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_FORK, on_fork },
	{ 0 },
};

struct program_names *program_names_new(struct session *session, struct names *names)
{
	struct program_names *programs = xcalloc(1, sizeof(*programs));

	programs->names = names;
	programs->by_pid = table_new();
	session_subscribe(session, handlers, programs);
	return programs;
}

void program_names_free(struct program_names *programs)
{
	struct program *program;
	size_t cursor = 0;

	if (!programs)
		return;
	while ((program = table_next(programs->by_pid, &cursor)))
		free(program);
	table_free(programs->by_pid);
	free(programs);
}

const char *program_names_find(const struct program_names *programs, uint32_t pid, const char *file)
{
	const struct program *program = table_find(programs->by_pid, (uint64_t)pid + 1);

	return program && program->name && program->file && file && !strcmp(program->file, file) ? program->name : NULL;
}
