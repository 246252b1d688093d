/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one step makes of registers, flags and variables. */
#include "spin/spin_flow_internal.h"

struct effect {
	struct spin_flow *flow;
	struct spin_state *state;
	const struct spin_step *step;
	struct spin_access access;
	int i; /* the step's number */
};

static struct spin_value operand(const struct effect *effect, int number)
{
	const struct spin_operand *operand = &effect->step->operands[number];

	if (number >= effect->step->operand_count)
		return spin_value_number(0);
	switch (operand->kind) {
	case SPIN_REGISTER:
		return effect->state->at[operand->location];
	case SPIN_CONSTANT:
		return spin_value_number(operand->constant);
	case SPIN_MEMORY:
		return spin_memory_read(effect->state, &effect->access, effect->i);
	default:
		return spin_value_unknown(SPIN_WALKED);
	}
}

static void set_operand(struct effect *effect, int number, const struct spin_value *value)
{
	const struct spin_operand *operand = &effect->step->operands[number];

	if (operand->kind == SPIN_REGISTER)
		effect->state->at[operand->location] = *value;
	else if (operand->kind == SPIN_MEMORY && effect->access.slot >= 0)
		effect->state->at[effect->access.slot] = *value;
	else if (operand->kind == SPIN_MEMORY)
		effect->flow->facts.storing |= SPIN_BIT(effect->i);
}

static void set_registers(struct effect *effect, uint32_t locations, uint8_t from)
{
	for (; locations; locations &= locations - 1)
		effect->state->at[__builtin_ctz(locations)] = spin_value_unknown(from);
}

static void set_flags(struct effect *effect, const struct spin_value *result)
{
	struct spin_value *flags = &effect->state->at[SPIN_FLAGS];

	if (!effect->step->writes_flags)
		return;
	*flags = *result;
	flags->mixed = flags->stepped = flags->depends;
	flags->symbol = spin_value_is_number(result) ? SPIN_ZERO_FLAG : SPIN_UNKNOWN;
	flags->offset = spin_value_is_number(result) && !result->offset;
}

/* Whether a condition holds: 0 or 1, or -1 when the flags are unknown. */
static int holds(const struct effect *effect)
{
	const struct spin_value *flags = &effect->state->at[SPIN_FLAGS];

	if (flags->symbol != SPIN_ZERO_FLAG)
		return -1;
	if (effect->step->condition == SPIN_IF_EQUAL)
		return flags->offset;
	return effect->step->condition == SPIN_IF_NOT_EQUAL ? !flags->offset : -1;
}

/* Memory is read, changed and written back, undisturbed by others. */
static void note_attempt(struct effect *effect, bool is_advancing)
{
	effect->flow->facts.attempts |= SPIN_BIT(effect->i);
	if (is_advancing)
		effect->flow->facts.advancing |= SPIN_BIT(effect->i);
}

/* --- Arithmetic ------------------------------------------------------------------------------ */

/* Both operands are one register. */
static bool is_self(const struct spin_step *step)
{
	return step->operand_count == 2 && step->operands[0].kind == SPIN_REGISTER &&
	       step->operands[1].kind == SPIN_REGISTER && step->operands[0].location == step->operands[1].location;
}

/* A back-off that doubles is a counter, and so is one that wraps. By how much decides nothing. */
static struct spin_value scaled(const struct spin_value *a, const struct spin_value *by, int step)
{
	struct spin_value value = spin_value_both(a, by);

	value.stepped = value.depends;
	value.mixed = a->mixed;
	value.symbol = SPIN_RESULT + step;
	return value;
}

static bool is_zero(const struct spin_value *value)
{
	return spin_value_is_number(value) && !value->offset;
}

static struct spin_value bitwise(const struct effect *effect, const struct spin_value *a, const struct spin_value *b)
{
	enum spin_effect kind = effect->step->effect;

	if (kind == SPIN_XOR && is_self(effect->step))
		return spin_value_number(0);
	if (kind == SPIN_AND && (is_zero(a) || is_zero(b)))
		return spin_value_known(a, b, 0);
	if (spin_value_is_number(a) && spin_value_is_number(b))
		return spin_value_known(a, b,
					kind == SPIN_AND  ? a->offset & b->offset
					: kind == SPIN_OR ? a->offset | b->offset
							  : a->offset ^ b->offset);
	if (kind == SPIN_AND && spin_value_is_number(b))
		return scaled(a, b, effect->i);
	return spin_value_mix(a, b, effect->i);
}

