/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are how a V8 says that it lays out its heap, and the memory in which a function lies. */
#include <stdlib.h>
#include <string.h>

#include "symbol/v8/v8_function.h"

static const uint64_t memory_begin = 0x7f0000000000;

struct bytes {
	const uint8_t *bytes;
	size_t size_bytes;
	size_t readings;
};

/* Addresses are taken from the bytes: most of them shall lead into them again. */
static bool read_bytes(void *data, uint64_t address, void *to, size_t size_bytes)
{
	struct bytes *memory = data;
	uint64_t at = address < 1 << 16 ? address : address - memory_begin;

	/* What is read of one function is bounded, whatever it leads to. */
	if (memory->readings++ > 10000)
		abort();
	if (at > memory->size_bytes || size_bytes > memory->size_bytes - at)
		return false;
	memcpy(to, memory->bytes + at, size_bytes);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static struct v8_function function;
	struct v8_function_key key;
	struct v8_heap heap;
	struct bytes memory;
	struct memory_reader reader = { read_bytes, &memory };

	if (size_bytes < sizeof(heap))
		return 0;
	memcpy(&heap, bytes, sizeof(heap));
	memory = (struct bytes){ bytes + sizeof(heap), size_bytes - sizeof(heap), 0 };
	if (!v8_function_read_key(&reader, &heap, memory_begin, &key) ||
	    !v8_function_read(&reader, &heap, &key, &function))
		return 0;
	if (!memchr(function.name, 0, sizeof(function.name)) || !memchr(function.file, 0, sizeof(function.file)))
		abort();
	return 0;
}
