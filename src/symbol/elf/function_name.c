/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/function_name.h"

#include <ctype.h>
#include <string.h>

/* Parameters, arguments of a template, or what a compiler appended. */
static bool is_end_of_name(const char *rest)
{
	return !*rest || *rest == '(' || *rest == '<' || !strncmp(rest, "::<", 3) || !strncmp(rest, " [clone ", 8);
}

static bool is_part(const char *demangled)
{
	return strstr(demangled, " [clone .cold") || strstr(demangled, " [clone .part.");
}

bool function_is_called(const char *demangled, const char *name)
{
	size_t length = strlen(name);
	unsigned int depth = 0;

	if (!length || is_part(demangled))
		return false;
	/* The name begins the text, or follows a type; what is in brackets is within a type. */
	for (const char *at = demangled; *at; at++) {
		if (!depth && (at == demangled || at[-1] == ' ') && !strncmp(at, name, length) &&
		    is_end_of_name(at + length))
			return true;
		if (*at == '(' && at != demangled && at[-1] != ' ' && !depth)
			return false; /* the parameters */
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && depth)
			depth--;
	}
	return false;
}

const char *function_last_word(const char *name)
{
	const char *at = name + strlen(name);

	while (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		at--;
	return at;
}
