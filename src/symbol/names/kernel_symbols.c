/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/kernel_symbols.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"

enum {
	FUNCTIONS_MAX = 1 << 22,
	MODULES_MAX = 1024,
	LAST_BYTES_MAX = 64 << 10, /* of the last function, whose end nothing says */
	BUFFER_BYTES = 16 << 10,
	LINES_AT_ONCE = 256,
};

struct function {
	uint64_t start;
	uint32_t name; /* place in names */
	uint16_t module;
	bool is_global;
};

struct kernel_symbols {
	FILE *file;                 /* NULL: it has been read */
	const char *modules_path;   /* borrowed */
	uint64_t modules_hash;      /* when the first functions were read */
	bool has_kernels;           /* all of the kernel's own */
	size_t sorted_count;        /* of the functions */
	struct function *functions; /* sorted by start, the best known name last */
	size_t count, capacity;
	char *names;
	size_t names_bytes, names_capacity;
	char *modules[MODULES_MAX];
	size_t module_count;
	char *line;
	size_t line_capacity;
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

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Ends the word that the string begins with; returns what follows it and the space behind it. */
static char *end_word(char *string)
{
	char *end = string;

	while (*end && !is_space(*end))
		end++;
	while (is_space(*end))
		*end++ = '\0';
	return end;
}

/* 0: it is no number, or that one. */
static uint64_t hexadecimal(const char *word)
{
	uint64_t number = 0;

	for (; *word; word++) {
		if (!isxdigit((unsigned char)*word))
			return 0;
		number = number << 4 | (*word <= '9' ? *word - '0' : (*word | 0x20) - 'a' + 10);
	}
	return number;
}

/* "ffffffff81000000 T name	[module]"; there are so many that sscanf() would take a while. */
static void add_line(struct kernel_symbols *symbols, char *line)
{
	char *type = end_word(line), *name = end_word(type), *module = end_word(name);
	uint64_t start = hexadecimal(line);

	end_word(module);
	if (!start || !*name || (tolower(*type) != 't' && tolower(*type) != 'w') || symbols->count == FUNCTIONS_MAX)
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

struct kernel_symbols *kernel_symbols_new(const char *path, const char *modules)
{
	struct kernel_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->file = fopen(path, "re");
	if (symbols->file)
		setvbuf(symbols->file, NULL, _IOFBF, BUFFER_BYTES);
	symbols->modules_path = modules;
	module_number(symbols, "[kernel]");
	return symbols;
}

/* Those behind the ones that are sorted; all of them if they do not lie behind. */
static void sort(struct kernel_symbols *symbols)
{
	size_t begin = symbols->sorted_count;

	for (size_t i = begin; begin && i < symbols->count; i++)
		if (symbols->functions[i].start <= symbols->functions[begin - 1].start)
			begin = 0;
	if (begin < symbols->count)
		qsort(symbols->functions + begin, symbols->count - begin, sizeof(*symbols->functions), by_start);
	symbols->sorted_count = symbols->count;
}

/* Reads a line; false: that was all. */
static bool read_line(struct kernel_symbols *symbols, bool *is_kernels)
{
	ssize_t length = getline(&symbols->line, &symbols->line_capacity, symbols->file);

	*is_kernels = length > 0 && !strchr(symbols->line, '[');
	/* The first of a module or a program may not be the lowest of these. */
	if (length > 0 && !*is_kernels && !symbols->has_kernels)
		sort(symbols);
	symbols->has_kernels = symbols->has_kernels || !*is_kernels;
	if (length > 0)
		add_line(symbols, symbols->line);
	return length > 0;
}

/* Which modules there are, and where; how many use them does not matter. */
static uint64_t hash_of_modules(const struct kernel_symbols *symbols)
{
	FILE *file = fopen(symbols->modules_path, "re");
	uint64_t hash = 1;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		const char *address = strstr(line, " 0x");

		line[strcspn(line, " ")] = '\0';
		hash = hash_string(hash_string(hash, line), address ? address : "");
	}
	if (file)
		fclose(file);
	return hash ? hash : 1;
}

void kernel_symbols_step(struct kernel_symbols *symbols, uint64_t limit_ns)
{
	uint64_t end_ns = clock_ns() + limit_ns;
	bool is_kernels = true;

	if (!symbols->file || symbols->has_kernels)
		return;
	if (!symbols->modules_hash)
		symbols->modules_hash = hash_of_modules(symbols);
	do {
		for (int i = 0; i < LINES_AT_ONCE && is_kernels; i++)
			read_line(symbols, &is_kernels);
	} while (is_kernels && clock_ns() < end_ns);
}

/* A few functions of modules have come with the kernel's: of other modules, everything is read again. */
static void read_all(struct kernel_symbols *symbols)
{
	bool is_kernels;

	if (!symbols->file)
		return;
	if (symbols->modules_hash && symbols->modules_hash != hash_of_modules(symbols)) {
		rewind(symbols->file);
		symbols->count = symbols->sorted_count = symbols->names_bytes = 0;
	}
	while (read_line(symbols, &is_kernels))
		;
	sort(symbols);
	fclose(symbols->file);
	symbols->file = NULL;
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
	free(symbols->line);
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
