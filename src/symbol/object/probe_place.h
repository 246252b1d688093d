/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a probe may be put into a file. It takes the place of the first byte of an instruction, in each
 * process that has the file mapped: anywhere else it changes what the program does. A symbol is not enough
 * to know such a place, for symbols can be wrong, and those of a debug file are another file's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object;

/*
 * Whether a function can be at an address as the file has it, with so many bytes (0: unknown); puts where
 * that is in the file into *file_offset. It must lie in one segment that is loaded to be executed, and at the
 * beginning of an instruction, counted from where a function begins by the file's call frame information.
 * is_own: the symbol is the file's own, and counts where that tells nothing; that of a debug file must lie
 * within one function by it.
 */
bool probe_place_find(struct object *object, uint64_t address, uint64_t size_bytes, bool is_own, uint64_t *file_offset);

/* Up to size_bytes of code from a place in the file on, as the file has it. Returns how many there are. */
uint64_t probe_place_read(const struct object *object, uint64_t file_offset, uint8_t *code, uint64_t size_bytes);
