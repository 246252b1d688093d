/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that traced processes map, as they are seen: for those who put probes into some of them. Each is
 * recorded once, while one of its processes lives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symbol.h"

struct seen_files;
struct session;
struct table;

struct seen_file {
	const char *path;
	struct symbol_open_file file; /* open during the call */
};

/* is_wanted: whether a file of this path may be one to look at. */
struct seen_files *seen_files_new(struct session *session, bool (*is_wanted)(void *data, const char *path), void *data);
void seen_files_free(struct seen_files *files);

/* Calls on_file, with the data given above, for each that was seen since the last time. */
void seen_files_each(struct seen_files *files, struct symbols *symbols,
		     void (*on_file)(void *data, const struct seen_file *file));

/* Puts the key, if it is not there; false: it was, or there is no space to remember. */
bool seen_file_is_first(struct table *keys, uint64_t key);
