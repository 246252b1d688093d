/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way from a variable to what lies at some distance in it, by its type. */
#pragma once

#include <elfutils/libdw.h>
#include <stdint.h>

struct dwarf_file;

enum { DWARF_PATH_BYTES = 1024, DWARF_TYPE_BYTES = 1024 };

struct dwarf_path {
	char members[DWARF_PATH_BYTES]; /* ".lock", "[3].lock"; nothing: the variable itself */
	char type[DWARF_TYPE_BYTES];    /* of what this names; nothing when it has no name */
	uint64_t rest;                  /* bytes from there on that no member accounts for */
};

/*
 * Goes down to the innermost member, but not into types of the system: to a user, a mutex has no
 * inside.
 */
void dwarf_path_find(const struct dwarf_file *file, Dwarf_Die *variable, uint64_t distance, struct dwarf_path *path);
