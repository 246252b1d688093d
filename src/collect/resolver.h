/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows getaddrinfo() in each C library that traced processes map, so that file.HOST events tell
 * which names they resolve. What is attached goes with the kernel side.
 */
#pragma once

#include <stdint.h>

#include "session/session.h"

struct kernel;
struct resolver;
struct symbols;

/*
 * Begins with the library that this process uses: a command that is started resolves names before
 * anybody could look what it has mapped. Borrows all three.
 */
struct resolver *resolver_new(struct session *session, struct symbols *symbols, struct kernel *kernel);
void resolver_free(struct resolver *resolver);

/* Attaches to what has been mapped since the last call. */
void resolver_update(struct resolver *resolver);

/* A sentence about what could not be followed; NULL: nothing. Valid until resolver_free(). */
const char *resolver_note(struct resolver *resolver);
