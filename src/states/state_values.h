/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The different values of a block, each once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "states/state.h"

struct state_values {
	struct state_value *values; /* [0] is all zeros */
	size_t count, capacity;
	uint32_t *slots; /* places in values, 0: free; as many as a power of two */
	size_t slot_count;
};

/* The struct begins zeroed. */
uint32_t state_values_add(struct state_values *values, const struct state_value *value);
void state_values_clear(struct state_values *values);
void state_values_fini(struct state_values *values);
