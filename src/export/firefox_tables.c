/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/firefox_tables.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "export/frames_key.h"
#include "export/spill.h"
#include "report/report_frame.h"

enum { STACKS_MAX = 1 << 20, KNOWN_MAX = 1 << 18 };

/* The function, frame and stack that stand for those without space. */
enum { OTHERS = 0 };

/* --- Strings ---------------------------------------------------------------------------------- */

/* Of a string that is escaped. */
static uint32_t shown_string(struct firefox_tables *tables, const char *string)
{
	bool is_first;
	uint32_t number = interned_number(&tables->strings, string, &is_first);
	struct text piece = { 0 };

	if (is_first) {
		text_put(&piece, number > 1 ? ",\n" : "");
		text_put_json_string(&piece, string);
		spill_put(tables->spill, tables->spilled, &piece);
		text_fini(&piece);
	}
	return number ? number - 1 : 0;
}

uint32_t firefox_string(struct firefox_tables *tables, const char *string)
{
	tables->shown.length = 0;
	text_put(&tables->shown, "");
	text_put_escaped(&tables->shown, string);
	return shown_string(tables, tables->shown.bytes);
}

/* --- Functions and frames --------------------------------------------------------------------- */

static uint32_t module_of(struct firefox_tables *tables, const struct report_frame *frame)
{
	bool is_first;
	uint32_t number = frame->module ? interned_number(&tables->modules, frame->module, &is_first) : 0;

	if (!number)
		return FIREFOX_NONE;
	if (is_first) {
		ARRAY_GROW(tables->module_names, tables->module_count, tables->module_capacity, 64);
		tables->module_names[tables->module_count++] = firefox_string(tables, frame->module);
		ARRAY_GROW(tables->libraries, tables->library_count, tables->library_capacity, 64);
		tables->libraries[tables->library_count++] =
			arena_strdup(tables->arena, frame->file_module ? frame->file_module : frame->module);
	}
	return number - 1;
}

static uint32_t source_of(struct firefox_tables *tables, const char *file)
{
	bool is_first;
	uint32_t number = file ? interned_number(&tables->sources, file, &is_first) : 0;

	if (!number)
		return FIREFOX_NONE;
	if (is_first) {
		ARRAY_GROW(tables->source_names, tables->source_count, tables->source_capacity, 64);
		tables->source_names[tables->source_count++] = firefox_string(tables, file);
	}
	return number - 1;
}

/* Known again by the string that is its name and its numbers. */
static uint32_t function_of(struct firefox_tables *tables, const struct firefox_function *function)
{
	struct text key = { 0 };
	bool is_first;
	uint32_t number;

	text_printf(&key, "%u %u %u", function->name, function->module, function->source);
	number = interned_number(&tables->functions_known, key.bytes, &is_first);
	text_fini(&key);
	if (is_first) {
		ARRAY_GROW(tables->functions, tables->function_count, tables->function_capacity, 256);
		tables->functions[tables->function_count++] = *function;
	}
	return number ? number - 1 : OTHERS;
}

static uint32_t frame_of(struct firefox_tables *tables, const struct firefox_frame *frame)
{
	struct text key = { 0 };
	bool is_first;
	uint32_t number;

	text_printf(&key, "%u %u %u", frame->function, frame->line, frame->category);
	number = interned_number(&tables->frames_known, key.bytes, &is_first);
	text_fini(&key);
	if (is_first) {
		ARRAY_GROW(tables->frames, tables->frame_count, tables->frame_capacity, 256);
		tables->frames[tables->frame_count++] = *frame;
	}
	return number ? number - 1 : OTHERS;
}

static uint32_t code_frame(struct firefox_tables *tables, const struct report_frame *frame, uint32_t category)
{
	struct firefox_function function = { .module = module_of(tables, frame),
					     .source = source_of(tables, frame->file) };

	tables->words.length = 0;
	if (frame->function)
		text_put(&tables->words, frame->function);
	else
		text_printf(&tables->words, "%s+0x%llx", frame->module ? frame->module : "[unknown]",
			    (unsigned long long)frame->offset);
	function.name = firefox_string(tables, tables->words.bytes);
	return frame_of(tables, &(struct firefox_frame){ function_of(tables, &function), frame->line, category });
}

static uint32_t label_frame(struct firefox_tables *tables, const struct firefox_label *label)
{
	struct firefox_function function = { .module = FIREFOX_NONE, .source = FIREFOX_NONE };

	tables->words.length = 0;
	text_printf(&tables->words, label->object ? "[%s: %s]" : "[%s]", label->cause, label->object);
	function.name = firefox_string(tables, tables->words.bytes);
	return frame_of(tables, &(struct firefox_frame){ function_of(tables, &function), 0, label->category });
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static uint32_t push(struct firefox_tables *tables, uint32_t prefix, uint32_t frame)
{
	uint64_t key = hash_u64(((uint64_t)prefix << 32 | frame) + 1);
	uintptr_t number = (uintptr_t)table_find(tables->stacks_known, key);

	if (number)
		return number - 1;
	if (tables->stack_count == STACKS_MAX)
		return OTHERS;
	ARRAY_GROW(tables->stacks, tables->stack_count, tables->stack_capacity, 1024);
	tables->stacks[tables->stack_count++] = (struct firefox_stack){ frame, prefix };
	table_put(tables->stacks_known, key, (void *)(uintptr_t)tables->stack_count);
	return tables->stack_count - 1;
}

static uint32_t make_stack(struct firefox_tables *tables, const struct report_frame *frames, size_t count,
			   const struct firefox_label *label, uint32_t category)
{
	uint32_t stack = FIREFOX_NONE;

	for (size_t i = count; i-- > 0;)
		stack = push(tables, stack, code_frame(tables, &frames[i], category));
	return label ? push(tables, stack, label_frame(tables, label)) : stack;
}

uint32_t firefox_stack(struct firefox_tables *tables, const struct report_frame *frames, size_t count,
		       const struct firefox_label *label, uint32_t category)
{
	uint64_t key = frames_key(frames, count);
	uintptr_t number;

	if (label)
		key = hash_u64(hash_u64(key ^ (uintptr_t)label->cause) ^ (uintptr_t)label->object);
	number = (uintptr_t)table_find(tables->known, key);
	if (number)
		return number;
	number = make_stack(tables, frames, count, label, category) + 1;
	if (table_count(tables->known) < KNOWN_MAX)
		table_put(tables->known, key, (void *)number);
	return number;
}

/* --- All of it -------------------------------------------------------------------------------- */

void firefox_tables_init(struct firefox_tables *tables, struct spill *spill)
{
	*tables = (struct firefox_tables){
		.spill = spill,
		.spilled = spill_add(spill),
		.arena = arena_new(),
		.stacks_known = table_new(),
		.known = table_new(),
	};
	shown_string(tables, "[others]");
	firefox_stack(tables, NULL, 0, &(struct firefox_label){ "others", NULL, 0 }, 0);
}

void firefox_tables_fini(struct firefox_tables *tables)
{
	interned_fini(&tables->strings);
	interned_fini(&tables->modules);
	interned_fini(&tables->sources);
	interned_fini(&tables->functions_known);
	interned_fini(&tables->frames_known);
	arena_free(tables->arena);
	table_free(tables->stacks_known);
	table_free(tables->known);
	free(tables->module_names);
	free(tables->source_names);
	free(tables->libraries);
	free(tables->functions);
	free(tables->frames);
	free(tables->stacks);
	text_fini(&tables->words);
	text_fini(&tables->shown);
}
