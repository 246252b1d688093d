/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "base/memory.h"
#include "trace/trace_ring.h"

enum {
	ZSTD_LEVEL = 1,
	PLAIN_BYTES_MIN = 256, /* smaller ones gain nothing */
};

void trace_header_init(struct trace_header *header, const struct trace_ring_options *ring)
{
	struct timespec now;

	*header = (struct trace_header){
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.header_bytes = sizeof(*header),
		.ring_bytes = ring ? ring->size_bytes : 0,
		.last_ns = ring ? ring->last_ns : 0,
	};
	clock_gettime(CLOCK_REALTIME, &now);
	header->created_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	if (getrandom(header->random, sizeof(header->random), 0) != sizeof(header->random))
		header->random[0] = header->created_ns;
	header->checksum = XXH64(header, offsetof(struct trace_header, checksum), 0);
}

int trace_packer_init(struct trace_packer *packer)
{
	*packer = (struct trace_packer){ .zstd = ZSTD_createCCtx() };
	return packer->zstd ? 0 : -ENOMEM;
}

void trace_packer_fini(struct trace_packer *packer)
{
	ZSTD_freeCCtx(packer->zstd);
	free(packer->packed);
}

static const void *compress(struct trace_packer *packer, struct trace_chunk *chunk, const void *content,
			    size_t size_bytes)
{
	size_t bound = ZSTD_compressBound(size_bytes), packed_bytes;

	chunk->plain_bytes = chunk->stored_bytes = size_bytes;
	chunk->packing = TRACE_PLAIN;
	if (size_bytes < PLAIN_BYTES_MIN)
		return content;
	if (bound > packer->packed_capacity) {
		packer->packed_capacity = bound;
		free(packer->packed);
		packer->packed = xcalloc(bound, 1);
	}
	packed_bytes = ZSTD_compressCCtx(packer->zstd, packer->packed, bound, content, size_bytes, ZSTD_LEVEL);
	if (ZSTD_isError(packed_bytes) || packed_bytes >= size_bytes)
		return content;
	chunk->stored_bytes = packed_bytes;
	chunk->packing = TRACE_ZSTD;
	return packer->packed;
}

const void *trace_pack(struct trace_packer *packer, struct trace_chunk *chunk, const void *content, size_t size_bytes)
{
	const void *stored = compress(packer, chunk, content, size_bytes);

	chunk->content_checksum = XXH64(stored, chunk->stored_bytes, 0);
	return stored;
}

void trace_chunk_seal(struct trace_chunk *chunk, uint32_t trace, uint32_t number)
{
	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->trace = trace;
	chunk->number = number;
	chunk->checksum = XXH64(chunk, offsetof(struct trace_chunk, checksum), 0);
}
