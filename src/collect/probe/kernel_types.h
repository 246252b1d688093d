/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the running kernel's types, by the type information (BTF) that it has of itself. */
#pragma once

#include <stdint.h>

struct btf;
struct kernel_types;

/* known: has the types that are asked for most, and outlives this; NULL: none. Each other type takes 5 ms to read. */
struct kernel_types *kernel_types_new(const struct btf *known);
void kernel_types_free(struct kernel_types *types);

/*
 * What lies at an offset (bytes) of a struct, as "mmap_lock" or "i_data.i_pages.xa_lock". A lock is not looked
 * into except for a lock that it has inside. 0, or -ENOENT; what has no space in the name is left out. A
 * symbol_member_fn: types is a struct kernel_types.
 */
int kernel_types_member(void *types, const char *type, uint32_t offset, char *name, uint32_t capacity_bytes);
