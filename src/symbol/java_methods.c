/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java_methods.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "session/session.h"
#include "session/threads.h"
#include "symbol/answer/answer.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/worker/worker.h"
#include "values.h"

enum { CODES_MAX = 65536, MACHINES_MAX = 1024, CODES_BYTES_MAX = 64 << 20, WANTED_MAX = 65536 };

/* The machine may put another method there: what was seen is read again after that time. */
static const uint64_t look_again_ns = 1000000000ull;

/* Code, and what had its address before. */
struct code {
	struct code *next; /* of the same hash, later ones first */
	uint32_t space;
	uint32_t size_bytes; /* of the answer; 0: there is none */
	uint64_t address;
	uint64_t from_ns, seen_ns;
	const struct answer *answer;
};

/* A process that runs generated code. */
struct machine {
	uint32_t pid;
	const struct module *library; /* of its machine; NULL: it has not mapped one */
	uint64_t due_ns;              /* when that is looked for */
	struct jvm_place place;
	bool is_unreadable;
};

/* Code that a stack or a sample has shown. */
struct wanted {
	uint32_t pid, space;
	uint64_t address, time_ns;
};

struct java_methods {
	struct session *session;
	struct spaces *spaces;
	struct modules *modules;
	struct worker *worker;
	struct threads *threads;
	struct arena *arena;
	struct table *codes;    /* by hash */
	struct table *named;    /* by space + 1: those that have names */
	struct table *machines; /* by process + 1; owns them */
	size_t count, bytes_left;
	struct wanted *wanted; /* the latest last, which are asked for first: their processes live most likely */
	size_t wanted_count, wanted_capacity;
};

struct java_methods *java_methods_new(struct session *session, struct spaces *spaces, struct modules *modules,
				      struct worker *worker)
{
	struct java_methods *methods = xcalloc(1, sizeof(*methods));

	methods->session = session;
	methods->spaces = spaces;
	methods->modules = modules;
	methods->worker = worker;
	methods->arena = arena_new();
	methods->codes = table_new();
	methods->named = table_new();
	methods->machines = table_new();
	methods->bytes_left = CODES_BYTES_MAX;
	return methods;
}

void java_methods_free(struct java_methods *methods)
{
	struct machine *machine;
	size_t cursor = 0;

	if (!methods)
		return;
	while ((machine = table_next(methods->machines, &cursor)))
		free(machine);
	free(methods->wanted);
	arena_free(methods->arena);
	table_free(methods->codes);
	table_free(methods->named);
	table_free(methods->machines);
	free(methods);
}

/* --- What is known --------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t space, uint64_t address)
{
	return hash_u64(address ^ hash_u64(space));
}

/* The latest at an address. */
static struct code *code_find(const struct java_methods *methods, uint32_t space, uint64_t address)
{
	struct code *code = table_find(methods->codes, key_of(space, address));

	while (code && (code->space != space || code->address != address))
		code = code->next;
	return code;
}

bool java_methods_is_interpreted(uint64_t frame)
{
	return frame & STACK_FRAME_MANAGED && (frame & STACK_MANAGED_INDEX) == STACK_MANAGED_JAVA;
}

uint64_t java_methods_address(uint64_t frame)
{
	return java_methods_is_interpreted(frame) ? (frame & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT : frame;
}

bool java_methods_has(const struct java_methods *methods, uint32_t space)
{
	return table_find(methods->named, (uint64_t)space + 1);
}

const struct answer *java_methods_find(const struct java_methods *methods, uint32_t space, uint64_t time_ns,
				       uint64_t address, size_t *size_bytes)
{
	const struct code *code = NULL, *other = code_find(methods, space, address);

	/* What is asked about a time before the first one gets the first. */
	for (; other; other = other->next) {
		if (other->space != space || other->address != address || !other->size_bytes)
			continue;
		code = other;
		if (code->from_ns <= time_ns)
			break;
	}
	if (!code)
		return NULL;
	*size_bytes = code->size_bytes;
	return code->answer;
}

static size_t bytes_of(const struct answer *answer)
{
	return offsetof(struct answer, text) + answer->text_bytes;
}

static bool is_same(const struct code *code, const struct answer *answer)
{
	return code->size_bytes == bytes_of(answer) && !memcmp(code->answer, answer, code->size_bytes);
}

/* What the code is; there may be no space for it. */
static void code_name(struct java_methods *methods, struct code *code, const struct answer *answer)
{
	size_t size_bytes = bytes_of(answer);

	if (size_bytes > methods->bytes_left)
		return;
	methods->bytes_left -= size_bytes;
	code->answer = memcpy(arena_alloc(methods->arena, size_bytes), answer, size_bytes);
	code->size_bytes = size_bytes;
	table_put(methods->named, (uint64_t)code->space + 1, methods);
}

/* NULL: there are too many. */
static struct code *code_add(struct java_methods *methods, uint32_t space, uint64_t address, uint64_t time_ns)
{
	struct code *code;

	if (methods->count >= CODES_MAX)
		return NULL;
	methods->count++;
	code = arena_alloc(methods->arena, sizeof(*code));
	*code = (struct code){
		.next = table_find(methods->codes, key_of(space, address)),
		.space = space,
		.address = address,
		.from_ns = time_ns,
		.seen_ns = time_ns,
	};
	table_put(methods->codes, key_of(space, address), code);
	return code;
}

/* --- Reading --------------------------------------------------------------------------------- */

static void forget(struct java_methods *methods, uint32_t pid)
{
	free(table_take(methods->machines, (uint64_t)pid + 1));
}

static void on_exec(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exec *)header)->pid);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	forget(data, ((const struct ev_space_exit *)header)->pid);
}

