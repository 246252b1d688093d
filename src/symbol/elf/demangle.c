/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { SYMBOL_BYTES_MAX = 16384 }; /* longer ones are shown as they are */

/* Copies what fits; the rest becomes "...". */
static void put(char *name, size_t size_bytes, const char *text)
{
	if ((size_t)snprintf(name, size_bytes, "%s", text) >= size_bytes && size_bytes > 4)
		strcpy(name + size_bytes - 4, "...");
}

/* Where the words that a compiler appended to a C name begin, NULL when it appended none. */
static const char *find_clone(const char *symbol)
{
	static const char *const words[] = {
		".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".clone.", ".localalias",
	};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *at = strstr(symbol, words[i]);

		if (at && at != symbol && (!first || at < first))
			first = at;
	}
	return first;
}

/* "a.isra.0.cold" has two: the form is libiberty's, which groups a word with its numbers. */
static void put_clones(char *name, size_t size_bytes, const char *symbol, const char *clone)
{
	struct text text = { 0 };

	text_put_bytes(&text, symbol, clone - symbol);
	while (*clone == '.' && text.length < SYMBOL_BYTES_MAX) {
		const char *end = clone + 1;

		while (*end && *end != '.')
			end++;
		while (*end == '.' && isdigit((unsigned char)end[1]))
			end += 1 + strspn(end + 1, "0123456789");
		text_printf(&text, " [clone %.*s]", (int)(end - clone < 256 ? end - clone : 256), clone);
		clone = end;
	}
	put(name, size_bytes, text.bytes);
	text_fini(&text);
}

/* ".llvm.1234" tells apart equal names of several files and means nothing to a reader. */
static size_t length_without_llvm(const char *symbol)
{
	const char *at = strstr(symbol, ".llvm.");

	return at ? (size_t)(at - symbol) : strlen(symbol);
}

/* The callbacks allocate no result, and write no more than fits however much a name expands to. */
struct output {
	char *name;
	size_t length, size_bytes;
	bool is_cut;
};

static void on_part(const char *part, size_t length, void *data)
{
	struct output *output = data;
	size_t capacity = output->size_bytes - 1 - output->length;

	if (length > capacity) {
		length = capacity;
		output->is_cut = true;
	}
	memcpy(output->name + output->length, part, length);
	output->length += length;
	output->name[output->length] = '\0';
}

/* "[abi:cxx11]" tells apart libraries that were built against two kinds of std::string, and means nothing to a reader. */
static void drop_abi_tags(char *name)
{
	static const char begin[] = "[abi:";
	char *tag = name;

	while ((tag = strstr(tag, begin))) {
		char *end = strchr(tag, ']');

		if (!end)
			return;
		memmove(tag, end + 1, strlen(end + 1) + 1);
	}
}

/* Rust first: its older names are valid C++ ones with a hash at their end. */
static bool demangle_with(const char *symbol, char *name, size_t size_bytes)
{
	static int (*const demanglers[])(const char *, int, demangle_callbackref, void *) = {
		rust_demangle_callback,
		cplus_demangle_v3_callback,
	};

	for (size_t i = 0; i < sizeof(demanglers) / sizeof(*demanglers); i++) {
		struct output output = { .name = name, .size_bytes = size_bytes };

		if (!demanglers[i](symbol, DMGL_PARAMS | DMGL_ANSI, on_part, &output) || !output.length)
			continue;
		if (output.is_cut && size_bytes > 4)
			strcpy(name + size_bytes - 4, "...");
		drop_abi_tags(name);
		return true;
	}
	return false;
}

static bool may_be_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) || !strncmp(symbol, "_GLOBAL_", 8);
}

static void demangle_plain(const char *symbol, char *name, size_t size_bytes)
{
	const char *clone;

	if (may_be_mangled(symbol) && demangle_with(symbol, name, size_bytes))
		return;
	clone = find_clone(symbol);
	if (clone)
		put_clones(name, size_bytes, symbol, clone);
	else
		put(name, size_bytes, symbol);
}

void demangle(const char *symbol, char *name, size_t size_bytes)
{
	size_t length = length_without_llvm(symbol);
	struct text plain = { 0 };

	if (length >= SYMBOL_BYTES_MAX) {
		put(name, size_bytes, symbol);
	} else if (!symbol[length]) {
		demangle_plain(symbol, name, size_bytes);
	} else {
		text_put_bytes(&plain, symbol, length);
		demangle_plain(plain.bytes ? plain.bytes : "", name, size_bytes);
		text_fini(&plain);
	}
}
