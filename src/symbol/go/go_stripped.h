/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Go program still says of its runtime when symbols or debug information were removed: its version, and code of
 * known functions that refers to what is wanted.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct go_layout;
struct go_table;

/* Fills in the addresses of the list: from the code of a function that reads both. False: there is none of that form. */
bool go_stripped_find_list(Elf *program, const struct go_table *table, struct go_layout *layout);

/* The address and the size of the table of reasons, from the code of the function that names them. */
bool go_stripped_find_reasons(Elf *program, const struct go_table *table, uint64_t *address, uint64_t *size_bytes);

/* Fills in the offsets, if they are known of the version that the program was built with. */
bool go_stripped_offsets(Elf *program, struct go_layout *layout);
