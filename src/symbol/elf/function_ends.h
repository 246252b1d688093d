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

/* Where a call or a jump leads. */
struct code_target {
	enum code_target_kind {
		TARGET_CODE, /* to an address */
		TARGET_SLOT, /* to what lies at an address, which the dynamic linker fills in */
		TARGET_UNKNOWN,
	} kind;
	uint64_t address;
};

/*
 * Calls on_jump for each jump, conditional ones as well, that leaves code which is loaded to an address; at: the
 * jump's own. Those of a switch do not. False: not all of it is code.
 */
bool function_jumps(const uint8_t *code, size_t size_bytes, uint64_t address,
		    void (*on_jump)(void *data, uint64_t at, const struct code_target *target), void *data);

enum { CODE_CALL_BYTES = 6 };

/*
 * The call that ends before an address, of the bytes before it. Returns the size of the instruction; 0: none whose
 * target is known. Where no instruction begins at its place, it is none.
 */
size_t code_call(const uint8_t before[CODE_CALL_BYTES], uint64_t address, struct code_target *target);

/* Whether one of the instructions of code that is loaded to an address begins at so many bytes. */
bool function_has_instruction(const uint8_t *code, size_t size_bytes, uint64_t address, uint64_t at);
