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

/* Memory of a process; all of it or nothing. 0 or a negative errno. */
int given_memory(int opener, uint32_t pid, uint64_t address, void *bytes, size_t size_bytes);
