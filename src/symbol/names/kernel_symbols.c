/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/kernel_symbols.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"

enum {
	FUNCTIONS_MAX = 1 << 22,
	MODULES_MAX = 1024,
	LAST_BYTES_MAX = 64 << 10, /* of the last function, whose end nothing says */
};

struct function {
	uint64_t start;
	uint32_t name; /* place in names */
	uint16_t module;
	bool is_global;
};

struct kernel_symbols {
	FILE *file;                 /* NULL: it has been read */
	struct function *functions; /* sorted by start, the best known name last */
	size_t count, capacity;
	char *names;
	size_t names_bytes, names_capacity;
	char *modules[MODULES_MAX];
	size_t module_count;
};

static uint16_t module_number(struct kernel_symbols *symbols, const char *name)
{
	/* kallsyms lists a module's functions together: the last one is nearly always it. */
	for (size_t i = symbols->module_count; i--;)
		if (!strcmp(symbols->modules[i], name))
			return i;
	if (symbols->module_count == MODULES_MAX)
		return 0;
	symbols->modules[symbols->module_count] = xstrdup(name);
	return symbols->module_count++;
}

static uint32_t put_name(struct kernel_symbols *symbols, const char *name)
{
	size_t size_bytes = strlen(name) + 1;
	uint32_t at = symbols->names_bytes;

	if (size_bytes > symbols->names_capacity - symbols->names_bytes) {
		symbols->names_capacity = symbols->names_capacity * 2 + (1 << 16);
		symbols->names = xrealloc(symbols->names, symbols->names_capacity, 1);
	}
	memcpy(symbols->names + at, name, size_bytes);
	symbols->names_bytes += size_bytes;
	return at;
}

/* Ends the word that the string begins with; returns what follows it and the space behind it. */
static char *end_word(char *string)
{
	static const char space[] = " \t\n";
	char *end = string + strcspn(string, space), *next = end + strspn(end, space);

	*end = '\0';
	return next;
}

/* "ffffffff81000000 T name	[module]"; there are so many that sscanf() would take a while. */
static void add_line(struct kernel_symbols *symbols, char *line)
{
	char *type = end_word(line), *name = end_word(type), *module = end_word(name), *end;
	uint64_t start = strtoull(line, &end, 16);

	end_word(module);
	if (*end || !start || !*name || (tolower(*type) != 't' && tolower(*type) != 'w') ||
	    symbols->count == FUNCTIONS_MAX)
		return;
	ARRAY_GROW(symbols->functions, symbols->count, symbols->capacity, 4096);
	symbols->functions[symbols->count++] = (struct function){
		.start = start,
		.name = put_name(symbols, name),
		.module = module_number(symbols, *module ? module : "[kernel]"),
		.is_global = isupper(*type),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->is_global != y->is_global)
		return x->is_global ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

struct kernel_symbols *kernel_symbols_new(const char *path)
{
	struct kernel_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->file = fopen(path, "re");
	module_number(symbols, "[kernel]");
	return symbols;
}

static void read_all(struct kernel_symbols *symbols)
{
	size_t capacity = 0;
	char *line = NULL;

	if (!symbols->file)
		return;
	while (getline(&line, &capacity, symbols->file) > 0)
		add_line(symbols, line);
	free(line);
	fclose(symbols->file);
	symbols->file = NULL;
	if (symbols->count)
		qsort(symbols->functions, symbols->count, sizeof(*symbols->functions), by_start);
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->file)
		fclose(symbols->file);
	for (size_t i = 0; i < symbols->module_count; i++)
		free(symbols->modules[i]);
	free(symbols->names);
	free(symbols->functions);
	free(symbols);
}

bool kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address, struct kernel_function *function)
{
	const struct function *found;
	size_t low;

	read_all(symbols);
	low = BOUND(0, symbols->count, i, symbols->functions[i].start <= address);
	if (!low)
		return false;
	found = &symbols->functions[low - 1];
	if (low == symbols->count && address - found->start >= LAST_BYTES_MAX)
		return false;
	*function = (struct kernel_function){
		.name = symbols->names + found->name,
		.start = found->start,
		.module = symbols->modules[found->module],
	};
	return true;
}

size_t kernel_symbols_count(struct kernel_symbols *symbols)
{
	read_all(symbols);
	return symbols->count;
}