/* Some function of all operands, of the flags perhaps, and of the first one perhaps not. */
static struct spin_value function(const struct effect *effect)
{
	const struct spin_step *step = effect->step;
	struct spin_value a = operand(effect, 0), b = operand(effect, 1), c = operand(effect, 2);

	/* sbb of a register from itself is the carry. */
	if (step->effect == SPIN_COMPUTE || (is_self(step) && step->reads_flags))
		a = spin_value_number(0);
	b = spin_value_mix(&b, &c, effect->i);
	if (step->reads_flags)
		b = spin_value_mix(&b, &effect->state->at[SPIN_FLAGS], effect->i);
	return spin_value_mix(&a, &b, effect->i);
}

static struct spin_value calculate(const struct effect *effect)
{
	struct spin_value a = operand(effect, 0), b = operand(effect, 1);

	switch (effect->step->effect) {
	case SPIN_ADD:
		return spin_value_sum(&a, &b, 1, effect->i);
	case SPIN_SUB:
		if (is_self(effect->step) || spin_value_is_same(&a, &b))
			return spin_value_number(0);
		return spin_value_sum(&a, &b, -1, effect->i);
	case SPIN_SCALE:
		return scaled(&a, &b, effect->i);
	case SPIN_AND:
	case SPIN_OR:
	case SPIN_XOR:
		return bitwise(effect, &a, &b);
	default:
		return function(effect);
	}
}

/* To add nothing atomically is a fence. */
static bool is_fence(const struct effect *effect)
{
	enum spin_effect kind = effect->step->effect;
	struct spin_value added = operand(effect, 1);

	return (kind == SPIN_ADD || kind == SPIN_SUB || kind == SPIN_OR || kind == SPIN_XOR) && is_zero(&added);
}

/* Bits of one operand are set, so that the result is not zero, whatever it is. */
static bool is_not_zero(const struct effect *effect)
{
	struct spin_value a = operand(effect, 0), b = operand(effect, 1);

	return effect->step->effect == SPIN_OR &&
	       ((spin_value_is_number(&a) && a.offset) || (spin_value_is_number(&b) && b.offset));
}

static void do_calculate(struct effect *effect)
{
	const struct spin_step *step = effect->step;
	struct spin_value result = calculate(effect), flags = result;
	bool is_same_again = step->effect == SPIN_OR || step->effect == SPIN_AND || step->effect == SPIN_MARK;

	if (is_not_zero(effect))
		flags = spin_value_known(&result, &result, 1);
	if (step->is_locked && !is_fence(effect))
		note_attempt(effect, !is_same_again);
	if (!step->is_locked)
		set_operand(effect, 0, &result);
	set_flags(effect, &flags);
}

static void do_copy(struct effect *effect)
{
	struct spin_value value = operand(effect, 1);

	set_operand(effect, 0, &value);
}

static struct spin_value value_of(const struct effect *effect, uint8_t location)
{
	return location == SPIN_NOWHERE ? spin_value_number(0) : effect->state->at[location];
}

static void do_address(struct effect *effect)
{
	const struct spin_place *place = &effect->step->place;
	struct spin_value base = value_of(effect, place->base);
	struct spin_value index = value_of(effect, place->index);
	struct spin_value displacement = spin_value_number(place->displacement);

	if (spin_value_is_number(&index))
		index.offset = (uint64_t)index.offset * place->scale;
	else if (place->scale != 1)
		index.symbol = SPIN_UNKNOWN;
	base = spin_value_sum(&base, &index, 1, effect->i);
	base = spin_value_sum(&base, &displacement, 1, effect->i);
	set_operand(effect, 0, &base);
}

static void do_sign(struct effect *effect)
{
	struct spin_value none = spin_value_number(0), *rax = &effect->state->at[SPIN_RAX];

	effect->state->at[SPIN_RDX] = spin_value_mix(rax, &none, effect->i);
}

static void do_wide(struct effect *effect)
{
	struct spin_value value = effect->state->at[SPIN_RAX];

	for (int k = 0; k < effect->step->operand_count; k++) {
		struct spin_value other = operand(effect, k);

		value = spin_value_mix(&value, &other, effect->i);
	}
	value.symbol = SPIN_UNKNOWN; /* there are two of it */
	effect->state->at[SPIN_RAX] = effect->state->at[SPIN_RDX] = value;
	set_flags(effect, &value);
}

