/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a V8 lays out what names of functions are read from. A file says it, along with its unwind table; it may say
 * anything.
 */
#pragma once

#include <stdint.h>

/* Offsets in bytes from the beginning of an object, and values that its fields have. */
struct v8_heap {
	uint16_t is_known; /* 0: none of what follows is */
	uint16_t object_map, map_type;
	/* Types, as maps have them, and what those of strings are made of. */
	uint16_t shared_type, scope_type, script_type, array_type, string_type_end;
	uint16_t string_form_mask, string_is_one_byte;
	uint16_t form_sequential, form_cons, form_external, form_sliced, form_thin;
	/* SharedFunctionInfo, Script. */
	uint16_t shared_name, shared_script, shared_token;
	uint16_t script_name, script_source, script_line_ends;
	uint16_t script_line_offset; /* 0: unknown */
	/* Strings, arrays. */
	uint16_t string_length, string_characters;
	uint16_t cons_first, cons_second, sliced_parent, sliced_offset, thin_actual, external_resource;
	uint16_t array_length, array_items;
	/* ScopeInfo, in words behind its map. */
	uint16_t scope_local_count, scope_locals;
	uint16_t scope_has_positions; /* before the locals; else behind what names it */
};
