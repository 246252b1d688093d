/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the functions that begin and end tasks, in each file that traced processes map and that a span
 * names. What is attached goes with the kernel side.
 */
#pragma once

#include <stdint.h>

#include "session/session.h"

struct kernel;
struct span_functions;
struct span_specs;
struct symbols;
struct text;

/* Borrows all of them. */
struct span_functions *span_functions_new(struct session *session, struct symbols *symbols, struct kernel *kernel,
					  const struct span_specs *specs);
void span_functions_free(struct span_functions *functions);

/*
 * Attaches to those files that are known by their path, or along PATH, before any process maps them: their
 * first calls are recorded, too. program: a command that is going to be started; NULL: none. 0, or -ENOENT
 * after having said that such a file has no function of this name.
 */
int span_functions_expect(struct span_functions *functions, const char *program);

/* Attaches to what has been mapped since the last call. */
void span_functions_update(struct span_functions *functions);

/* Sentences about what could not be followed, or is several functions, a NUL after each. */
void span_functions_put_notes(const struct span_functions *functions, struct text *notes);