/* --- Conditions ------------------------------------------------------------------------------ */

static void do_compare(struct effect *effect)
{
	struct spin_value a = operand(effect, 0), b = operand(effect, 1);
	struct spin_value result = spin_value_mix(&a, &b, effect->i);
	bool are_numbers = spin_value_is_number(&a) && spin_value_is_number(&b);
	bool are_small = are_numbers && (a.offset | b.offset) >= 0 && (a.offset | b.offset) < 128;

	/* Of larger ones, how many bits are compared decides. */
	if (effect->step->effect == SPIN_COMPARE && (spin_value_is_same(&a, &b) || are_small))
		result = spin_value_known(&a, &b, a.offset != b.offset);
	if (effect->step->effect == SPIN_TEST && are_numbers)
		result = spin_value_known(&a, &b, a.offset & b.offset);
	set_flags(effect, &result);
}

static void do_set(struct effect *effect)
{
	struct spin_value flags = effect->state->at[SPIN_FLAGS], none = spin_value_number(0);
	struct spin_value result = spin_value_mix(&flags, &none, effect->i);

	if (holds(effect) >= 0)
		result = spin_value_known(&flags, &none, holds(effect));
	set_operand(effect, 0, &result);
}

static void do_select(struct effect *effect)
{
	struct spin_value result = operand(effect, 0), other = operand(effect, 1);
	const struct spin_value *flags = &effect->state->at[SPIN_FLAGS];

	if (!holds(effect))
		return;
	if (holds(effect) > 0)
		result = other;
	/* A counter with a limit is a counter: what decides is not mixed in. */
	spin_value_join(&result, &other, false);
	result.depends |= flags->depends;
	result.from |= flags->from & (SPIN_CHANGING | SPIN_WALKED);
	set_operand(effect, 0, &result);
}

/* --- Atomic operations ----------------------------------------------------------------------- */

static void do_swap(struct effect *effect)
{
	struct spin_value a = operand(effect, 0), b = operand(effect, 1);

	if (effect->step->has_place) {
		note_attempt(effect, false);
		a.symbol = SPIN_RESULT + effect->i;
		set_operand(effect, 1, &a);
		return;
	}
	set_operand(effect, 0, &b);
	set_operand(effect, 1, &a);
}

/*
 * A swap that expects what was just read fails only when others write. What was read is that word:
 * two addresses that are not known to be the same one often are. Any other fails, in a turn that
 * changes nothing.
 */
static void do_compare_swap(struct effect *effect)
{
	struct spin_value found = spin_memory_read(effect->state, &effect->access, effect->i);
	struct spin_value *expected = &effect->state->at[SPIN_RAX];
	bool differs = !spin_value_is_read(expected);
	struct spin_value difference = spin_value_known(&found, expected, differs);

	note_attempt(effect, false);
	set_flags(effect, &difference);
	*expected = found;
	if (effect->step->operand_count == 1) { /* of twice the size */
		found.symbol = SPIN_RESULT + effect->i;
		effect->state->at[SPIN_RDX] = found;
	}
}

static void do_fetch_add(struct effect *effect)
{
	struct spin_value found = operand(effect, 0), added = operand(effect, 1);
	struct spin_value result = spin_value_mix(&found, &added, effect->i);
	bool is_read = is_zero(&added);

	note_attempt(effect, !is_read);
	if (!is_read)
		found.symbol = SPIN_RESULT + effect->i;
	set_flags(effect, &result);
	set_operand(effect, 1, &found);
}

/* --- What comes from elsewhere --------------------------------------------------------------- */

static void do_clock(struct effect *effect)
{
	struct spin_value time = spin_value_unknown(SPIN_CHANGING);

	for (int k = 0; k < effect->step->operand_count; k++)
		set_operand(effect, k, &time);
}

/* What a function may change by the calling convention (System V ABI, AMD64, 3.2.1). */
static void do_call(struct effect *effect)
{
	set_registers(effect,
		      1 << SPIN_RAX | 1 << SPIN_RCX | 1 << SPIN_RDX | 1 << SPIN_RSI | 1 << SPIN_RDI | 0xf << SPIN_R8 |
			      1 << SPIN_FLAGS,
		      SPIN_CHANGING);
}

