/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of a BPF map, mapped only while it is used: the kernel maps all pages of it at once, and each counts as
 * resident memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct map_window {
	char *pages;
	size_t size_bytes; /* of all pages */
};

/* From offset on, for reading. Its first byte; NULL: there is no memory. */
const char *map_window_open(struct map_window *window, int map_fd, uint64_t offset, size_t size_bytes);
void map_window_close(const struct map_window *window);
