/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/rule.h"

#include <dwarf.h>
#include <stdbool.h>

#include "base/byte_cursor.h"

enum { UNIT_BYTES = 8 };

/* Where the kernel leaves the registers of what a signal interrupted, from rsp in the restorer on. */
enum { SIGNAL_RBP = 120, SIGNAL_RSP = 160, SIGNAL_RIP = 168 };

void rule_set(struct rule_state *state, uint64_t reg, struct rule_place place)
{
	if (reg == RULE_REGISTER_RA)
		state->ra = place;
	else if (reg == RULE_REGISTER_RBP)
		state->rbp = place;
}

struct rule_place rule_get(const struct rule_state *state, uint64_t reg)
{
	if (reg == RULE_REGISTER_RA)
		return state->ra;
	if (reg == RULE_REGISTER_RBP)
		return state->rbp;
	return (struct rule_place){ 0 };
}

static bool fits(int64_t value, unsigned int bits)
{
	return value >= -(1ll << (bits - 1)) && value < 1ll << (bits - 1);
}

uint32_t rule_make(enum unwind_cfa cfa, int64_t offset, enum unwind_rbp rbp, int64_t rbp_offset)
{
	return cfa | rbp << UNWIND_RBP_SHIFT |
	       ((uint32_t)rbp_offset & ((1u << UNWIND_RBP_OFFSET_BITS) - 1)) << UNWIND_RBP_OFFSET_SHIFT |
	       (uint32_t)offset << UNWIND_OFFSET_SHIFT;
}

/* An expression "register + offset", what follows it left in the cursor. */
static bool is_register(struct byte_cursor *cursor, uint64_t reg, int64_t *offset)
{
	if (byte_cursor_u8(cursor) != DW_OP_breg0 + reg)
		return false;
	*offset = byte_cursor_sleb(cursor);
	return !cursor->is_bad;
}

static struct byte_cursor expression_of(const struct rule_place *place)
{
	return byte_cursor_new(place->expression, place->expression_bytes);
}

/* A whole expression "rsp + offset". */
static bool is_at_rsp(const struct rule_place *place, int64_t offset)
{
	struct byte_cursor cursor = expression_of(place);
	int64_t found;

	return place->kind == RULE_EXPRESSION && is_register(&cursor, RULE_REGISTER_RSP, &found) && found == offset &&
	       !byte_cursor_left(&cursor);
}

/* What glibc says of the function that a signal handler returns to. */
static bool is_signal_frame(const struct rule_state *state)
{
	struct byte_cursor cursor = expression_of(&state->cfa);
	int64_t offset;

	return state->cfa.kind == RULE_EXPRESSION && is_register(&cursor, RULE_REGISTER_RSP, &offset) &&
	       offset == SIGNAL_RSP && byte_cursor_u8(&cursor) == DW_OP_deref && !byte_cursor_left(&cursor) &&
	       is_at_rsp(&state->ra, SIGNAL_RIP) && is_at_rsp(&state->rbp, SIGNAL_RBP);
}

/*
 * A linker's stubs: rsp + 8 + (((rip & 15) >= N) << 3). Returns N, 0 when it is something else.
 */
static unsigned int plt_limit(const struct rule_place *cfa)
{
	static const uint8_t head[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	}, tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const uint8_t *bytes = cfa->expression;

	if (cfa->expression_bytes != sizeof(head) + 1 + sizeof(tail) || memcmp(bytes, head, sizeof(head)) ||
	    memcmp(bytes + sizeof(head) + 1, tail, sizeof(tail)) || bytes[sizeof(head)] <= DW_OP_lit0 ||
	    bytes[sizeof(head)] > DW_OP_lit15)
		return 0;
	return bytes[sizeof(head)] - DW_OP_lit0;
}

/* "*(register + offset)", and 8 more; UNWIND_NONE when it is something else. */
static enum unwind_cfa deref_kind(const struct rule_place *cfa, int64_t *offset)
{
	struct byte_cursor cursor = expression_of(cfa);
	bool is_rbp = is_register(&cursor, RULE_REGISTER_RBP, offset);

