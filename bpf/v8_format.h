/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side must know of V8 to see which frames are those of functions of JavaScript. It comes from what
 * V8 says of itself for debuggers, by way of the engine (src/symbol/v8/v8_file.c).
 */
#pragma once

#include <linux/types.h>

enum {
	V8_TAG_MASK = 3, /* of a word: what it is */
	V8_TAG = 1,      /* an object, at the address before */
};

/* Offsets in bytes, of fields from the beginning of their object. */
struct v8_process {
	__s16 frame_context, frame_function; /* from the frame pointer */
	__u16 function_shared;               /* in JSFunction */
	__u16 object_map;
	__u16 map_type;
	__u16 shared_type; /* what a SharedFunctionInfo's map has there; 0: no V8 */
	__u32 reserved;
};
