/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of data. A symbol gives the variable, debug information the function and the member. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_path.h"
#include "symbol/dwarf/dwarf_variables.h"
#include "symbol/elf/demangle.h"
#include "symbol/object/object_internal.h"

/* Where a compiler's suffix begins that tells equal names apart: "count.0", "count.lto_priv.1". */
static size_t length_without_suffix(const char *name)
{
	size_t length = strlen(name);

	for (;;) {
		size_t at = length;

		while (at && isdigit((unsigned char)name[at - 1]))
			at--;
		if (at < 2 || at == length || name[at - 1] != '.')
			break;
		length = at - 1;
	}
	if (length > 9 && !strncmp(name + length - 9, ".lto_priv", 9))
		length -= 9;
	return length;
}

static bool is_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2);
}

/* What a linker's name means; from '@' on it has the version of its library. */
static void put_symbol(const char *linked, char *name, size_t size_bytes)
{
	size_t length = 1 + strcspn(linked + 1, "@");
	char symbol[ANSWER_NAME_BYTES * 4], *clone;

	snprintf(symbol, sizeof(symbol), "%.*s", (int)(length < sizeof(symbol) ? length : sizeof(symbol) - 1), linked);
	if (!is_mangled(symbol))
		symbol[length_without_suffix(symbol)] = '\0';
	demangle(symbol, name, size_bytes);
	/* Of a variable there is one: the rest is the compiler's. */
	clone = strstr(name, " [clone ");
	if (clone)
		*clone = '\0';
}

/*
 * The name of the function that a variable is static in. Of one that was inlined everywhere, clang
 * leaves it out; but its linker's names are "function.variable".
 */
static void put_function(struct dwarf_variable *variable, const char *linked, const char *own, char *name,
			 size_t size_bytes)
{
	const char *function = dwarf_diename(&variable->function);
	size_t length = length_without_suffix(linked), own_length = strlen(own);

	if (function)
		snprintf(name, size_bytes, "%s()::", function);
	else if (length > own_length + 1 && linked[length - own_length - 1] == '.' &&
		 !strncmp(linked + length - own_length, own, own_length))
		snprintf(name, size_bytes, "%.*s()::", (int)(length - own_length - 1), linked);
}

/* C's linker name says neither the function nor, for several equal ones, the very name. */
static void put_entry(struct dwarf_variable *variable, const char *linked, char *name, size_t size_bytes)
{
	const char *own = dwarf_diename(&variable->entry);
	size_t length;

	if (is_mangled(linked) || !own || !own[0]) {
		put_symbol(linked, name, size_bytes);
		return;
	}
	name[0] = '\0';
	if (variable->has_function)
		put_function(variable, linked, own, name, size_bytes);
	length = strlen(name);
	snprintf(name + length, size_bytes - length, "%s", own);
}

static bool find_entry(struct object *object, uint64_t start, struct dwarf_variable *variable)
{
	object_open_dwarf(object);
	if (object->dwarf && !object->dwarf_variables)
		object->dwarf_variables = dwarf_variables_new(object->dwarf);
	return object->dwarf && dwarf_variables_find(object->dwarf_variables, start, variable);
}

static uint32_t put_text(struct variable_answer *answer, const char *string)
{
	uint32_t place = answer->text_bytes;
	size_t size_bytes = strlen(string) + 1;

	if (size_bytes <= 1 || size_bytes > sizeof(answer->text) - place)
		return 0;
	memcpy(answer->text + place, string, size_bytes);
	answer->text_bytes += size_bytes;
	return place;
}

static void put_variable(struct object *object, uint64_t distance, const struct elf_symbol *symbol, bool wants_types,
			 struct variable_answer *answer)
{
	struct dwarf_path path = { .rest = distance };
	char variable[ANSWER_NAME_BYTES / 2], name[ANSWER_NAME_BYTES], rest[32] = "";
	struct dwarf_variable entry;

	if (wants_types && find_entry(object, symbol->start, &entry)) {
		put_entry(&entry, symbol->name, variable, sizeof(variable));
		dwarf_path_find(object->dwarf, &entry.entry, distance, &path);
	} else {
		put_symbol(symbol->name, variable, sizeof(variable));
	}
	if (path.rest)
		snprintf(rest, sizeof(rest), "+0x%llx", (unsigned long long)path.rest);
	snprintf(name, sizeof(name), "%s%.*s%s", variable, (int)(sizeof(name) - sizeof(variable) - sizeof(rest)),
		 path.members, rest);
	answer->name = put_text(answer, name);
	answer->type = put_text(answer, path.type);
	answer->is_whole = !path.rest;
}

void object_find_variable(struct object *object, uint64_t address, bool wants_types, struct variable_answer *answer)
{
	struct elf_symbol symbol;

	memset(answer, 0, offsetof(struct variable_answer, text));
	answer->text[answer->text_bytes++] = '\0';
	if (!(object->flags & ANSWER_NOT_ELF)) {
		if (!object->variables)
			object->variables = object_symbols_new(object, ELF_VARIABLES);
		if (elf_symbols_find(object->variables, address, &symbol))
			put_variable(object, address - symbol.start, &symbol, wants_types, answer);
		else
			object_open_symbols(object); /* says whether there are any */
	}
	answer->flags = object->flags | (wants_types ? 0 : ANSWER_BY_SYMBOLS);
}
