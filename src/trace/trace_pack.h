/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes what a trace consists of: its header, and chunks with their contents compressed and their checksums. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "trace/trace_format.h"

struct trace_ring_options;

/* A header with a new identity, as of now. ring: NULL when the trace may grow. */
void trace_header_init(struct trace_header *header, const struct trace_ring_options *ring);

struct trace_packer {
	ZSTD_CCtx *zstd;
	void *packed;
	size_t packed_capacity;
};

/* 0 or -ENOMEM; trace_packer_fini() accepts one that failed. */
int trace_packer_init(struct trace_packer *packer);
void trace_packer_fini(struct trace_packer *packer);

/*
 * Returns what is to be stored of a content, compressed if that is shorter; fills in the chunk's sizes, packing and
 * checksum of the content. Valid as long as the content, and until the next call.
 */
const void *trace_pack(struct trace_packer *packer, struct trace_chunk *chunk, const void *content, size_t size_bytes);

/* The chunk becomes the one of this number in a trace. Its content must be packed. */
void trace_chunk_seal(struct trace_chunk *chunk, uint32_t trace, uint32_t number);
