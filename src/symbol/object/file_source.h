/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where files come from that a program's file leads to. The process that reads them may open nothing itself:
 * it asks for descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_source {
	/*
	 * A debug file at path, in the file tree of the program's process or in ours; real_path: with all links
	 * followed, at most capacity_bytes. A descriptor, or a negative errno.
	 */
	int (*open_debug)(void *data, const char *path, bool is_ours, char *real_path, size_t capacity_bytes);
	/* The debug file with this build-id, from a server. */
	int (*fetch_debug)(void *data, const uint8_t *build_id, size_t size_bytes);
	void *data;
};
