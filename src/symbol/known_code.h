/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code of functions that was read a moment ago, for who asks for it again because of another place in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_answer;
struct known_code;

struct known_code *known_code_new(void);
void known_code_free(struct known_code *known);

/* A function, and a place in it for which size_bytes of its code are wanted; all are offsets in the file of a module. */
struct code_place {
	uint32_t module;
	uint64_t function; /* where it begins */
	uint64_t offset;
	size_t size_bytes;
};

/* What the worker would answer; NULL: it has to be asked. Valid until the next call of known_code_put(). */
const struct code_answer *known_code_find(const struct known_code *known, const struct code_place *place);

/* Remembers an answer for that place, if it begins with the function; forgets others when they are many. */
void known_code_put(struct known_code *known, const struct code_place *place, const struct code_answer *answer);
