/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace says of itself: the machine, and what its events mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text;

/* Puts the JSON object of a chunk TRACE_CHUNK_INFO: doc/pinch-trace.5. */
void trace_info_put(struct text *out);

/* The same of a trace that is made of another one, with that one's machine. */
void trace_info_put_of(struct text *out, const char *info, size_t size_bytes);

/*
 * Puts a string that is a member of such an object, as JSON escapes it; anyone may have written it. Only
 * members before the first that is no string are found.
 */
bool trace_info_find(const char *info, size_t size_bytes, const char *key, struct text *out);
