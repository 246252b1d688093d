/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where types come from. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

struct dwarf_file;

/*
 * True when the type is one of the system's or of a language's own library: what is in it is not
 * the user's to name.
 */
bool dwarf_is_system(const struct dwarf_file *file, Dwarf_Die *type);

/* True for std::array, which stands for the array in it. */
bool dwarf_is_std_array(Dwarf_Die *type);
