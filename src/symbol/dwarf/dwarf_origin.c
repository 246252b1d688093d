/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/dwarf_origin.h"

#include <dwarf.h>
#include <stdint.h>
#include <string.h>

#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_name.h"
#include "symbol/dwarf/line_table.h"

static bool number_of(Dwarf_Die *entry, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, name, &attribute) && !dwarf_formudata(&attribute, number);
}

static bool begins_with(const char *string, const char *prefix)
{
	return !strncmp(string, prefix, strlen(prefix));
}

static bool has_system_name(const char *name, int language)
{
	static const char *const names[] = { "sem_t", "mtx_t", "cnd_t", "once_flag" };

	if (begins_with(name, "pthread_") || begins_with(name, "__"))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return language == DW_LANG_Go && (begins_with(name, "sync.") || begins_with(name, "sync/") ||
					  begins_with(name, "runtime.") || begins_with(name, "internal/"));
}

static bool is_system_folder(const char *path)
{
	static const char *const folders[] = {
		"/usr/include", "/usr/local/include", "/include/c++", "/lib/gcc", "/lib/clang",
	};

	for (size_t i = 0; path && i < sizeof(folders) / sizeof(*folders); i++) {
		const char *at = strstr(path, folders[i]);

		if (at && (at[strlen(folders[i])] == '/' || !at[strlen(folders[i])]))
			return true;
	}
	return false;
}

/* The file that declares the type is one of the system's. */
static bool is_in_system_file(const struct dwarf_file *file, Dwarf_Die *type)
{
	const char *folder = NULL, *name = NULL;
	Dwarf_Die entry = *type, unit;
	struct line_table *lines;
	uint64_t number, place;

	if (!dwarf_hasattr(&entry, DW_AT_decl_file))
		entry = dwarf_declaration(entry);
	if (!number_of(&entry, DW_AT_decl_file, &number) || !dwarf_diecu(&entry, &unit, NULL, NULL) ||
	    !number_of(&unit, DW_AT_stmt_list, &place))
		return false;
	lines = dwarf_cu_getdwarf(entry.cu) == file->dwarf ? file->lines : file->alt_lines;
	if (!lines || !line_table_file(lines, place, number, &folder, &name))
		return false;
	return is_system_folder(folder) || is_system_folder(name);
}

static bool is_system_scope(Dwarf_Die *scope, int language)
{
	const char *name = dwarf_is_namespace(scope) ? dwarf_diename(scope) : NULL;

	if (!name)
		return false;
	return !strcmp(name, "std") || begins_with(name, "__") ||
	       (language == DW_LANG_Rust && (!strcmp(name, "core") || !strcmp(name, "alloc")));
}

static int language_of(Dwarf_Die *type)
{
	Dwarf_Die unit;

	return dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

bool dwarf_is_system(const struct dwarf_file *file, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die scopes[DWARF_SCOPES_MAX];
	int language;

	switch (dwarf_tag(type)) {
	case DW_TAG_typedef:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		break;
	default:
		return false;
	}
	language = language_of(type);
	return (name && has_system_name(name, language)) || is_in_system_file(file, type) ||
	       (dwarf_scopes(type, scopes) && is_system_scope(&scopes[0], language));
}

bool dwarf_is_std_array(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die scopes[DWARF_SCOPES_MAX];

	return name && begins_with(name, "array<") && dwarf_scopes(type, scopes) && dwarf_is_namespace(&scopes[0]) &&
	       dwarf_diename(&scopes[0]) && !strcmp(dwarf_diename(&scopes[0]), "std");
}
