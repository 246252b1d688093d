/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a function's code leaves it, as machine code says: by a return, or by a jump in place of one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/*
 * Calls on_end for each of them, at so many bytes from the beginning, of code that is loaded to an address. A
 * jump to elsewhere may be to a part of the function that lies there: where its frame is says. False: not all
 * of it is code.
 */
bool function_ends(const uint8_t *code, size_t size_bytes, uint64_t address,
		   void (*on_end)(void *data, uint64_t at, bool is_jump), void *data);

/* Whether one of the instructions of code that is loaded to an address begins at so many bytes. */
bool function_has_instruction(const uint8_t *code, size_t size_bytes, uint64_t address, uint64_t at);
