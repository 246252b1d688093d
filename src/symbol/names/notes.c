/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/answer/answer.h"
#include "symbol/python/python_layout.h"
#include "symbol/ruby/ruby_layout.h"
#include "symbol/space/module.h"
#include "unwind/table_file.h"

enum {
	NOTES_MAX = 200,
	/* What no answer says, kept along with the answers' flags. */
	MODULE_FAILED_LINES = 1 << 17,
	MODULE_FAILED = 1 << 18,
	MODULE_LINES_OVER_BUDGET = 1 << 19,
	MODULE_OVER_BUDGET = 1 << 20,
};

struct notes {
	struct arena *arena;
	const char **list;
	size_t count;
	bool is_shut;
};

struct notes *notes_new(void)
{
	struct notes *notes = xcalloc(1, sizeof(*notes));

	notes->arena = arena_new();
	notes->list = xcalloc(NOTES_MAX + 1, sizeof(*notes->list));
	return notes;
}

void notes_free(struct notes *notes)
{
	if (!notes)
		return;
	free(notes->list);
	arena_free(notes->arena);
	free(notes);
}

size_t notes_list(const struct notes *notes, const char *const **list)
{
	*list = notes->list;
	return notes->count;
}

void notes_open(struct notes *notes, bool is_open)
{
	notes->is_shut = !is_open;
}

void notes_add(struct notes *notes, const char *format, ...)
{
	char note[1024];
	va_list args;

	if (notes->is_shut || notes->count > NOTES_MAX)
		return;
	if (notes->count == NOTES_MAX) {
		notes->list[notes->count++] = "more files could not be read";
		return;
	}
	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	notes->list[notes->count++] = arena_strdup(notes->arena, note);
}

/* A later one of the table is only said when no earlier one was. */
static const struct {
	uint32_t flag;
	const char *format;
} sentences[] = {
	{ MODULE_OVER_BUDGET, "the time limit for files of the owner of %s is used up: its functions are shown as "
			      "offsets" },
	{ MODULE_FAILED, "%s cannot be read safely: its functions are shown as offsets" },
	{ ANSWER_NOT_ELF, "%s is not a readable program file: code in it is shown as offsets" },
	{ MODULE_LINES_OVER_BUDGET, "the time limit for files of the owner of %s is used up: its source lines are not "
				    "shown" },
	{ MODULE_FAILED_LINES, "the debug information of %s cannot be read safely: its source lines are not shown" },
	{ ANSWER_BAD_LINES,
	  "the debug information of %s is broken, or too large when decompressed: its source lines are not shown" },
	{ ANSWER_NO_SHARED, "the debug file of %s shares data with a missing one: reinstall its -dbgsym package" },
	{ ANSWER_STALE_DEBUG, "the debug file of %s is of another build: install the -dbgsym package of its version" },
	{ ANSWER_NO_SYMBOLS, "no symbols for %s: install its -dbgsym package to see functions and lines" },
	{ ANSWER_NO_LINES, "no debug information for %s: install its -dbgsym package to see lines" },
};

static void add_python(struct notes *notes, const struct module *module)
{
	uint32_t version = module->python_version;

	if (version == UNWIND_PYTHON_UNKNOWN)
		notes_add(notes,
			  "%s is a CPython of unsupported version: Python functions are shown for CPython 3.11 to 3.13",
			  module->name);
	else if (version && !python_version_find(version))
		notes_add(notes, "%s is CPython %u.%u: Python functions are shown for CPython 3.11 to 3.13",
			  module->name, version >> 8, version & 0xff);
}

static void add_ruby(struct notes *notes, const struct module *module)
{
	uint32_t version = module->ruby_version;

	if (version == UNWIND_RUBY_UNKNOWN)
		notes_add(notes, "%s has no symbols for rb_vm_exec and ruby_current_ec: Ruby functions are not shown",
			  module->name);
	else if (version && !ruby_version_find(version))
		notes_add(notes, "%s is Ruby %u.%u: Ruby functions are shown for Ruby 3.0 to 3.3", module->name,
			  version >> 8, version & 0xff);
}

static void add_v8(struct notes *notes, const struct module *module)
{
	if (module->v8_version && !module->v8_heap.is_known)
		notes_add(notes, "%s has V8 %u.%u: functions of JavaScript are shown for V8 10.2 to 13.6", module->name,
			  module->v8_version >> 8, module->v8_version & 0xff);
}

void notes_add_runtime(struct notes *notes, struct module *module)
{
	if (module->is_runtime_noted || (!module->python_version && !module->ruby_version && !module->v8_version))
		return;
	module->is_runtime_noted = true;
	add_python(notes, module);
	add_ruby(notes, module);
	add_v8(notes, module);
}

static uint32_t failure_of(const struct module *module)
{
	if (!module->failure_count)
		return 0;
	if (module_has_failed(module))
		return module->is_over_budget ? MODULE_OVER_BUDGET : MODULE_FAILED;
	return module->is_over_budget ? MODULE_LINES_OVER_BUDGET : MODULE_FAILED_LINES;
}

void notes_add_module(struct notes *notes, struct module *module)
{
	uint32_t flags = module->flags | failure_of(module);

	if (module->kind != MODULE_FILE)
		return;
	if (flags == module->noted_flags)
		return;
	for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
		if (!(flags & sentences[i].flag))
			continue;
		if (!(module->noted_flags & sentences[i].flag))
			notes_add(notes, sentences[i].format, module->name);
		break;
	}
	module->noted_flags = flags;
}
