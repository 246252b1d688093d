/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known about a value as code goes along: a name for it, so that it is recognised, and what it
 * depends on. Places where values are kept have numbers below 64 (enum spin_location, then the
 * variables on the stack), so that sets of them are words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where a value has come from. */
enum spin_origin {
	SPIN_POLLED = 1,   /* memory that others may write to */
	SPIN_LOCAL = 2,    /* a variable on the stack that is only read */
	SPIN_CHANGING = 4, /* a clock, or what a call returned */
	SPIN_WALKED = 8,   /* a loop within the loop has changed it in its own turns */
};

/* Two values with the same symbol differ by their offsets. One of these, plus a number. */
enum spin_symbol {
	SPIN_UNKNOWN = 0,
	SPIN_NUMBER = 1,    /* 0, so that the offset is the value */
	SPIN_ZERO_FLAG = 2, /* of the flags: the offset is their zero flag */
	SPIN_INITIAL = 64,  /* of a location, when a turn begins */
	SPIN_READ = 256,    /* of a place in memory */
	SPIN_RESULT = 512,  /* of a step */
};

struct spin_value {
	uint64_t depends; /* on what these locations held when the turn began; as bits */
	uint64_t stepped; /* on these not as they were, */
	uint64_t mixed;   /* and on these by more than addition */
	int64_t offset;
	uint16_t symbol;
	uint8_t from;   /* enum spin_origin, several of them */
	uint8_t reader; /* the step that read it, when it comes from memory */
};

static inline struct spin_value spin_value_number(int64_t number)
{
	return (struct spin_value){ .symbol = SPIN_NUMBER, .offset = number };
}

static inline struct spin_value spin_value_unknown(uint8_t from)
{
	return (struct spin_value){ .from = from };
}

static inline bool spin_value_is_number(const struct spin_value *value)
{
	return value->symbol == SPIN_NUMBER;
}

/* Exactly what was read from some place. */
static inline bool spin_value_is_read(const struct spin_value *value)
{
	return value->symbol >= SPIN_READ && value->symbol < SPIN_RESULT && !value->offset;
}

/* They are equal, whatever they are. Of numbers it is not known how many bits count. */
static inline bool spin_value_is_same(const struct spin_value *a, const struct spin_value *b)
{
	return a->symbol == b->symbol && a->offset == b->offset && a->symbol >= SPIN_INITIAL;
}

/* What depends on both, in a way that is unknown. */
struct spin_value spin_value_both(const struct spin_value *a, const struct spin_value *b);

/* A number that follows from both. */
struct spin_value spin_value_known(const struct spin_value *a, const struct spin_value *b, int64_t number);

/* What a step makes of both by some function. */
struct spin_value spin_value_mix(const struct spin_value *a, const struct spin_value *b, int step);

/* a + sign * b, made by a step. */
struct spin_value spin_value_sum(const struct spin_value *a, const struct spin_value *b, int sign, int step);

/*
 * Takes other into value, where two ways meet; is_inner_turn: by way of a jump back to within the
 * loop. True when that changes value.
 */
bool spin_value_join(struct spin_value *value, const struct spin_value *other, bool is_inner_turn);
