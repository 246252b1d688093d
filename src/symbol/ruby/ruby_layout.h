/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the versions of Ruby (MRI) that we know lay out what we read of them.
 *
 * Owns: what is known of Ruby: where its versions have what, its instruction sequences, their lines and classes.
 * Used by: symbol/object, symbol/worker, symbol/names, symbol.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In bytes. */
struct ruby_version {
	uint32_t number;          /* 0x0301 for 3.1 */
	uint32_t frame_bytes;     /* of a control frame */
	uint8_t lines;            /* where the body of an instruction sequence has its table of lines */
	uint8_t line_bytes;       /* of an entry of that table */
	bool has_fixnum_line;     /* its first line is an object */
	bool has_embedded_length; /* of strings that lie in their object; else it is in the flags */
	bool has_variable_names;  /* classes have their names among their variables; else it is unknown where */
};

/* NULL: not a version that we know. */
const struct ruby_version *ruby_version_find(uint32_t number);
