/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of processes to names and places: in files, in what a JIT compiler made, and of managed code. */
#include "symbol/symbol_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"
#include "symbol/answer/answer_book.h"
#include "symbol/asker.h"
#include "symbol/java_methods.h"
#include "symbol/jit/jit_hints.h"
#include "symbol/jit_names.h"
#include "symbol/known_code.h"
#include "symbol/managed_codes.h"
#include "symbol/managed_frames.h"
#include "symbol/mapped_files.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"
#include "symbol/places.h"
#include "symbol/names/program_names.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/tail_calls.h"
#include "symbol/worker/worker.h"
#include "values.h"

enum {
	JIT_PLACE = 1u << 31,     /* such code is the same in one address space only */
	MANAGED_PLACE = 1u << 30, /* known by its names */
};

static const char java_module[] = "[java]";

static bool find_mapping(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
			 struct space_hit *hit)
{
	return mapped_files_find(symbols->files, pid, time_ns, address, hit);
}

/* A name that the program's JIT compiler gave, in this space or the one it was copied from. */
static const char *jit_name(struct symbols *symbols, uint32_t pid, const struct space_hit *hit, uint64_t address,
			    uint64_t *start)
{
	char name[ANSWER_NAME_BYTES];
	struct space_hit newest;
	uint32_t live_pid = 0;

	if (symbols->is_offline)
		return symbols->book ? symbols_recorded_jit_name(symbols, hit, address, start) : NULL;
	/* What /proc shows is the process after its last exec. */
	if (spaces_find(symbols->spaces, pid, UINT64_MAX, 0, &newest) && newest.space == hit->space)
		live_pid = pid;
	if (!jit_names_find(symbols->jit, hit->space, live_pid, address, name, sizeof(name), start) &&
	    !jit_names_find(symbols->jit, hit->base, 0, address, name, sizeof(name), start))
		return NULL;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_JIT, hit->space, address, *start, name, NULL);
	return names_get(symbols->names, name);
}

/* Which methods of a Java virtual machine's the code is of; NULL: it is not known to be any's. */
static const struct answer *find_methods(struct symbols *symbols, const struct space_hit *hit, uint64_t time_ns,
					 uint64_t address)
{
	const struct answer *answer;
	size_t size_bytes;

	if (symbols->is_offline)
		return symbols->book ? symbols_recorded_methods(symbols, hit, address) : NULL;
	answer = java_methods_find(symbols->methods, hit->space, time_ns, address, &size_bytes);
	if (!answer && hit->base)
		answer = java_methods_find(symbols->methods, hit->base, time_ns, address, &size_bytes);
	if (answer && symbols->book)
		answer_book_put(symbols->book, BOOK_METHODS, hit->space, address, answer, size_bytes);
	return answer;
}

static size_t resolve_methods(struct symbols *symbols, const struct space_hit *hit, uint64_t time_ns, uint64_t address,
			      struct symbol_frame *frames, size_t max)
{
	const struct answer *answer = find_methods(symbols, hit, time_ns, address);
	size_t count = answer ? answer->frame_count : 0;

	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct symbol_frame){
			.function = names_get(symbols->names, answer->text + answer->frames[i].function),
			.file = answer->frames[i].file
					? names_get(symbols->names, answer->text + answer->frames[i].file)
					: NULL,
			.line = answer->frames[i].line,
			.module = java_module,
			.offset = address,
		};
	return count;
}

static size_t resolve_interpreted(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
				  struct symbol_frame *frames, size_t max)
{
	struct space_hit hit;
	size_t count = 0;

	if (spaces_find(symbols->spaces, pid, time_ns, 0, &hit))
		count = resolve_methods(symbols, &hit, time_ns, address, frames, max);
	if (count)
		return count;
	frames[0] = (struct symbol_frame){ .module = java_module, .offset = java_methods_address(address) };
	return 1;
}

struct hint_search {
	const struct symbols *symbols;
	unsigned int hint;
};

static void find_hint(void *data, const struct mapping *mapping)
{
	struct hint_search *search = data;
	const struct module *module = modules_at(search->symbols->modules, mapping->module);

	if (module && !search->hint)
		search->hint = jit_hint_find(module->name);
}

static unsigned int hint_of(const struct symbols *symbols, uint32_t pid)
{
	struct hint_search search = { .symbols = symbols };

	spaces_each(symbols->spaces, pid, find_hint, &search);
	return search.hint;
}

const char *symbols_names_hint(const struct symbols *symbols, uint32_t pid)
{
	return jit_hint(hint_of(symbols, pid));
}

