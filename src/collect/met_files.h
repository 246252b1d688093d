/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that traced processes map, as they are met: for those who put probes into some of them. Each is
 * told once, while one of its processes lives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct met_files;
struct session;
struct table;

struct met_file {
	uint32_t pid;			/* a process that maps it */
	const char *path;
	int fd;				/* the file that it maps; open while it is told */
};

/* is_wanted: whether a file of this path may be one to look at. */
struct met_files *met_files_new(struct session *session,
				bool (*is_wanted)(void *data, const char *path), void *data);
void met_files_free(struct met_files *files);

/* Those that a process has mapped by now. */
void met_files_add_process(struct met_files *files, uint32_t pid);

/* Calls on_file, with the data given above, for each that was met since the last time. */
void met_files_tell(struct met_files *files, void (*on_file)(void *data, const struct met_file *file));

/* A file is the same wherever it is mapped. */
uint64_t met_file_key(uint64_t device, uint64_t inode);

/* Puts the key, if it is not there; false: it was, or there is no room to remember. */
bool met_file_is_first(struct table *keys, uint64_t key);
