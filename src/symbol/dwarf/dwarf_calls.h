/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where functions call others, as compilers describe it: DWARF 5, section 3.4, and GNU's form of it in DWARF 4. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dwarf_file;

/*
 * True when all tail calls of the function at an address are described, and each of them has one target: then its
 * indirect jumps are those of a switch.
 */
bool dwarf_tail_calls_are_direct(const struct dwarf_file *dwarf, uint64_t address);
