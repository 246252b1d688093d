/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What call frame information says of one place in the code, of the registers that a stack needs,
 * and its translation into a rule of unwind_format.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind_format.h"

/* Numbers of x86-64 registers in DWARF (System V ABI, figure 3.36). */
enum { RULE_REGISTER_RBP = 6, RULE_REGISTER_RSP = 7, RULE_REGISTER_RA = 16 };

enum rule_kind {
	RULE_SAME,       /* as it is */
	RULE_AT_CFA,     /* *(CFA + offset) */
	RULE_REGISTER,   /* reg + offset; of the CFA only */
	RULE_EXPRESSION, /* *(expression); of the CFA: its value */
	RULE_UNDEFINED,
	RULE_OTHER,
};

struct rule_place {
	enum rule_kind kind;
	uint64_t reg;
	int64_t offset;
	const uint8_t *expression; /* in the section */
	size_t expression_bytes;
};

struct rule_state {
	struct rule_place cfa, ra, rbp;
};

/* Other registers are of no interest: setting them does nothing, they are always the same. */
void rule_set(struct rule_state *state, uint64_t reg, struct rule_place place);
struct rule_place rule_get(const struct rule_state *state, uint64_t reg);

/* 0 (UNWIND_NONE) when the form has no words for it. */
uint32_t rule_encode(const struct rule_state *state);

/* A rule's parts. */
uint32_t rule_make(enum unwind_cfa cfa, int64_t offset, enum unwind_rbp rbp, int64_t rbp_offset);
