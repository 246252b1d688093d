/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the running kernel's types, by the type information (BTF) that it has of itself. */
#pragma once

#include <stdint.h>

struct kernel_types;

/* It is read when it is first asked, which takes some 10 ms and MB. */
struct kernel_types *kernel_types_new(void);
void kernel_types_free(struct kernel_types *types);

/*
 * What lies at an offset (bytes) of a struct, as "mmap_lock" or "i_data.i_pages.xa_lock". A lock is not looked
 * into except for a lock that it has inside. 0, or -ENOENT; what has no space in the name is left out. A
 * symbol_member_fn: types is a struct kernel_types.
 */
int kernel_types_member(void *types, const char *type, uint32_t offset, char *name, uint32_t capacity_bytes);