/* Says once for each runtime what would give names to the code that it generates. */
static void note_nameless(struct symbols *symbols, uint32_t pid, const struct space_hit *hit)
{
	unsigned int hint;

	if (hit->space == symbols->hinted_space || jit_names_has(symbols->jit, hit->space) ||
	    jit_names_has(symbols->jit, hit->base) || managed_frames_has(symbols->managed, hit->space) ||
	    java_methods_has(symbols->methods, hit->space))
		return;
	symbols->hinted_space = hit->space;
	hint = hint_of(symbols, pid);
	if (!(symbols->noted_hints >> hint & 1))
		notes_add(symbols->notes, "%s", jit_hint(hint));
	symbols->noted_hints |= 1u << hint;
}

static void resolve_unmapped(struct symbols *symbols, uint32_t pid, const struct space_hit *hit, uint64_t address,
			     const char *module, struct symbol_frame *frame)
{
	uint64_t start;

	frame->module = module;
	frame->function = jit_name(symbols, pid, hit, address, &start);
	if (frame->function)
		frame->module = "[jit]";
}

void symbols_function(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
		      struct symbol_frame *frame)
{
	const struct place *place;
	struct space_hit hit;
	struct module *module;
	uint64_t offset;

	*frame = (struct symbol_frame){ .offset = address };
	if (address & STACK_FRAME_MANAGED || !find_mapping(symbols, pid, time_ns, address, &hit))
		return;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT || module->kind == MODULE_OTHER)
		return;
	offset = address - hit.mapping.start + hit.mapping.file_offset;
	place = places_get(symbols->places, module, offset, false);
	if (place->count)
		*frame = place->frames[place->count - 1];
	frame->module = module->name;
	frame->program = program_names_find(symbols->programs, pid, module->name);
	frame->offset = offset;
}

size_t symbols_resolve(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool is_return,
		       struct symbol_frame *frames, size_t max)
{
	uint64_t wanted = address - (is_return && address), offset, start;
	const struct place *place;
	const char *program;
	struct space_hit hit;
	struct module *module;
	size_t count;

	if (java_methods_is_interpreted(address))
		return resolve_interpreted(symbols, pid, time_ns, address, frames, max);
	if (address & STACK_FRAME_MANAGED) {
		managed_frames_resolve(symbols->managed, pid, time_ns, address, &frames[0]);
		if (managed_is_javascript(address) && !frames[0].function &&
		    spaces_find(symbols->spaces, pid, time_ns, 0, &hit))
			note_nameless(symbols, pid, &hit);
		return 1;
	}
	frames[0] = (struct symbol_frame){ .offset = address };
	if (!find_mapping(symbols, pid, time_ns, wanted, &hit)) {
		count = resolve_methods(symbols, &hit, time_ns, address, frames, max);
		if (count)
			return count;
		resolve_unmapped(symbols, pid, &hit, wanted, "[anon]", &frames[0]);
		return 1;
	}
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT) {
		count = resolve_methods(symbols, &hit, time_ns, address, frames, max);
		if (count)
			return count;
		resolve_unmapped(symbols, pid, &hit, wanted, module ? "[jit]" : "[file]", &frames[0]);
		if (module && !frames[0].function)
			note_nameless(symbols, pid, &hit);
		return 1;
	}
	offset = wanted - hit.mapping.start + hit.mapping.file_offset;
	program = program_names_find(symbols->programs, pid, module->name);
	frames[0].module = module->name;
	frames[0].program = program;
	frames[0].offset = offset + (address - wanted);
	if (module->kind == MODULE_OTHER)
		return 1;
	notes_add_runtime(symbols->notes, module);
	place = places_get(symbols->places, module, offset, true);
	if (!place->count) {
		frames[0].function = jit_name(symbols, pid, &hit, wanted, &start);
		/* A function without a name is called after its beginning, wherever in it this is. */
		if (!frames[0].function && place->function_offset != UINT64_MAX)
			frames[0].offset = place->function_offset;
		return 1;
	}
	count = place->count < max ? place->count : max;
	for (size_t i = 0; i < count; i++) {
		frames[i] = place->frames[i];
		frames[i].module = module->name;
		frames[i].program = program;
		frames[i].offset = offset + (address - wanted);
	}
	return count;
}

/* The file that holds an address, and where; NULL: none does that has functions. */
static struct module *find_file(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
				uint64_t *offset)
{
	struct module *module;
	struct space_hit hit;

	if (address & STACK_FRAME_MANAGED || !find_mapping(symbols, pid, time_ns, address, &hit))
		return NULL;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || (module->kind != MODULE_FILE && module->kind != MODULE_VDSO))
		return NULL;
	*offset = address - hit.mapping.start + hit.mapping.file_offset;
	return module;
}

