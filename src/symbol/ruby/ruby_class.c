/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Up to Ruby 3.1 a class has its name among its variables, under a symbol whose number differs from program to
 * program. BasicObject, the end of all chains of superclasses, tells it: it is what its name is under.
 */
#include "symbol/ruby/ruby_class.h"

#include <string.h>

enum {
	CLASS_HEAD = 0,
	CLASS_CLASS = 1,
	CLASS_SUPERCLASS = 2,
	CLASS_EXTENSION = 3,
	CLASS_WORDS = 4,
	CLASS_IS_SINGLETON = 1 << 12,
	EXTENSION_VARIABLES = 8,

	/* Of a table, in words. */
	TABLE_BEGIN = 4,
	TABLE_END = 5,
	TABLE_ENTRIES = 6,
	TABLE_WORDS = 7,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	ENTRY_WORDS = 3,

	ENTRIES_MAX = 64, /* the name is among the first */
	SUPERCLASSES_MAX = 64,
};

struct variables {
	uint64_t entries[ENTRIES_MAX][ENTRY_WORDS];
	size_t count;
};

static bool read_class(const struct ruby_memory *memory, uint64_t address, uint64_t *class)
{
	enum ruby_kind kind;

	if (!ruby_read_words(memory, address, class, CLASS_WORDS))
		return false;
	kind = ruby_kind_of(class[CLASS_HEAD]);
	return kind == RUBY_CLASS || kind == RUBY_MODULE || kind == RUBY_INCLUDED;
}

static bool read_variables(const struct ruby_memory *memory, const uint64_t *class, struct variables *variables)
{
	uint64_t place, table[TABLE_WORDS];
	size_t count;

	variables->count = 0;
	if (!class[CLASS_EXTENSION] ||
	    !ruby_read_words(memory, class[CLASS_EXTENSION] + EXTENSION_VARIABLES, &place, 1) ||
	    !ruby_read_words(memory, place, table, TABLE_WORDS) || table[TABLE_BEGIN] >= table[TABLE_END])
		return false;
	count = table[TABLE_END] - table[TABLE_BEGIN] < ENTRIES_MAX ? table[TABLE_END] - table[TABLE_BEGIN]
								    : ENTRIES_MAX;
	if (!ruby_read_words(memory, table[TABLE_ENTRIES] + table[TABLE_BEGIN] * sizeof(variables->entries[0]),
			     variables->entries[0], count * ENTRY_WORDS))
		return false;
	variables->count = count;
	return true;
}

/* The symbol that names are under; 0: not found. */
static uint64_t find_key(const struct ruby_memory *memory, const uint64_t *class)
{
	char name[RUBY_CLASS_NAME_BYTES];
	struct variables variables;
	uint64_t words[CLASS_WORDS];

	memcpy(words, class, sizeof(words));
	/* The chain of a module may be empty; that of its class is not. */
	if (ruby_kind_of(words[CLASS_HEAD]) == RUBY_MODULE && !read_class(memory, words[CLASS_CLASS], words))
		return 0;
	for (uint32_t i = 0; i < SUPERCLASSES_MAX && words[CLASS_SUPERCLASS]; i++)
		if (!read_class(memory, words[CLASS_SUPERCLASS], words))
			return 0;
	if (!read_variables(memory, words, &variables))
		return 0;
	for (size_t i = 0; i < variables.count; i++)
		if (ruby_read_string(memory, variables.entries[i][ENTRY_VALUE], name, sizeof(name)) &&
		    !strcmp(name, "BasicObject"))
			return variables.entries[i][ENTRY_KEY];
	return 0;
}

/* The class or module whose own methods a singleton class has. */
static bool find_attached(const struct ruby_memory *memory, uint64_t *class)
{
	struct variables variables;

	if (!read_variables(memory, class, &variables))
		return false;
	for (size_t i = 0; i < variables.count; i++)
		if (read_class(memory, variables.entries[i][ENTRY_VALUE], class))
			return true;
	return false;
}

bool ruby_class_read(const struct ruby_memory *memory, uint64_t address, char name[RUBY_CLASS_NAME_BYTES],
		     bool *is_singleton)
{
	uint64_t class[CLASS_WORDS], key;
	struct variables variables;

	name[0] = '\0';
	if (!memory->version->has_variable_names || !read_class(memory, address, class))
		return false;
	if (ruby_kind_of(class[CLASS_HEAD]) == RUBY_INCLUDED && !read_class(memory, class[CLASS_CLASS], class))
		return false;
	*is_singleton = class[CLASS_HEAD] & CLASS_IS_SINGLETON;
	if (*is_singleton && !find_attached(memory, class))
		return false;
	key = find_key(memory, class);
	if (!key || !read_variables(memory, class, &variables))
		return false;
	for (size_t i = 0; i < variables.count; i++)
		if (variables.entries[i][ENTRY_KEY] == key)
			return ruby_read_string(memory, variables.entries[i][ENTRY_VALUE], name, RUBY_CLASS_NAME_BYTES);
	return false;
}
