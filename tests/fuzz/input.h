/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fuzzer's bytes as numbers, taken from the front; beyond the end all are 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *bytes;
	size_t size;
};

static inline void take(struct input *input, void *to, size_t size)
{
	size_t taken = input->size < size ? input->size : size;

	memset(to, 0, size);
	if (taken)
		memcpy(to, input->bytes, taken);
	input->bytes += taken;
	input->size -= taken;
}

static inline uint64_t take_number(struct input *input, unsigned int size_bytes)
{
	uint64_t number = 0;

	take(input, &number, size_bytes);
	return number;
}