/* The kernel keeps all but these (System V ABI, AMD64, A.2.1). */
static void do_syscall(struct effect *effect)
{
	set_registers(effect, 1 << SPIN_RAX | 1 << SPIN_RCX | 1 << SPIN_R11, SPIN_CHANGING);
}

static void do_work(struct effect *effect)
{
	struct spin_value value = spin_value_unknown(SPIN_WALKED);

	if (effect->step->operand_count)
		set_operand(effect, 0, &value);
	effect->state->at[SPIN_FLAGS] = value;
}

static void do_pause(struct effect *effect)
{
	struct spin_value flags = spin_value_unknown(SPIN_CHANGING);

	set_flags(effect, &flags);
}

static void do_nothing(struct effect *effect __attribute__((unused)))
{
}

static void (*const effects[])(struct effect *) = {
	[SPIN_WORK] = do_work,
	[SPIN_IDLE] = do_nothing,
	[SPIN_PAUSING] = do_pause,
	[SPIN_COPY] = do_copy,
	[SPIN_ADDRESS] = do_address,
	[SPIN_ADD] = do_calculate,
	[SPIN_SUB] = do_calculate,
	[SPIN_SCALE] = do_calculate,
	[SPIN_AND] = do_calculate,
	[SPIN_OR] = do_calculate,
	[SPIN_XOR] = do_calculate,
	[SPIN_MARK] = do_calculate,
	[SPIN_CHANGE] = do_calculate,
	[SPIN_COMPUTE] = do_calculate,
	[SPIN_SIGN] = do_sign,
	[SPIN_WIDE] = do_wide,
	[SPIN_COMPARE] = do_compare,
	[SPIN_TEST] = do_compare,
	[SPIN_PROBE] = do_compare,
	[SPIN_SET] = do_set,
	[SPIN_SELECT] = do_select,
	[SPIN_SWAP] = do_swap,
	[SPIN_COMPARE_SWAP] = do_compare_swap,
	[SPIN_FETCH_ADD] = do_fetch_add,
	[SPIN_CLOCK] = do_clock,
	[SPIN_CALL] = do_call,
	[SPIN_SYSCALL] = do_syscall,
};

/* The ways that a branch can take. */
static uint8_t branch_ways(struct effect *effect)
{
	struct spin_flow *flow = effect->flow;
	struct spin_value condition = effect->state->at[SPIN_FLAGS];
	uint8_t ways = SPIN_BEHIND | SPIN_AT_TARGET;

	if (effect->step->condition == SPIN_IF_COUNTED) {
		condition = effect->state->at[SPIN_RCX];
		if (effect->step->reads_flags)
			condition = spin_value_both(&condition, &effect->state->at[SPIN_FLAGS]);
	} else if (holds(effect) >= 0) {
		ways = holds(effect) ? SPIN_AT_TARGET : SPIN_BEHIND;
	}
	/* Several states may come here. */
	if (flow->branches & SPIN_BIT(effect->i))
		condition = spin_value_both(&condition, &flow->condition[effect->i]);
	flow->condition[effect->i] = condition;
	flow->branches |= SPIN_BIT(effect->i);
	return ways;
}

static void find_access(struct effect *effect)
{
	struct spin_flow *flow = effect->flow;

	effect->access = spin_memory_find(flow, effect->state, effect->i);
	flow->address[effect->i] = effect->access.address;
	flow->accesses |= SPIN_BIT(effect->i);
	if (effect->access.slot < 0)
		flow->facts.reading |= SPIN_BIT(effect->i);
}

uint8_t spin_effect_apply(struct spin_flow *flow, struct spin_state *state, int i)
{
	struct effect effect = {
		.flow = flow,
		.state = state,
		.step = &flow->graph->steps[i],
		.i = i,
		.access = { .slot = -1, .word = -1 },
	};
	enum spin_effect kind = effect.step->effect;
	uint8_t ways = SPIN_BEHIND | SPIN_AT_TARGET;

	flow->facts.visited |= SPIN_BIT(i);
	flow->facts.seen |= SPIN_BIT(i);
	if (effect.step->has_place && kind != SPIN_IDLE && kind != SPIN_ADDRESS)
		find_access(&effect);
	effects[kind](&effect);
	if (effect.step->control == SPIN_BRANCH)
		ways = branch_ways(&effect);
	flow->facts.ways[i] |= ways;
	return ways;
}
