/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java_maps.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/java/attacher.h"
#include "helper/message.h"
#include "helper/pair.h"
#include "helper/spawner.h"
#include "session/session.h"
#include "symbol/jit_names.h"
#include "symbol/mapped_files.h"
#include "symbol/names/notes.h"
#include "symbol/space/space.h"

enum { MACHINES_MAX = 64, PAUSE_MS = 20 };

/* A machine that begins to run catches signals some 50 ms after it has mapped its library. */
static const uint64_t start_ns = 20000000, again_ns = 1000000000;

struct machine {
	uint32_t pid;
	uint64_t due_ns;      /* to be asked; UINT64_MAX: not any more */
	uint64_t interval_ns; /* until it is asked once more */
	bool is_asked;        /* there is no answer yet */
	bool has_answered;
	uint32_t result; /* the last one */
};

struct java_maps {
	struct mapped_files *files;
	struct notes *notes;
	int socket;             /* -1: nobody can be asked any more */
	struct table *machines; /* by pid + 1; owns them */
	bool has_too_many;
};

/* What there is to say and do about each of enum java_result; NULL: nothing. */
static const char *const sentences[JAVA_RESULTS] = {
	[JAVA_DEAF] =
		"the JVM of process %u cannot be asked for names: it does not listen to SIGQUIT; start it without -Xrs",
	[JAVA_DISABLED] =
		"the JVM of process %u cannot be asked for names: start it without -XX:+DisableAttachMechanism",
	[JAVA_USER] = "the JVM of process %u is another user's: run pinch as root, or as that user, for --java-map",
	[JAVA_DIRECTORY] = "the JVM of process %u cannot be asked for names: nothing can be written to its /tmp",
	[JAVA_SILENT] = "the JVM of process %u did not write its names in 3 s: names of Java code may be missing",
	[JAVA_OLD] = "the JVM of process %u cannot write names: Compiler.perfmap takes Java 17 or newer",
	[JAVA_REFUSED] = "the JVM of process %u refused to write its names: try jcmd %u Compiler.perfmap",
};

static bool is_jvm(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash, "/libjvm.so", strlen("/libjvm.so"));
}

static void add(struct java_maps *maps, uint32_t pid)
{
	struct machine *machine = table_find(maps->machines, (uint64_t)pid + 1);

	if (machine)
		return;
	if (table_count(maps->machines) >= MACHINES_MAX) {
		if (!maps->has_too_many)
			notes_add(maps->notes, "only the first %u JVMs are asked for names", MACHINES_MAX);
		maps->has_too_many = true;
		return;
	}
	machine = xcalloc(1, sizeof(*machine));
	machine->pid = pid;
	machine->interval_ns = start_ns;
	table_put(maps->machines, (uint64_t)pid + 1, machine);
}

static void on_mapped(void *data, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;

	if (is_jvm(e->path))
		add(data, e->pid);
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_space_found *e = (const struct ev_space_found *)header;

	if (is_jvm(e->path))
		add(data, e->pid);
}

static void forget(struct java_maps *maps, uint32_t pid)
{
	free(table_take(maps->machines, (uint64_t)pid + 1));
}

static void on_exec(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exec *)header)->pid);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exit *)header)->pid);
}

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_mapped },
	{ EV_SPACE_FOUND, on_found },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_EXIT, on_exit_of },
	{ 0 },
};

struct java_maps *java_maps_new(struct session *session, struct helper_pair *helpers, struct mapped_files *files,
				struct notes *notes)
{
	struct java_maps *maps;
	int socket;

	if (helper_pair_start_attacher(helpers, &socket)) {
		notes_add(notes, "no JVM could be asked for names: the process that does it could not be started");
		return NULL;
	}
	maps = xcalloc(1, sizeof(*maps));
	maps->files = files;
	maps->notes = notes;
	maps->socket = socket;
	maps->machines = table_new();
	session_subscribe(session, handlers, maps);
	return maps;
}

void java_maps_free(struct java_maps *maps)
{
	struct machine *machine;
	size_t cursor = 0;

	if (!maps)
		return;
	while ((machine = table_next(maps->machines, &cursor)))
		free(machine);
	table_free(maps->machines);
	if (maps->socket >= 0)
		close(maps->socket);
	free(maps);
}

