/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions lie between a call and the function that is found running, and left no frame: the one that was
 * called is entered for certain, and went on by a jump. Machine code tells the call and the jumps.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/dwarf_calls.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/elf/demangle.h"
#include "symbol/elf/function_ends.h"
#include "symbol/object/object_internal.h"
#include "symbol/object/tail_ways.h"

enum {
	JUMPS_MAX = 64,               /* of a function */
	FUNCTION_BYTES_MAX = 1 << 16, /* of one that is read */
	ALL_BYTES_MAX = 1 << 18,      /* of all of them: a tenth of a second */
	FUNCTIONS_MAX = 256,          /* read, some of them several times */
	CALLER_BYTES_MAX = 1 << 20,   /* from a caller's beginning to its call */
};

struct jump {
	uint64_t at;
	struct code_target target;
};

struct jumps {
	struct jump list[JUMPS_MAX];
	size_t count;
	bool is_cut; /* there are others */
};

struct search {
	struct object *object;
	bool has_callee; /* it is in this file: */
	struct elf_symbol callee;
	const char *callee_name;            /* as people write it; empty: unknown */
	struct tail_ways known, left, open; /* to the callee; out of the file; to nobody knows where */
	const char *exit;                   /* by which all ways leave that do; NULL: there is none, or several */
	struct tail_step path[TAIL_STEPS_MAX];
	size_t all_bytes, function_count; /* read so far */
};

/* Functions without a symbol have their beginning in call frame information; what goes to elsewhere is unclear. */
static bool find_function(struct object *object, uint64_t address, struct elf_symbol *function)
{
	struct cfi_function nameless;

	if (elf_symbols_find(object->symbols, address, function))
		return true;
	if (!object_cfi_function(object, address, &nameless) || nameless.begin != address)
		return false;
	*function = (struct elf_symbol){ NULL, nameless.begin, nameless.end };
	return true;
}

/* The name by which the dynamic linker looks for what is called or jumped to; NULL: it is in this file, or unclear. */
static const char *outside_name(const struct search *search, const struct code_target *target)
{
	struct elf_symbol stub;

	if (target->kind == TARGET_SLOT)
		return elf_slot_name(search->object->program.elf, target->address);
	if (target->kind == TARGET_CODE && elf_plt_find(search->object->program.elf, target->address, &stub))
		return stub.name;
	return NULL;
}

static size_t length_without_version(const char *name)
{
	return name[0] ? 1 + strcspn(name + 1, "@") : 0;
}

static bool is_callees_name(const struct search *search, const char *linked)
{
	char symbol[ANSWER_NAME_BYTES], name[ANSWER_NAME_BYTES];

	if (!search->callee_name[0])
		return false;
	snprintf(symbol, sizeof(symbol), "%.*s", (int)length_without_version(linked), linked);
	demangle(symbol, name, sizeof(name));
	return !strcmp(name, search->callee_name);
}

/* "f.cold" is a part of f that lies elsewhere; 0: the function is no such part. */
static size_t whole_length(const char *name)
{
	const char *cold = name ? strstr(name, ".cold") : NULL;

	return cold ? cold - name : 0;
}

/* Functions may lie in each other, or have parts elsewhere. */
static bool is_callee(const struct search *search, const struct elf_symbol *function)
{
	size_t length = whole_length(search->callee.name);

	if (!search->has_callee)
		return false;
	if (search->callee.start >= function->start && search->callee.start < function->end)
		return true;
	return length && function->name && !strncmp(function->name, search->callee.name, length) &&
	       !function->name[length];
}

static void on_jump(void *data, uint64_t at, const struct code_target *target)
{
	struct jumps *jumps = data;

	if (jumps->count == JUMPS_MAX)
		jumps->is_cut = true;
	else
		jumps->list[jumps->count++] = (struct jump){ at, *target };
}