static bool find_call(struct symbols *symbols, uint32_t pid, uint64_t time_ns, const struct symbol_call *call,
		      struct tail_call *found)
{
	const struct place *place;
	uint64_t offset;

	found->caller = find_file(symbols, pid, time_ns, call->return_address - 1, &found->return_offset);
	found->callee = find_file(symbols, pid, time_ns, call->callee - call->is_return, &offset);
	if (!found->caller || !found->callee)
		return false;
	found->return_offset++;
	place = places_get(symbols->places, found->callee, offset, true);
	found->callee_offset = place->function_offset;
	found->callee_name = place->count ? place->frames[place->count - 1].function : NULL;
	return place->function_offset != UINT64_MAX;
}

size_t symbols_between(struct symbols *symbols, uint32_t pid, uint64_t time_ns, const struct symbol_call *call,
		       struct symbol_frame *frames, size_t max)
{
	const struct symbol_frame *between;
	struct tail_call found;
	size_t count;

	if (!find_call(symbols, pid, time_ns, call, &found))
		return 0;
	count = tail_calls_find(symbols->tail_calls, &found, &between);
	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++) {
		frames[i] = between[i];
		/* Processes share what is known of a file, but not the name that they run it under. */
		frames[i].program = program_names_find(symbols->programs, pid, frames[i].module);
	}
	return count;
}

/* The places in files that are asked for; what is generated or managed is not in one. */
static size_t find_places(struct symbols *symbols, const struct symbol_request *requests, size_t count,
			  struct place_request *places)
{
	size_t place_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct symbol_request *request = &requests[i];
		uint64_t wanted = request->address - (request->is_return && request->address);
		struct module *module;
		struct space_hit hit;

		if (request->address & STACK_FRAME_MANAGED)
			continue;
		if (!find_mapping(symbols, request->pid, request->time_ns, wanted, &hit))
			continue;
		module = modules_at(symbols->modules, hit.mapping.module);
		if (module && (module->kind == MODULE_FILE || module->kind == MODULE_VDSO))
			places[place_count++] = (struct place_request){
				module,
				wanted - hit.mapping.start + hit.mapping.file_offset,
			};
	}
	return place_count;
}

/* The places are known. */
static void prepare_calls(struct symbols *symbols, const struct symbol_request *requests, size_t count)
{
	struct tail_call *calls = xcalloc(count + 1, sizeof(*calls));
	size_t call_count = 0;

	for (size_t i = 1; i < count; i++) {
		const struct symbol_request *caller = &requests[i], *callee = &requests[i - 1];
		struct symbol_call call = { callee->address, callee->is_return, caller->address };

		if (caller->has_callee && find_call(symbols, caller->pid, caller->time_ns, &call, &calls[call_count]))
			call_count++;
	}
	tail_calls_prepare(symbols->tail_calls, calls, call_count);
	free(calls);
}

void symbols_prepare(struct symbols *symbols, const struct symbol_request *requests, size_t count)
{
	struct place_request *places = xcalloc(count + 1, sizeof(*places));

	places_prepare(symbols->places, places, find_places(symbols, requests, count, places), true);
	prepare_calls(symbols, requests, count);
	free(places);
}

/* A recording has an answer for each place. */
static bool knows_code(const struct symbols *symbols)
{
	return !symbols->book;
}

static struct code_place code_place_of(struct symbols *symbols, struct module *module, uint64_t offset,
				       size_t size_bytes)
{
	return (struct code_place){
		.module = module->number,
		.function = places_get(symbols->places, module, offset, false)->function_offset,
		.offset = offset,
		.size_bytes = size_bytes,
	};
}

/* Of places in one function, in the order of the files, the first one is asked for. */
static bool is_code_question(struct symbols *symbols, const struct place_request *places, size_t i, size_t size_bytes)
{
	struct code_place place, before;

	if (!knows_code(symbols))
		return true;
	place = code_place_of(symbols, places[i].module, places[i].offset, size_bytes);
	if (known_code_find(symbols->code, &place))
		return false;
	if (!i || places[i].module != places[i - 1].module)
		return true;
	before = code_place_of(symbols, places[i - 1].module, places[i - 1].offset, size_bytes);
	return place.function == UINT64_MAX || place.function != before.function;
}

