/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's SharedFunctionInfo has its name, or a ScopeInfo that has it, and leads to its Script. What of them
 * V8 does not say for debuggers is the same in all versions from 10.2 to 13.6, in src/objects/scope-info.tq and
 * src/objects/shared-function-info.tq.
 */
#include "symbol/v8/v8_function.h"

#include "base/table.h"
#include "symbol/v8/v8_memory.h"
#include "symbol/v8/v8_string.h"

enum {
	WORD_BYTES = 8,
	/* A ScopeInfo's flags, its first word: an integer of V8's, or of the machine's. */
	HAS_SAVED_CLASS = 1 << 10,
	NAME_FORM = 3 << 12, /* 0: no name */
	HAS_INFERRED_NAME = 1 << 14,
	LOCALS_INLINE_MAX = 75, /* from there on, the names of local variables are in a table of their own */
	LOCALS_MAX = 1 << 16,
	LINES_MAX = 1 << 24,
	NO_TOKEN = UINT16_MAX,
};

/* What a function's ScopeInfo says of it. */
struct scope {
	uint64_t name, inferred_name; /* words; 0: none */
	int32_t begin;                /* position in the script's source; below 0: unknown */
};

uint64_t v8_function_identity(const struct v8_function_key *key)
{
	return hash_u64(key->name ^ hash_u64(key->script ^ hash_u64(key->token)));
}

bool v8_function_read_key(const struct memory_reader *reader, const struct v8_heap *heap, uint64_t address,
			  struct v8_function_key *key)
{
	const struct v8_memory memory = { reader, heap };
	uint64_t shared = address + 1;
	uint16_t token;

	if (!heap->is_known || !v8_has_type(&memory, shared, heap->shared_type) ||
	    !v8_read_word(&memory, shared, heap->shared_name, &key->name) ||
	    !v8_read_word(&memory, shared, heap->shared_script, &key->script) ||
	    !v8_read(&memory, shared, heap->shared_token, &token, sizeof(token)))
		return false;
	key->token = token;
	return true;
}

/* --- Its name -------------------------------------------------------------------------------- */

static bool scope_word(const struct v8_memory *memory, uint64_t scope, uint32_t i, uint64_t *word)
{
	return v8_read_word(memory, scope, WORD_BYTES + i * WORD_BYTES, word);
}

static uint32_t flags_of(uint64_t word)
{
	int32_t integer;

	return v8_integer(word, &integer) ? (uint32_t)integer : (uint32_t)word;
}

/* Where a position stands: it begins something, and something ends behind it. */
static int32_t position_at(const struct v8_memory *memory, uint64_t scope, uint32_t i)
{
	uint64_t first, second;
	int32_t begin, end;

	if (!scope_word(memory, scope, i, &first) || !scope_word(memory, scope, i + 1, &second) ||
	    !v8_integer(first, &begin) || !v8_integer(second, &end) || begin < 0 || end < begin)
		return -1;
	return begin;
}

static bool read_scope(const struct v8_memory *memory, uint64_t object, struct scope *scope)
{
	const struct v8_heap *heap = memory->heap;
	int32_t local_count;
	uint64_t word;
	uint32_t flags, i;

	*scope = (struct scope){ .begin = -1 };
	if (!scope_word(memory, object, 0, &word))
		return false;
	flags = flags_of(word);
	if (!scope_word(memory, object, heap->scope_local_count, &word) || !v8_integer(word, &local_count) ||
	    local_count < 0 || local_count > LOCALS_MAX)
		return false;
	i = heap->scope_locals + (local_count < LOCALS_INLINE_MAX ? local_count : 1) + local_count;
	i += (flags & HAS_SAVED_CLASS) != 0;
	if (flags & NAME_FORM) {
		if (!scope_word(memory, object, i, &scope->name))
			return false;
		i += 2;
	}
	if (flags & HAS_INFERRED_NAME && !scope_word(memory, object, i++, &scope->inferred_name))
		return false;
	scope->begin = position_at(memory, object, heap->scope_has_positions ? heap->scope_local_count + 1u : i);
	return true;
}

/* --- Its line -------------------------------------------------------------------------------- */

/* Lines that end before a position, from the list of their ends, if V8 has made it. */
static bool count_by_ends(const struct v8_memory *memory, uint64_t ends, int32_t position, uint32_t *count)
{
	const struct v8_heap *heap = memory->heap;
	uint32_t low = 0, high;
	int32_t length, end;
	uint64_t word;

	if (!v8_has_type(memory, ends, heap->array_type) || !v8_read_word(memory, ends, heap->array_length, &word) ||
	    !v8_integer(word, &length) || length <= 0 || length > LINES_MAX)
		return false;
	high = length;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!v8_read_word(memory, ends, heap->array_items + middle * WORD_BYTES, &word) ||
		    !v8_integer(word, &end))
			return false;
		if (end < position)
			low = middle + 1;
		else
			high = middle;
	}
	*count = low;
	return true;
}

static uint32_t line_of(const struct v8_memory *memory, uint64_t script, int32_t position)
{
	const struct v8_heap *heap = memory->heap;
	uint64_t word;
	uint32_t count;
	int32_t offset = 0;

	if ((!v8_read_word(memory, script, heap->script_line_ends, &word) ||
	     !count_by_ends(memory, word, position, &count)) &&
	    (!v8_read_word(memory, script, heap->script_source, &word) ||
	     !v8_string_count_lines(memory, word, position, &count)))
		return 0;
	if (heap->script_line_offset && (!v8_read_word(memory, script, heap->script_line_offset, &word) ||
					 !v8_integer(word, &offset) || offset < 0 || offset > LINES_MAX))
		return 0;
	return count + offset + 1;
}

bool v8_function_read(const struct memory_reader *reader, const struct v8_heap *heap, const struct v8_function_key *key,
		      struct v8_function *function)
{
	const struct v8_memory memory = { reader, heap };
	struct scope scope = { .name = key->name, .begin = -1 };
	uint64_t word;
	uint16_t type;

	function->name[0] = function->file[0] = '\0';
	function->line = 0;
	function->is_whole = true;
	if (v8_has_type(&memory, key->name, heap->scope_type) && !read_scope(&memory, key->name, &scope))
		return false;
	if (!v8_string_read(&memory, scope.name, function->name, sizeof(function->name)) ||
	    (!function->name[0] &&
	     !v8_string_read(&memory, scope.inferred_name, function->name, sizeof(function->name))) ||
	    !v8_read_type(&memory, key->script, &type))
		return false;
	if (type != heap->script_type)
		return true;
	if (!v8_read_word(&memory, key->script, heap->script_name, &word) ||
	    !v8_string_read(&memory, word, function->file, sizeof(function->file)))
		return false;
	/* Its parameters begin there; the word "function", or its name, does a little before. */
	if (key->token != NO_TOKEN && scope.begin >= (int32_t)key->token)
		scope.begin -= key->token;
	if (scope.begin < 0 || !function->file[0])
		return true;
	function->line = line_of(&memory, key->script, scope.begin);
	function->is_whole = function->line;
	return true;
}
