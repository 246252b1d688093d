/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: what a living process has mapped to execute. */
#pragma once

#include <stdint.h>

struct file_mapping {
	uint64_t start, end, file_offset;
	uint64_t device, inode; /* as makedev() gives it; 0: no file */
	const char *path;       /* valid until the call returns */
};

/*
 * Calls on_mapping for each executable mapping. 0, or the errno of the file; -E2BIG: there are more. Reading it can take as long as
 * the process likes: only the opener does that to others.
 */
int maps_file_read(uint32_t pid, void (*on_mapping)(void *data, const struct file_mapping *mapping), void *data);
