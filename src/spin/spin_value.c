/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_value.h"

struct spin_value spin_value_both(const struct spin_value *a, const struct spin_value *b)
{
	/* Memory that others write to is better evidence than a variable. */
	bool is_b_better = !(a->from & SPIN_POLLED) && (b->from & SPIN_POLLED || !(a->from & SPIN_LOCAL));

	return (struct spin_value){
		.depends = a->depends | b->depends,
		.stepped = a->stepped | b->stepped,
		.mixed = a->mixed | b->mixed,
		.from = a->from | b->from,
		.reader = is_b_better ? b->reader : a->reader,
	};
}

struct spin_value spin_value_known(const struct spin_value *a, const struct spin_value *b, int64_t number)
{
	struct spin_value value = spin_value_both(a, b);

	value.symbol = SPIN_NUMBER;
	value.offset = number;
	return value;
}

struct spin_value spin_value_mix(const struct spin_value *a, const struct spin_value *b, int step)
{
	struct spin_value value = spin_value_both(a, b);

	value.mixed = value.stepped = value.depends;
	value.symbol = SPIN_RESULT + step;
	return value;
}

static bool has_name(const struct spin_value *value)
{
	return value->symbol != SPIN_UNKNOWN && value->symbol != SPIN_ZERO_FLAG;
}

struct spin_value spin_value_sum(const struct spin_value *a, const struct spin_value *b, int sign, int step)
{
	struct spin_value value = spin_value_both(a, b);

	value.stepped = value.depends;
	if (spin_value_is_number(b) && has_name(a)) {
		value.symbol = a->symbol;
		value.offset = (uint64_t)a->offset + (uint64_t)b->offset * sign;
	} else if (spin_value_is_number(a) && has_name(b) && sign > 0) {
		value.symbol = b->symbol;
		value.offset = (uint64_t)a->offset + (uint64_t)b->offset;
	} else {
		value.symbol = SPIN_RESULT + step;
	}
	if (sign < 0)
		value.mixed |= b->depends;
	return value;
}

/* Set in each turn to something that no turn has made, so no trace of how many there were. */
static bool is_set_anew(const struct spin_value *value)
{
	return spin_value_is_number(value) ||
	       (value->symbol >= SPIN_INITIAL && value->symbol < SPIN_RESULT && !value->offset);
}

bool spin_value_join(struct spin_value *value, const struct spin_value *other, bool is_inner_turn)
{
	struct spin_value before = *value;
	bool is_equal =
		value->symbol != SPIN_UNKNOWN && value->symbol == other->symbol && value->offset == other->offset;

	*value = spin_value_both(&before, other);
	if (is_equal) {
		value->symbol = before.symbol;
		value->offset = before.offset;
	} else if (is_inner_turn && !is_set_anew(other)) {
		value->from |= SPIN_WALKED;
	}
	return value->depends != before.depends || value->stepped != before.stepped || value->mixed != before.mixed ||
	       value->from != before.from || value->symbol != before.symbol;
}
