/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The methods of code that Java virtual machines compiled, by address space and address, with those that were inlined into
 * others. They are read while the process lives, soon after a stack or a sample first showed the code, by the worker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct java_methods;
struct modules;
struct session;
struct spaces;
struct threads;
struct worker;

/* Subscribes to session; borrows all of them. */
struct java_methods *java_methods_new(struct session *session, struct spaces *spaces, struct modules *modules,
				      struct worker *worker);
void java_methods_free(struct java_methods *methods);

/* Looks at the session's stacks and samples, and at their processes; threads tell whose they are. */
void java_methods_follow(struct java_methods *methods, struct threads *threads);

/* Asks for what was seen and is not known, for about so long at most. */
void java_methods_step(struct java_methods *methods, uint64_t limit_ns);

/* Whether a frame is of a method that is interpreted: it is an address like others here. */
bool java_methods_is_interpreted(uint64_t frame);

/* Where the method lies that is interpreted; of other frames the address itself. */
uint64_t java_methods_address(uint64_t frame);

/* Whether any code of a process in this space has names. */
bool java_methods_has(const struct java_methods *methods, uint32_t space);

/* What the code at an address was at time_ns, as of a place in a file; it is valid as long as methods. NULL: unknown. */
const struct answer *java_methods_find(const struct java_methods *methods, uint32_t space, uint64_t time_ns,
				       uint64_t address, size_t *size_bytes);