/* False: not all of them are known. */
static bool read_jumps(struct search *search, const struct elf_symbol *function, struct jumps *jumps)
{
	static uint8_t code[FUNCTION_BYTES_MAX];
	uint64_t size_bytes = function->end - function->start, offset;

	jumps->count = 0;
	jumps->is_cut = false;
	if (size_bytes > sizeof(code) || search->all_bytes + size_bytes > ALL_BYTES_MAX ||
	    ++search->function_count > FUNCTIONS_MAX ||
	    !elf_offset_at(search->object->program.elf, function->start, &offset))
		return false;
	search->all_bytes += size_bytes;
	return object_read_bytes(search->object, offset, code, size_bytes) == size_bytes &&
	       function_jumps(code, size_bytes, function->start, on_jump, jumps) && !jumps->is_cut;
}

/* A way that leaves the file. */
static void leave(struct search *search, const char *name, size_t count)
{
	if (is_callees_name(search, name)) {
		tail_ways_add(&search->known, search->path, count);
		return;
	}
	search->exit = !search->left.count || (search->exit && !strcmp(search->exit, name)) ? name : NULL;
	tail_ways_add(&search->left, search->path, count);
}

static bool is_on_path(const struct search *search, uint64_t start, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (search->path[i].start == start)
			return true;
	return false;
}

/* A jump that is not direct leads to nobody knows where, unless it is one of a switch. */
static void go_anywhere(struct search *search, const struct elf_symbol *function, size_t count)
{
	const struct dwarf_file *dwarf = search->object->dwarf;

	if (!dwarf || !dwarf_tail_calls_are_direct(dwarf, function->start))
		tail_ways_add(&search->open, search->path, count);
}

/* Follows the jumps of a function to which the path leads already, in so many steps. */
static void walk(struct search *search, const struct elf_symbol *function, size_t depth)
{
	struct jumps jumps;

	search->path[depth] = (struct tail_step){ function->start, function->name, 0 };
	if (!read_jumps(search, function, &jumps)) {
		tail_ways_add(&search->open, search->path, depth + 1);
		return;
	}
	for (size_t i = 0; i < jumps.count; i++) {
		const char *name = outside_name(search, &jumps.list[i].target);
		struct elf_symbol next;

		search->path[depth].jump = jumps.list[i].at;
		if (name)
			leave(search, name, depth + 1);
		else if (jumps.list[i].target.kind != TARGET_CODE)
			go_anywhere(search, function, depth + 1);
		else if (!find_function(search->object, jumps.list[i].target.address, &next))
			tail_ways_add(&search->open, search->path, depth + 1);
		else if (is_callee(search, &next))
			tail_ways_add(&search->known, search->path, depth + 1);
		else if (is_on_path(search, next.start, depth + 1))
			continue;
		else if (depth + 1 == TAIL_STEPS_MAX)
			tail_ways_add(&search->open, search->path, depth + 1);
		else
			walk(search, &next, depth + 1);
	}
}

/* An instruction that looks like a call may be the end of another one. */
static bool is_instruction(struct object *object, uint64_t at)
{
	static uint8_t code[CALLER_BYTES_MAX + CODE_CALL_BYTES];
	struct elf_symbol caller;
	struct cfi_function nameless;
	uint64_t offset;
	size_t wanted;

	if (!elf_symbols_find(object->symbols, at, &caller)) {
		if (!object_cfi_function(object, at, &nameless))
			return false;
		caller.start = nameless.begin;
	}
	if (at - caller.start >= CALLER_BYTES_MAX || !elf_offset_at(object->program.elf, caller.start, &offset))
		return false;
	wanted = at - caller.start + CODE_CALL_BYTES;
	return object_read_bytes(object, offset, code, wanted) == wanted &&
	       function_has_instruction(code, wanted, caller.start, at - caller.start);
}

