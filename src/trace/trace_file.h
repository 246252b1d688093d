/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks in the file of a trace: whether they are whole, what is in them, and where the next one is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "trace/trace_format.h"

struct trace_buffer {
	void *bytes;
	size_t capacity;
};

struct trace_file {
	int fd;
	uint64_t size_bytes;
	uint64_t written_ns;        /* when somebody wrote there last, by the file's own time */
	struct trace_header header; /* zeros when it is damaged */
	bool is_header_damaged;
	uint32_t trace; /* as its chunks have it */
	ZSTD_DCtx *zstd;
	struct trace_buffer stored, plain;
};

/* What trace_reader_open() returns. */
int trace_file_open(struct trace_file *file, const char *path);

/* How long it is by now. 0 or a negative errno. */
int trace_file_measure(struct trace_file *file);

/* Also of a file that was not opened, or only in part. */
void trace_file_close(struct trace_file *file);

/* The header of the chunk at an offset, if all of the chunk can be there. 0, -EBADMSG or a negative errno. */
int trace_file_chunk(const struct trace_file *file, uint64_t at, struct trace_chunk *chunk);

/* The same, and its content, unpacked and valid until the next call. */
int trace_file_content(struct trace_file *file, uint64_t at, struct trace_chunk *chunk, const void **content);

/* Whether the file ends as one does whose writer came to its end. */
bool trace_file_end(const struct trace_file *file, struct trace_end *end);

/* A flight recorder's. */
static inline bool trace_file_is_ring(const struct trace_file *file)
{
	return file->header.ring_bytes || file->header.last_ns;
}

/* With its header and what fills it up. */
uint64_t trace_chunk_bytes(const struct trace_chunk *chunk);

/* Where the first chunk at or behind an offset begins; the file's end: there is none. */
uint64_t trace_file_find_chunk(const struct trace_file *file, uint64_t at);
