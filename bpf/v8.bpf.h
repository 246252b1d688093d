/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of functions of JavaScript. V8 keeps frame pointers, and on the stack what function a frame is of, whether
 * it interprets the function or has compiled it. This is only looked for in code without an unwind table.
 *
 * Memory may hold anything: each reading may fail, and what is no function is none.
 */
#pragma once

#include "unwind_format.h"
#include "values.h"

static __always_inline bool v8_is_object(__u64 word)
{
	return (word & V8_TAG_MASK) == V8_TAG;
}

/* A field of an object, which its word points to. */
static __always_inline bool v8_read(__u64 object, __u32 offset, void *to, __u32 bytes)
{
	return v8_is_object(object) && !bpf_probe_read_user(to, bytes, (void *)(object - V8_TAG + offset));
}

/*
 * The frame that is being examined as a managed one; 0: it is none of JavaScript. The function is known by its
 * SharedFunctionInfo, which all closures of it have in common and which hardly ever moves.
 */
static __always_inline __u64 v8_frame(struct unwind *u)
{
	const struct v8_process *v8 = &u->space.v8;
	__u64 context, function, shared, map;
	__u16 type = 0;

	/* Where frames of other kinds say which one they are, this one has an object. */
	if (!word_read(u, u->bp + v8->frame_function, &function) || !v8_is_object(function) ||
	    !word_read(u, u->bp + v8->frame_context, &context) || !v8_is_object(context) ||
	    !v8_read(function, v8->function_shared, &shared, sizeof(shared)) ||
	    !v8_read(shared, v8->object_map, &map, sizeof(map)) || !v8_read(map, v8->map_type, &type, sizeof(type)) ||
	    type != v8->shared_type)
		return 0;
	return STACK_FRAME_MANAGED | ((shared - V8_TAG) << STACK_MANAGED_SHIFT & STACK_MANAGED_CODE) |
	       STACK_MANAGED_JAVASCRIPT;
}
