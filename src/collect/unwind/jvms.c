/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/jvms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "collect/unwind/unwinder.h"
#include "session/session.h"
#include "symbol/answer/answer.h"
#include "symbol/symbol.h"

enum {
	MACHINES_MAX = 1024,
	READINGS_MAX = 12,
	UNKNOWN_MIN = 8, /* readings of one that is not known at its end: others may just have begun */
};

/* A machine makes its heaps of code some 10 ms after it has mapped its library; on a busy machine or a slow disk, seconds. */
static const uint64_t wait_ns_first = 2000000;

struct machine {
	uint32_t pid;
	uint32_t reading_count;
	uint64_t due_ns; /* UINT64_MAX: not any more */
	bool is_asked;   /* there is no answer yet */
	bool is_unknown; /* as of the last answer, long after its beginning */
};

struct jvms {
	struct symbols *symbols;
	struct unwinder *unwinder;
	struct table *machines; /* by pid + 1; owns them */
};

static void expect(struct jvms *jvms, uint32_t pid, const char *path)
{
	struct machine *machine;

	if (!strstr(path, "/libjvm.so") || table_find(jvms->machines, (uint64_t)pid + 1) ||
	    table_count(jvms->machines) >= MACHINES_MAX)
		return;
	machine = xcalloc(1, sizeof(*machine));
	machine->pid = pid;
	table_put(jvms->machines, (uint64_t)pid + 1, machine);
}

static void on_map(void *data, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;

	expect(data, e->pid, e->path);
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_space_found *e = (const struct ev_space_found *)header;

	expect(data, e->pid, e->path);
}

static void note_unknown(struct jvms *jvms, struct machine *machine)
{
	if (machine->is_unknown)
		symbols_note_jvm(jvms->symbols, machine->pid, 0);
	machine->is_unknown = false;
}

static void forget(struct jvms *jvms, uint32_t pid)
{
	struct machine *machine = table_take(jvms->machines, (uint64_t)pid + 1);

	if (machine)
		note_unknown(jvms, machine);
	free(machine);
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
	{ EV_SPACE_MAP, on_map },
	{ EV_SPACE_FOUND, on_found },
	{ EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_EXIT, on_exit_of },
	{ 0 },
};

struct jvms *jvms_new(struct session *session, struct symbols *symbols, struct unwinder *unwinder)
{
	struct jvms *jvms = xcalloc(1, sizeof(*jvms));

	jvms->symbols = symbols;
	jvms->unwinder = unwinder;
	jvms->machines = table_new();
	session_subscribe(session, handlers, jvms);
	return jvms;
}

void jvms_free(struct jvms *jvms)
{
	struct machine *machine;
	size_t cursor = 0;

	if (!jvms)
		return;
	while ((machine = table_next(jvms->machines, &cursor)))
		free(machine);
	table_free(jvms->machines);
	free(jvms);
}

/* --- Readings -------------------------------------------------------------------------------- */

static void on_read(void *data, uint32_t pid, int err, const struct jvm_answer *answer)
{
	struct jvms *jvms = data;
	struct machine *machine = table_find(jvms->machines, (uint64_t)pid + 1);

	if (!machine || !machine->is_asked)
		return;
	machine->is_asked = false;
	machine->due_ns = UINT64_MAX;
	if (!err && answer->result == JVM_READ) {
		unwinder_set_jvm(jvms->unwinder, pid, &answer->process);
		return;
	}
	/*
	 * At its beginning its memory is not all there, and at its end not any more. What it says of itself reads as
	 * that of an unknown one as long as the loader has set only some of its addresses.
	 */
	machine->reading_count++;
	machine->is_unknown = !err && answer->result == JVM_UNKNOWN && machine->reading_count >= UNKNOWN_MIN;
	if (err)
		symbols_note_jvm(jvms->symbols, pid, err);
	else if (machine->reading_count < READINGS_MAX)
		machine->due_ns = clock_ns() + (wait_ns_first << machine->reading_count);
}

void jvms_finish(struct jvms *jvms)
{
	struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(jvms->machines, &cursor)))
		note_unknown(jvms, machine);
}

struct search {
	const struct symbols *symbols;
	struct symbol_mapping library; /* no module: it was not found */
};

static void look_at(void *data, const struct symbol_mapping *mapping)
{
	struct search *search = data;

	if (!search->library.module && symbols_is_jvm(search->symbols, mapping->module))
		search->library = *mapping;
}

static void ask(struct jvms *jvms, struct machine *machine)
{
	struct search search = { .symbols = jvms->symbols };

	symbols_each_mapping(jvms->symbols, machine->pid, look_at, &search);
	machine->due_ns = UINT64_MAX;
	machine->is_asked =
		search.library.module && !symbols_read_jvm(jvms->symbols, machine->pid, &search.library, on_read, jvms);
}

void jvms_step(struct jvms *jvms)
{
	uint64_t now = clock_ns();
	struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(jvms->machines, &cursor)))
		if (!machine->is_asked && machine->due_ns <= now)
			ask(jvms, machine);
}

int jvms_wait_ms(const struct jvms *jvms)
{
	uint64_t now = clock_ns(), next_ns = UINT64_MAX;
	const struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(jvms->machines, &cursor)))
		if (!machine->is_asked && machine->due_ns < next_ns)
			next_ns = machine->due_ns;
	if (next_ns == UINT64_MAX)
		return -1;
	return next_ns <= now ? 1 : (next_ns - now) / 1000000 + 1;
}
