/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of areas in /proc/PID/maps, known by their names. */
#pragma once

#include <stdint.h>

struct area_mapping {
	uint64_t start, end, device, inode;
	const char *path; /* without " (deleted)"; valid during the call */
};

/*
 * Calls on_mapping for the first mapping of each file, AREA_MAPPINGS_MAX at most, in the order of addresses. 0; -ESRCH: the process has
 * no mappings, as it has ended; or a negative errno of reading the maps. Reading them can take as long as the process likes.
 */
int area_maps_read(uint32_t pid, void (*on_mapping)(void *data, const struct area_mapping *mapping), void *data);

enum { AREA_MAPPINGS_MAX = 16 };
