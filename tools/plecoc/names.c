/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which words may be names in the generated header. */
#include "names.h"

#include <string.h>

static const char *const keywords[] = {
	"auto",       "break",     "case",           "char",          "const",    "continue", "default",  "do",
	"double",     "else",      "enum",           "extern",        "float",    "for",      "goto",     "if",
	"inline",     "int",       "long",           "register",      "restrict", "return",   "short",    "signed",
	"sizeof",     "static",    "struct",         "switch",        "typedef",  "union",    "unsigned", "void",
	"volatile",   "while",     "_Alignas",       "_Alignof",      "_Atomic",  "_Bool",    "_Complex", "_Generic",
	"_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "asm",      "typeof",
};

static const char *const reserved[] = {
	"header", /* the first field of every event */
	"linux",
	"unix", /* macros of -std=gnu11, worth 1 */
	"__linux",
	"__unix",
	"__amd64",
	"__x86_64",
	"__k8",
	/* keywords of C23 and macros of <stdbool.h>, <stddef.h> and <assert.h> */
	"alignas",
	"alignof",
	"bool",
	"constexpr",
	"false",
	"nullptr",
	"static_assert",
	"thread_local",
	"true",
	"typeof_unqual",
	"offsetof",
	"NULL",
	"assert",
	/* keywords of GNU C that do not also end in "__" */
	"__alignof",
	"__asm",
	"__attribute",
	"__auto_type",
	"__complex",
	"__const",
	"__float128",
	"__imag",
	"__inline",
	"__int128",
	"__real",
	"__restrict",
	"__signed",
	"__thread",
	"__typeof",
	"__volatile",
	"_Decimal32",
	"_Decimal64",
	"_Decimal128",
	"_Float16",
	"_Float32",
	"_Float32x",
	"_Float64",
	"_Float64x",
	"_Float128",
	"_Nonnull",
	"_Nullable",
	"_Accum",
	"_Fract",
	"_Sat",
	"_BitInt",
	"_ExtInt",
	/* the guards of the generated header */
	"TRACE_DEFS_H",
	"TRACE_DEFS_JSON",
	"TRACE_DEFS_SIZE",
	"TRACE_NUM_SUBSYSTEMS",
	"__PINCH_KERNEL_TYPES",
};

static bool is_in(const char *const *list, size_t count, const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(list[i]) == size && !memcmp(list[i], name, size))
			return true;
	return false;
}

static bool starts_with(const char *name, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && !memcmp(name, prefix, strlen(prefix));
}

bool name_is_identifier(const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		bool is_letter =
			(name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') || name[i] == '_';

		if (!is_letter && !(i && name[i] >= '0' && name[i] <= '9'))
			return false;
	}
	return size;
}

bool name_is_keyword(const char *name, size_t size)
{
	return is_in(keywords, sizeof(keywords) / sizeof(keywords[0]), name, size);
}

bool name_is_reserved_for_field(const char *name, size_t size)
{
	/* __GNUC__, __linux__, __LINE__ and all their kin */
	bool is_predefined = size > 4 && starts_with(name, size, "__") && !memcmp(name + size - 2, "__", 2);

	return is_predefined || starts_with(name, size, "TRACE_SUBSYS_") || starts_with(name, size, "TRACE_EVENT_") ||
	       is_in(reserved, sizeof(reserved) / sizeof(reserved[0]), name, size);
}
