/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the worker: what the opener gives it. Each call waits for the opener, which may never answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file that the tool calls number; a descriptor, the caller's, or a negative errno. */
int given_file(int opener, uint32_t number);

/*
 * The same for a debug file of that file at path, in its process's file tree or in ours; real_path: with all
 * links followed.
 */
int given_debug_file(int opener, uint32_t number, const char *path, bool is_ours, char *real_path,
		     size_t capacity_bytes);

/* The same for the names of the JIT compiler of a space. */
int given_jit(int opener, uint32_t number);

struct memory_piece {
	uint64_t address;
	uint32_t size_bytes;
	uint32_t is_read; /* out; else its bytes are 0 */
};

enum { MEMORY_PIECES_MAX = 128, MEMORY_PIECES_BYTES_MAX = 65000 };

/*
 * Pieces of a process's memory, read one right after the other, into bytes. 0, also if none of them could be read;
 * -E2BIG: they are too many, or too large; or -errno.
 */
int given_pieces(int opener, uint32_t pid, struct memory_piece *pieces, size_t count, void *bytes);

/* Memory of a process; all of it or nothing. 0 or a negative errno. */
int given_memory(int opener, uint32_t pid, uint64_t address, void *bytes, size_t size_bytes);
