/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_values.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"

enum { CAPACITY_FIRST = 1024 };

/* The slot that has the value, or a free one for it. */
static uint32_t *slot_of(const struct state_values *values, const struct state_value *value)
{
	size_t i = XXH3_64bits(value, sizeof(*value));

	for (;; i++) {
		uint32_t *slot = &values->slots[i & (values->slot_count - 1)];

		if (!*slot || !memcmp(&values->values[*slot], value, sizeof(*value)))
			return slot;
	}
}

static void grow(struct state_values *values)
{
	values->capacity = values->capacity ? 2 * values->capacity : CAPACITY_FIRST;
	values->values = xrealloc(values->values, values->capacity, sizeof(*values->values));
	if (!values->count)
		values->values[values->count++] = (struct state_value){ 0 };
	free(values->slots);
	values->slot_count = 2 * values->capacity;
	values->slots = xcalloc(values->slot_count, sizeof(*values->slots));
	for (size_t i = 1; i < values->count; i++)
		*slot_of(values, &values->values[i]) = i;
}

uint32_t state_values_add(struct state_values *values, const struct state_value *value)
{
	uint32_t *slot;

	if (values->count == values->capacity)
		grow(values);
	slot = slot_of(values, value);
	if (!*slot) {
		*slot = values->count;
		values->values[values->count++] = *value;
	}
	return *slot;
}

void state_values_clear(struct state_values *values)
{
	if (!values->capacity)
		return;
	memset(values->slots, 0, values->slot_count * sizeof(*values->slots));
	values->count = 1;
}

void state_values_fini(struct state_values *values)
{
	free(values->values);
	free(values->slots);
	*values = (struct state_values){ 0 };
}
