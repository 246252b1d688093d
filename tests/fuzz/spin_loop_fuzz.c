/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are machine code, after one that says where it lies and whether its calls yield. What
 * is found lies in it, holds the address that was asked about, and is the same when asked again.
 */
#include <stdlib.h>
#include <string.h>

#include "spin/spin_loop.h"

enum { CODE_BYTES_MAX = 300 };

static bool yields_at_even(void *data, uint64_t target)
{
	return *(bool *)data && !(target & 1);
}

static void check(const struct spin_loop *loop, uint64_t begin, uint64_t end, uint64_t ip)
{
	if (loop->begin < begin || loop->end > end || ip < loop->begin || ip >= loop->end)
		abort();
	if (loop->reader && (loop->reader < begin || loop->reader >= end))
		abort();
	if (loop->has_word && !loop->reader)
		abort();
	if (!memchr(loop->reads, '\0', sizeof(loop->reads)) || loop->kind > SPIN_BY_LOAD)
		abort();
}

static bool is_same(const struct spin_loop *a, const struct spin_loop *b)
{
	return a->begin == b->begin && a->end == b->end && a->kind == b->kind && a->reader == b->reader &&
	       a->has_word == b->has_word && a->word == b->word && !strcmp(a->reads, b->reads);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static struct spin_finder *finder;
	static bool does_yield;
	struct spin_loop first, again;
	uint64_t begin;
	uint8_t *code;

	if (!finder)
		finder = spin_finder_new(yields_at_even, &does_yield);
	if (size_bytes < 2 || size_bytes > CODE_BYTES_MAX)
		return 0;
	does_yield = bytes[0] & 1;
	begin = bytes[0] & 2 ? 0x7ffff7c00000 : bytes[0] & 4 ? -4096ull : 0;
	size_bytes--;
	code = malloc(size_bytes);
	memcpy(code, bytes + 1, size_bytes);
	for (size_t i = 0; i < size_bytes; i++) {
		if (!spin_loop_find(finder, code, size_bytes, begin, begin + i, &first))
			continue;
		check(&first, begin, begin + size_bytes, begin + i);
		if (!spin_loop_find(finder, code, size_bytes, begin, begin + i, &again) || !is_same(&first, &again))
			abort();
	}
	free(code);
	return 0;
}