	if (!is_rbp) {
		cursor = expression_of(cfa);
		if (!is_register(&cursor, RULE_REGISTER_RSP, offset))
			return UNWIND_NONE;
	}
	if (byte_cursor_u8(&cursor) != DW_OP_deref)
		return UNWIND_NONE;
	if (!byte_cursor_left(&cursor))
		return is_rbp ? UNWIND_RBP_DEREF : UNWIND_RSP_DEREF;
	if (!is_rbp && byte_cursor_u8(&cursor) == DW_OP_plus_uconst && byte_cursor_uleb(&cursor) == 8 &&
	    !byte_cursor_left(&cursor))
		return UNWIND_RSP_DEREF_8;
	return UNWIND_NONE;
}

/* A rule for the CFA alone; 0 when there is none. */
static uint32_t encode_cfa(const struct rule_place *cfa)
{
	enum unwind_cfa kind = UNWIND_NONE;
	int64_t offset = cfa->offset;

	if (cfa->kind == RULE_EXPRESSION) {
		unsigned int limit = plt_limit(cfa);

		if (limit)
			return rule_make(UNWIND_PLT, limit, 0, 0);
		kind = deref_kind(cfa, &offset);
	} else if (cfa->kind == RULE_REGISTER && cfa->reg == RULE_REGISTER_RSP) {
		kind = UNWIND_RSP;
	} else if (cfa->kind == RULE_REGISTER && cfa->reg == RULE_REGISTER_RBP) {
		kind = UNWIND_RBP;
	} else if (cfa->kind == RULE_REGISTER && cfa->reg < RULE_REGISTER_RA) {
		kind = UNWIND_REGISTER;
	}
	if (kind == UNWIND_RSP && offset % UNIT_BYTES)
		return fits(offset, UNWIND_OFFSET_BITS) ? rule_make(UNWIND_RSP_BYTES, offset, 0, 0) : 0;
	if (kind == UNWIND_NONE || offset % UNIT_BYTES)
		return 0;
	offset /= UNIT_BYTES;
	if (kind == UNWIND_REGISTER) {
		if (!fits(offset, UNWIND_OFFSET_BITS - UNWIND_REGISTER_BITS))
			return 0;
		offset = offset * (1 << UNWIND_REGISTER_BITS) + (int64_t)cfa->reg;
	}
	return fits(offset, UNWIND_OFFSET_BITS) ? rule_make(kind, offset, 0, 0) : 0;
}

/* A rule for rbp alone. Where there are no words for it, it counts as lost: few frames need it. */
static uint32_t encode_rbp(const struct rule_place *rbp)
{
	enum unwind_rbp kind = UNWIND_RBP_LOST;
	int64_t offset = rbp->offset;

	if (rbp->kind == RULE_SAME)
		return rule_make(0, 0, UNWIND_RBP_SAME, 0);
	if (rbp->kind == RULE_AT_CFA) {
		kind = UNWIND_RBP_AT_CFA;
	} else if (rbp->kind == RULE_EXPRESSION) {
		struct byte_cursor cursor = expression_of(rbp);

		if (is_register(&cursor, RULE_REGISTER_RBP, &offset) && !byte_cursor_left(&cursor))
			kind = UNWIND_RBP_AT_RBP;
	}
	if (kind == UNWIND_RBP_LOST || offset % UNIT_BYTES || !fits(offset / UNIT_BYTES, UNWIND_RBP_OFFSET_BITS))
		return rule_make(0, 0, UNWIND_RBP_LOST, 0);
	return rule_make(0, 0, kind, offset / UNIT_BYTES);
}

uint32_t rule_encode(const struct rule_state *state)
{
	uint32_t cfa;

	if (state->ra.kind == RULE_UNDEFINED)
		return UNWIND_END;
	if (is_signal_frame(state))
		return UNWIND_SIGNAL;
	if (state->ra.kind != RULE_AT_CFA || state->ra.offset != -UNIT_BYTES)
		return UNWIND_NONE;
	cfa = encode_cfa(&state->cfa);
	return cfa ? cfa | encode_rbp(&state->rbp) : UNWIND_NONE;
}