void symbols_prepare_code(struct symbols *symbols, const struct symbol_request *requests, size_t count,
			  size_t size_bytes)
{
	struct place_request *places = xcalloc(count + 1, sizeof(*places));
	struct worker_question *questions = xcalloc(count + 1, sizeof(*questions));
	size_t place_count = find_places(symbols, requests, count, places), question_count = 0;

	places_prepare(symbols->places, places, place_count, false);
	for (size_t i = 0; i < place_count; i++)
		if (is_code_question(symbols, places, i, size_bytes))
			questions[question_count++] = (struct worker_question){
				.module = places[i].module,
				.kind = WORKER_CODE,
				.file_offset = places[i].offset,
				.size_bytes = size_bytes,
			};
	asker_ask_ahead(symbols->asker, questions, question_count);
	free(questions);
	free(places);
}

/* Of the function that generated code is of: what is equal for all of it, in one address space. */
static uint64_t generated_function(struct symbols *symbols, uint32_t pid, const struct space_hit *hit, uint64_t time_ns,
				   uint64_t address)
{
	const struct answer *answer = find_methods(symbols, hit, time_ns, address);
	uint64_t start;

	if (answer && answer->frame_count) /* a method may be compiled several times */
		return hash_string(hit->space, answer->text + answer->frames[answer->frame_count - 1].function);
	if (address & STACK_FRAME_MANAGED)
		return address;
	return jit_name(symbols, pid, hit, address, &start) ? start : address;
}

int symbols_place(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool whole_function,
		  uint32_t *module_number, uint64_t *offset)
{
	struct module *module;
	struct space_hit hit;
	uint64_t start;

	if (java_methods_is_interpreted(address) && spaces_find(symbols->spaces, pid, time_ns, 0, &hit)) {
		*module_number = JIT_PLACE | hit.space;
		*offset = generated_function(symbols, pid, &hit, time_ns, address);
		return 0;
	}
	if (address & STACK_FRAME_MANAGED) {
		*module_number = MANAGED_PLACE;
		if (!managed_frames_place(symbols->managed, pid, time_ns, address, whole_function, offset,
					  &hit.space)) {
			*module_number = JIT_PLACE | hit.space;
			*offset = address;
		}
		return 0;
	}
	if (!find_mapping(symbols, pid, time_ns, address, &hit))
		return -ENOENT;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT) {
		*module_number = JIT_PLACE | hit.space;
		*offset = address;
		if (whole_function)
			*offset = generated_function(symbols, pid, &hit, time_ns, address);
		return 0;
	}
	*module_number = module->number;
	*offset = address - hit.mapping.start + hit.mapping.file_offset;
	if (whole_function && module->kind != MODULE_OTHER) {
		start = places_get(symbols->places, module, *offset, false)->function_offset;
		if (start != UINT64_MAX)
			*offset = start;
	}
	return 0;
}

struct code_question {
	uint64_t file_offset;
	size_t size_bytes;
	const struct code_answer *answer;
};

static int ask_code(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct code_question *question = data;

	(void)has_debug, (void)flags;
	return worker_ask_code(worker, module, question->file_offset, question->size_bytes, &question->answer);
}

/* NULL: it cannot be read. */
static const struct code_answer *find_code(struct symbols *symbols, struct module *module, uint64_t offset,
					   size_t size_bytes)
{
	struct code_question question = { .file_offset = offset, .size_bytes = size_bytes };
	struct code_place place;

	if (knows_code(symbols)) {
		place = code_place_of(symbols, module, offset, size_bytes);
		question.answer = known_code_find(symbols->code, &place);
	}
	if (question.answer)
		return question.answer;
	if (asker_ask(symbols->asker, module, false, ask_code, &question) || question.answer->size_bytes > size_bytes ||
	    question.answer->file_offset > offset)
		return NULL;
	if (knows_code(symbols))
		known_code_put(symbols->code, &place, question.answer);
	return question.answer;
}

size_t symbols_read_code(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, uint8_t *code,
			 size_t size_bytes, uint64_t *start)
{
	const struct code_answer *answer;
	struct module *module;
	struct space_hit hit;
	uint64_t offset;

	if (address & STACK_FRAME_MANAGED || !find_mapping(symbols, pid, time_ns, address, &hit))
		return 0;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || (module->kind != MODULE_FILE && module->kind != MODULE_VDSO))
		return 0;
	offset = address - hit.mapping.start + hit.mapping.file_offset;
	answer = find_code(symbols, module, offset, size_bytes);
	if (!answer)
		return 0;
	memcpy(code, answer->code, answer->size_bytes);
	*start = address - (offset - answer->file_offset);
	return answer->size_bytes;
}
