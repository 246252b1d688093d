/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of a file together with where the file's code is mapped, and its way from the process
 * that reads files to the one that traces.
 */
#pragma once

#include "python_format.h"
#include "ruby_format.h"
#include "unwind/unwind_table.h"
#include "unwind/v8_heap.h"
#include "v8_format.h"

enum {
	UNWIND_FILE_BYTES_MAX = 128 << 20, /* half of what all tables together may take in the kernel */
	UNWIND_SEGMENTS_MAX = 16,
	UNWIND_PYTHON_UNKNOWN = 1, /* a version of CPython, or a form of it, that we do not know */
	UNWIND_RUBY_UNKNOWN = 1,   /* a Ruby that lacks symbols which say where its frames are */
};

/* A part of the file that is mapped to execute. */
struct unwind_segment {
	uint64_t file_offset, address, size_bytes;
};

struct unwind_file {
	struct unwind_table table;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint32_t segment_count;
	uint32_t is_go;               /* the code is Go's, with its runtime's table of functions */
	uint32_t python_version;      /* 0: none in this file; 0x030b: CPython 3.11 */
	struct python_process python; /* addresses as the file has them; no runtime: unknown */
	uint32_t ruby_version;        /* 0: none in this file; 0x0301: Ruby 3.1 */
	struct ruby_process ruby;     /* addresses as the file has them; no code: unknown */
	uint32_t v8_version;          /* 0: none in this file; 0x0b03: V8 11.3 */
	struct v8_process v8;         /* no shared_type: unknown */
	struct v8_heap v8_heap;       /* not known: as v8 */
};

void unwind_file_fini(struct unwind_file *file);

/* Takes the next bytes; what is not 0 ends the writing. */
typedef int unwind_file_put(void *data, const void *bytes, size_t size_bytes);

/* 0, what put gave, or -EFBIG: it would be more than UNWIND_FILE_BYTES_MAX, and none of it is put. */
int unwind_file_write(const struct unwind_file *file, unwind_file_put *put, void *data);

/* Reads what another process has written. -EFBIG: it is too large; -EINVAL: it makes no sense. */
int unwind_file_read(const void *bytes, size_t size_bytes, struct unwind_file *file);

/*
 * What an address in memory is more than the file's, where the mapping from start to end shows the
 * segment; false when it does not. It begins at a page, which may be before the segment does.
 */
bool unwind_segment_bias(const struct unwind_segment *segment, uint64_t start, uint64_t end, uint64_t file_offset,
			 uint64_t *bias);
