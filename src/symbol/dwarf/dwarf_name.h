/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What types are called, and what they are declared in. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

enum { DWARF_SCOPES_MAX = 16 };

/* The namespaces, types and functions that a type is declared in, outermost first. */
size_t dwarf_scopes(Dwarf_Die *type, Dwarf_Die scopes[DWARF_SCOPES_MAX]);

bool dwarf_is_namespace(Dwarf_Die *scope);

/* The entry in whose place the one that completes it stands; else itself. */
Dwarf_Die dwarf_declaration(Dwarf_Die entry);

/* Writes the name with the scopes it is in; nothing when it has none. */
void dwarf_type_name(Dwarf_Die *type, char *name, size_t size_bytes);
