/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the running kernel's types, by the type information (BTF) that it has of itself. */
#pragma once

#include <stdint.h>

struct kernel_types;

/* Reads it all, some 10 ms and MB; there is nothing in it when the kernel has none. */
struct kernel_types *kernel_types_new(void);
void kernel_types_free(struct kernel_types *types);

/*
 * What lies at an offset (bytes) of a struct, as "mmap_lock" or "i_data.i_pages.xa_lock". A lock is not looked
 * into but for a lock that it has inside. 0, or -ENOENT; what has no room in the name is left out.
 */
int kernel_types_member(const struct kernel_types *types, const char *type, uint32_t offset, char *name,
			uint32_t room_bytes);