/* Where the call leads that returns to a place in the file. */
static bool find_call(struct object *object, uint64_t file_offset, uint64_t *at, struct code_target *target)
{
	uint8_t before[CODE_CALL_BYTES];
	uint64_t address;
	size_t call_bytes;

	if (file_offset < sizeof(before) || !elf_address_at(object->program.elf, file_offset - 1, &address) ||
	    object_read_bytes(object, file_offset - sizeof(before), before, sizeof(before)) != sizeof(before))
		return false;
	address++;
	call_bytes = code_call(before, address, target);
	*at = address - call_bytes;
	return call_bytes;
}

static void put_line(struct object *object, uint64_t jump, struct answer *answer, uint32_t i)
{
	struct source_frame frames[SOURCE_FRAMES_MAX];
	size_t count = object->dwarf ? dwarf_lines_find(object->dwarf, jump, frames) : 0;

	if (!count)
		return;
	/* Where the function itself is: what was inlined at the jump is no frame of its own. */
	answer->frames[i].file = object_put_file(answer, &frames[count - 1]);
	answer->frames[i].line = frames[count - 1].line;
}

static void put_exit(const char *name, struct answer *answer)
{
	char exit[ANSWER_NAME_BYTES];

	snprintf(exit, sizeof(exit), "%.*s", (int)length_without_version(name), name);
	answer->frames[answer->frame_count++].function = object_put_name(answer, exit);
	answer->flags |= ANSWER_GOES_ON;
}

/* Innermost first. */
static void put_ways(struct search *search, struct answer *answer)
{
	struct tail_step steps[TAIL_STEPS_MAX];
	const struct tail_ways *ways = search->known.count ? &search->known : &search->left;
	size_t count;

	/* All ways go on in another file, from one function there. */
	if (ways == &search->left && search->exit && !search->open.count)
		put_exit(search->exit, answer);
	count = tail_ways_common(ways, &search->open, steps);
	for (size_t i = count; i--;) {
		uint32_t at = answer->frame_count;

		/* What is jumped to and has no name may be a part of the one before. */
		if (i && (!steps[i].name || whole_length(steps[i].name)))
			continue;
		answer->frames[at].function = object_put_function(answer, steps[i].name, "");
		if (steps[i].jump)
			put_line(search->object, steps[i].jump, answer, at);
		answer->frame_count++;
	}
	elf_offset_at(search->object->program.elf, steps[0].start, &answer->function_offset);
}

/* From where a call or a jump leads. call: the place of the call; 0: there is none. */
static void find_between(struct search *search, const struct code_target *target, uint64_t call, struct answer *answer)
{
	const char *name = outside_name(search, target);
	struct elf_symbol first;

	if (name) {
		if (!is_callees_name(search, name) && (!call || is_instruction(search->object, call)))
			put_exit(name, answer);
		return;
	}
	if (target->kind != TARGET_CODE || !find_function(search->object, target->address, &first) ||
	    first.start != target->address || is_callee(search, &first) ||
	    (call && !is_instruction(search->object, call)))
		return;
	walk(search, &first, 0);
	put_ways(search, answer);
}

void object_find_missing(struct object *object, const struct missing_question *question, struct answer *answer)
{
	struct search search = { .object = object, .callee_name = question->callee_name };
	struct code_target target = { .kind = TARGET_CODE };
	uint64_t address, call = 0;

	memset(answer, 0, offsetof(struct answer, text));
	answer->text[answer->text_bytes++] = '\0';
	answer->function_offset = UINT64_MAX;
	if (object->flags & ANSWER_NOT_ELF)
		return;
	object_open_symbols(object);
	if (question->wants_lines)
		object_open_dwarf(object);
	answer->flags = object->flags;
	if (question->is_entry ? !elf_address_at(object->program.elf, question->file_offset, &target.address)
			       : !find_call(object, question->file_offset, &call, &target))
		return;
	search.has_callee = question->callee_offset != UINT64_MAX &&
			    elf_address_at(object->program.elf, question->callee_offset, &address);
	if (search.has_callee && !find_function(object, address, &search.callee))
		return;
	find_between(&search, &target, call, answer);
}
