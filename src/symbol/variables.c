/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/variables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"
#include "symbol/answer_cache.h"
#include "symbol/asker.h"
#include "symbol/names/names.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/worker/worker.h"

enum {
	VARIABLES_MAX = 100000, /* remembered; others are asked for each time */
	DISTANCE_BITS = 44,     /* from a file's lowest address to its highest */
	PAGE_BYTES = 4096,
};

/* How a module's file is loaded; its segments in the order of the file. */
struct layout {
	uint64_t base;       /* its lowest address */
	uint32_t hold_count; /* as the module had it then */
	uint32_t count;
	struct segment segments[];
};

struct variable {
	const char *name, *type;
	bool is_whole;
};

struct variables {
	struct worker *worker;
	struct asker *asker;
	const struct spaces *spaces;
	const struct modules *modules;
	struct names *names;
	struct answer_cache *cache; /* NULL: none */
	struct arena *arena;
	struct table *layouts; /* by module */
	struct table *table;   /* struct variable by module and distance from its base */
};

struct variables *variables_new(struct worker *worker, struct asker *asker, const struct spaces *spaces,
				const struct modules *modules, struct names *names)
{
	struct variables *variables = xcalloc(1, sizeof(*variables));

	variables->worker = worker;
	variables->asker = asker;
	variables->spaces = spaces;
	variables->modules = modules;
	variables->names = names;
	variables->arena = arena_new();
	variables->layouts = table_new();
	variables->table = table_new();
	return variables;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	table_free(variables->table);
	table_free(variables->layouts);
	arena_free(variables->arena);
	free(variables);
}

void variables_use_cache(struct variables *variables, struct answer_cache *cache)
{
	variables->cache = cache;
}

/* --- Where data is -------------------------------------------------------------------------- */

/* Empty for a file that cannot be read: whoever asks about the file itself learns why. */
static const struct layout *layout_get(struct variables *variables, struct module *module)
{
	struct layout *layout = table_find(variables->layouts, module->number);
	const struct segments_answer *answer;
	uint32_t count = 0;
	int err;

	/* A file that was out of sight may have been found since, through another process. */
	if (layout && (layout->count || layout->hold_count == module->hold_count))
		return layout;
	if (!module_has_failed(module)) {
		err = worker_ask_segments(variables->worker, module, &answer);
		if (!err)
			count = answer->count;
		else if (err == -ECHILD)
			module->failure_count = MODULE_FAILURES_MAX;
	}
	layout = arena_alloc(variables->arena, sizeof(*layout) + count * sizeof(*layout->segments));
	layout->base = UINT64_MAX;
	layout->hold_count = module->hold_count;
	layout->count = count;
	for (uint32_t i = 0; i < count; i++) {
		layout->segments[i] = answer->segments[i];
		if (layout->base > layout->segments[i].address)
			layout->base = layout->segments[i].address;
	}
	table_put(variables->layouts, module->number, layout);
	return layout;
}

/*
 * Where in the file's addresses a mapping of its code begins. Mappings are of whole pages: of two
 * segments that share one in the file, the one with code is meant.
 */
static bool find_start(const struct layout *layout, uint64_t file_offset, uint64_t *start)
{
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct segment *segment = &layout->segments[i];
		uint64_t first = segment->file_offset & ~(uint64_t)(PAGE_BYTES - 1);

		if (!segment->is_code || file_offset < first ||
		    file_offset - first >= segment->file_bytes + (segment->file_offset - first))
			continue;
		*start = segment->address + (file_offset - segment->file_offset);
		return true;
	}
	return false;
}

/* The segment that holds an address of the file, or NULL. */
static const struct segment *find_segment(const struct layout *layout, uint64_t address)
{
	for (uint32_t i = 0; i < layout->count; i++)
		if (address >= layout->segments[i].address &&
		    address - layout->segments[i].address < layout->segments[i].memory_bytes)
			return &layout->segments[i];
	return NULL;
}

static bool is_file(void *data, uint32_t number)
{
	const struct variables *variables = data;
	const struct module *module = modules_at(variables->modules, number);

	return module && module->kind == MODULE_FILE;
}

/* The module that has its data at an address, and the address as its file has it. */
static struct module *find_module(struct variables *variables, uint32_t pid, uint64_t time_ns, uint64_t address,
				  uint64_t *linked)
{
	struct mapping mappings[SPACES_NEAR_MAX];
	size_t count = spaces_near(variables->spaces, pid, time_ns, address, is_file, variables, mappings);

	for (size_t i = 0; i < count; i++) {
		struct module *module = modules_at(variables->modules, mappings[i].module);
		const struct layout *layout = layout_get(variables, module);
		uint64_t start;

		if (!find_start(layout, mappings[i].file_offset, &start))
			continue;
		*linked = address - mappings[i].start + start;
		if (find_segment(layout, *linked))
			return module;
	}
	return NULL;
}

/* --- What it is called ---------------------------------------------------------------------- */

struct variable_question {
	uint64_t address;
	bool has_types;
	const struct variable_answer *answer;
};

static int ask_variable(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct variable_question *question = data;
	int err = worker_ask_variable(worker, module, question->address, has_debug, &question->answer);

	question->has_types = has_debug;
	if (!err)
		*flags = question->answer->flags;
	return err;
}

/* From the cache on disk, or from the worker. NULL when neither can say. */
static const struct variable_answer *ask(struct variables *variables, struct module *module, uint64_t address)
{
	struct variable_question question = { .address = address };

	if (variables->cache)
		question.answer = answer_cache_find_variable(variables->cache, module, address);
	if (question.answer)
		return question.answer;
	if (asker_ask(variables->asker, module, true, ask_variable, &question))
		return NULL;
	if (variables->cache && question.has_types)
		answer_cache_add_variable(variables->cache, module, address, question.answer);
	return question.answer;
}

static void set_variable(struct variables *variables, const struct variable_answer *answer, struct variable *variable)
{
	*variable = (struct variable){ .is_whole = answer && answer->name && answer->is_whole };
	if (answer && answer->name)
		variable->name = names_get(variables->names, answer->text + answer->name);
	if (answer && answer->type)
		variable->type = names_get(variables->names, answer->text + answer->type);
}

static struct variable get(struct variables *variables, struct module *module, uint64_t address)
{
	uint64_t distance = address - layout_get(variables, module)->base;
	uint64_t key = (uint64_t)module->number << DISTANCE_BITS | distance;
	struct variable *known, variable = { 0 };

	if (distance >> DISTANCE_BITS)
		return variable;
	known = table_find(variables->table, key);
	if (known)
		return *known;
	set_variable(variables, ask(variables, module, address), &variable);
	if (table_count(variables->table) < VARIABLES_MAX) {
		known = arena_alloc(variables->arena, sizeof(*known));
		*known = variable;
		table_put(variables->table, key, known);
	}
	return variable;
}

int variables_find(struct variables *variables, uint32_t pid, uint64_t time_ns, uint64_t address,
		   struct symbol_object *object)
{
	const struct segment *segment;
	struct variable variable;
	struct module *module;
	uint64_t linked;

	module = find_module(variables, pid, time_ns, address, &linked);
	if (!module)
		return -ENOENT;
	variable = get(variables, module, linked);
	segment = find_segment(layout_get(variables, module), linked);
	assert(segment); /* or the module would be none */
	/* Few programs have data among their code: what has no name there is code. */
	if (!variable.name && segment->is_code)
		return -ENOENT;
	*object = (struct symbol_object){
		.name = variable.name,
		.type = variable.type,
		.module = module->name,
		.offset = linked,
		.is_whole = variable.is_whole,
	};
	return 0;
}
