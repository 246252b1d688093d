/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where areas are: in the maps of living processes, and in files that were left. Only files are opened for which the kernel
 * itself answers. Reading the maps of a process takes as long as the process lets it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area_found {
	int fd;                 /* of a sound area; the callee's to close */
	uint64_t device, inode; /* as the maps and fstat(2) have them */
	const char *path;       /* as the process named it: any bytes. Valid during the call */
};

/*
 * Calls on_area for each area that process pid has made itself: one that it inherited and did not record into is its
 * parent's. Deleted files and memfds need CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, unless the file has its path still.
 * How many there were; or, when there was none, a negative errno: -ENOENT, it has none; -EACCES or -EPERM, it may have one
 * that cannot be opened.
 */
int area_find(uint32_t pid, bool is_writable, void (*on_area)(void *data, const struct area_found *found), void *data);

/* Calls on_file with the device and inode of each area that process pid has mapped, its own or not. */
void area_find_mapped(uint32_t pid, void (*on_file)(void *data, uint64_t device, uint64_t inode), void *data);
