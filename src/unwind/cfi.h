/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information (DWARF 5, section 6.4; .eh_frame: LSB 5.0, section 10.6) of x86-64:
 * executes it for all of a file's code at once, and gives the rule for each place, in the form of
 * unwind_format.h. What it says in other words than that form has is left out, never guessed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_section {
	const void *bytes;
	size_t size_bytes;
	uint64_t address; /* where the program sees it */
	bool is_eh;       /* .eh_frame, as opposed to .debug_frame */
};

/* The rule holds from pc on. Addresses rise from call to call; a gap has the rule 0. */
typedef void (*cfi_row_fn)(void *data, uint64_t pc, uint32_t rule);

struct cfi_counts {
	uint64_t functions;
	uint64_t skipped;       /* functions whose description is broken, or overlaps another's */
	uint64_t inexpressible; /* rows that the form has no words for */
};

/* Calls on_row for all functions in the order of their addresses. */
void cfi_read(const struct cfi_section *section, cfi_row_fn on_row, void *data, struct cfi_counts *counts);

struct cfi_function {
	uint64_t begin, end;
};

/* What the section takes for functions, by their begin, for the caller to free. NULL: none. */
struct cfi_function *cfi_functions(const struct cfi_section *section, size_t *count);