struct search {
	const struct java_methods *methods;
	struct machine *machine;
};

static void look_at(void *data, const struct mapping *mapping)
{
	const struct search *search = data;
	const struct module *module = modules_at(search->methods->modules, mapping->module);
	struct machine *machine = search->machine;

	if (machine->library || !module || module->kind != MODULE_FILE ||
	    strncmp(module->name, "libjvm.so", strlen("libjvm.so")))
		return;
	machine->library = module;
	machine->place = (struct jvm_place){ machine->pid, mapping->start, mapping->file_offset };
}

/* The machine of a process that runs generated code; NULL: it is none that can be read. */
static struct machine *find_machine(struct java_methods *methods, uint32_t pid, uint64_t time_ns)
{
	struct machine *machine = table_find(methods->machines, (uint64_t)pid + 1);

	if (!machine && table_count(methods->machines) >= MACHINES_MAX)
		return NULL;
	if (!machine) {
		machine = xcalloc(1, sizeof(*machine));
		machine->pid = pid;
		table_put(methods->machines, (uint64_t)pid + 1, machine);
	}
	/* A process loads its libraries, and then generates code; other runtimes have another one. */
	if (!machine->library && time_ns >= machine->due_ns) {
		spaces_each(methods->spaces, pid, look_at, &(struct search){ methods, machine });
		machine->due_ns = time_ns + look_again_ns;
	}
	return machine->library && !machine->is_unreadable && !module_has_failed(machine->library) ? machine : NULL;
}

/* Whether it may be code that a machine made: not that of a file. */
static bool is_generated(const struct java_methods *methods, uint32_t pid, uint64_t address, uint32_t *space)
{
	const struct module *module;
	struct space_hit hit;

	if (!spaces_find(methods->spaces, pid, UINT64_MAX, address, &hit))
		return false;
	*space = hit.space;
	module = hit.is_mapped ? modules_at(methods->modules, hit.mapping.module) : NULL;
	return !module || module->kind == MODULE_JIT;
}

/* It is asked for when there is time: java_methods_step(). */
static void look(struct java_methods *methods, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	bool is_interpreted = java_methods_is_interpreted(address);
	struct code *code;
	uint32_t space;

	if (!address || (address & STACK_FRAME_MANAGED && !is_interpreted) ||
	    !is_generated(methods, pid, java_methods_address(address), &space))
		return;
	code = code_find(methods, space, address);
	if ((code && time_ns < code->seen_ns + look_again_ns) || methods->wanted_count >= WANTED_MAX ||
	    !find_machine(methods, pid, time_ns))
		return;
	if (!code)
		code = code_add(methods, space, address, time_ns);
	if (!code)
		return;
	code->seen_ns = time_ns;
	ARRAY_GROW(methods->wanted, methods->wanted_count, methods->wanted_capacity, 256);
	methods->wanted[methods->wanted_count++] = (struct wanted){ pid, space, address, time_ns };
}

static void take(struct java_methods *methods, const struct wanted *wanted, const struct answer *answer)
{
	struct code *code = code_find(methods, wanted->space, wanted->address);

	if (!code || !answer->frame_count || is_same(code, answer))
		return;
	if (code->size_bytes)
		code = code_add(methods, wanted->space, wanted->address, wanted->time_ns);
	if (code)
		code_name(methods, code, answer);
}

static void ask(struct java_methods *methods, const struct wanted *wanted)
{
	bool is_interpreted = java_methods_is_interpreted(wanted->address);
	uint64_t place = java_methods_address(wanted->address);
	struct machine *machine = find_machine(methods, wanted->pid, wanted->time_ns);
	const struct answer *answer;
	uint32_t space;
	int err;

	/* Another program may run in the process since. */
	if (!machine || !is_generated(methods, wanted->pid, place, &space) || space != wanted->space)
		return;
	err = worker_ask_methods(methods->worker, machine->library, &machine->place, place, is_interpreted, &answer);
	if (err == -ETIMEDOUT || err == -ECHILD || err == -EDQUOT || err == -EACCES)
		machine->is_unreadable = true;
	if (!err)
		take(methods, wanted, answer);
}

void java_methods_step(struct java_methods *methods, uint64_t limit_ns)
{
	uint64_t begin_ns = methods->wanted_count ? clock_ns() : 0;

	while (methods->wanted_count && clock_ns() - begin_ns < limit_ns)
		ask(methods, &methods->wanted[--methods->wanted_count]);
}

static void on_frames(void *data, const struct ev_header *header)
{
	const struct ev_stack_frames *e = (const struct ev_stack_frames *)header;
	struct java_methods *methods = data;

	for (size_t i = 0; header->thread && i < e->user_count; i++)
		look(methods, threads_get(methods->threads, header->thread)->pid, header->time_ns,
		     e->frames[e->kernel_count + i]);
}

static void on_sample(void *data, const struct ev_header *header)
{
	const struct ev_sched_sample *e = (const struct ev_sched_sample *)header;
	struct java_methods *methods = data;

	if (header->thread)
		look(methods, threads_get(methods->threads, header->thread)->pid, header->time_ns, e->ip);
}

void java_methods_follow(struct java_methods *methods, struct threads *threads)
{
	static const struct event_handler handlers[] = {
		{ EV_SPACE_EXEC, on_exec },
		{ EV_SPACE_EXIT, on_exit_of },
		{ EV_STACK_FRAMES, on_frames },
		{ EV_SCHED_SAMPLE, on_sample },
		{ 0 },
	};

	methods->threads = threads;
	session_subscribe(methods->session, handlers, methods);
}