/* --- Answers -------------------------------------------------------------------------------- */

static void note(struct java_maps *maps, struct machine *machine)
{
	const char *sentence = sentences[machine->result];

	if (sentence)
		notes_add(maps->notes, sentence, machine->pid, machine->pid);
}

/* Who is not ready may become so; who cannot be asked at all is left alone. */
static void on_answer(struct java_maps *maps, const struct java_answer *answer)
{
	struct machine *machine = table_find(maps->machines, (uint64_t)answer->pid + 1);

	if (!machine || !machine->is_asked || answer->result >= JAVA_RESULTS)
		return;
	machine->is_asked = false;
	machine->result = answer->result;
	machine->due_ns = UINT64_MAX;
	switch (answer->result) {
	case JAVA_WRITTEN:
		mapped_files_renew_jit(maps->files, machine->pid);
		machine->interval_ns = machine->has_answered ? 2 * machine->interval_ns : again_ns;
		machine->has_answered = true;
		machine->due_ns = clock_ns() + machine->interval_ns;
		break;
	case JAVA_DEAF:
		machine->due_ns = clock_ns() + machine->interval_ns;
		machine->interval_ns *= 2;
		break;
	default:
		note(maps, machine);
	}
}

static void give_up(struct java_maps *maps)
{
	notes_add(maps->notes, "no JVM is asked for names any more: the process that does it has ended");
	close(maps->socket);
	maps->socket = -1;
}

static void take_answers(struct java_maps *maps)
{
	struct java_answer answer;
	struct iovec part = { &answer, sizeof(answer) };
	ssize_t n = 1;
	int fd;

	while (maps->socket >= 0 && n > 0) {
		n = message_receive(maps->socket, &part, 1, &fd, false);
		if (n == sizeof(answer))
			on_answer(maps, &answer);
		else if (n != -EAGAIN)
			give_up(maps);
	}
}

/* --- Questions ------------------------------------------------------------------------------- */

static void ask(struct java_maps *maps, struct machine *machine)
{
	struct iovec part = { &machine->pid, sizeof(machine->pid) };

	machine->is_asked = maps->socket >= 0 && !message_send(maps->socket, &part, 1, -1, false);
}

static void ask_due(struct java_maps *maps, uint64_t now_ns)
{
	struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(maps->machines, &cursor)))
		if (!machine->is_asked && machine->due_ns <= now_ns)
			ask(maps, machine);
}

void java_maps_step(struct java_maps *maps)
{
	if (!maps)
		return;
	take_answers(maps);
	ask_due(maps, clock_ns());
}

static bool has_open(const struct java_maps *maps)
{
	const struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(maps->machines, &cursor)))
		if (machine->is_asked)
			return maps->socket >= 0;
	return false;
}

static void await_answers(struct java_maps *maps, uint64_t end_ns)
{
	struct pollfd ready = { .events = POLLIN };

	take_answers(maps);
	while (has_open(maps) && clock_ns() < end_ns) {
		ready.fd = maps->socket;
		poll(&ready, 1, PAUSE_MS);
		take_answers(maps);
	}
}

void java_maps_finish(struct java_maps *maps, uint64_t limit_ns)
{
	uint64_t end_ns = clock_ns() + limit_ns;
	struct machine *machine;
	size_t cursor = 0;

	if (!maps)
		return;
	/* An answer that is under way is of an earlier time. */
	await_answers(maps, end_ns);
	while ((machine = table_next(maps->machines, &cursor)))
		if (!machine->is_asked && (machine->has_answered || machine->due_ns != UINT64_MAX))
			ask(maps, machine);
	await_answers(maps, end_ns);
	cursor = 0;
	while ((machine = table_next(maps->machines, &cursor))) {
		if (machine->is_asked)
			machine->result = JAVA_SILENT;
		if (machine->is_asked || machine->result == JAVA_DEAF)
			note(maps, machine);
		machine->is_asked = false;
		machine->due_ns = UINT64_MAX;
	}
}
