/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DEPTH_MAX = 16 };

struct kernel_types {
	struct btf *btf; /* NULL: not read, or the kernel has none */
	bool is_read;
};

struct kernel_types *kernel_types_new(void)
{
	return xcalloc(1, sizeof(struct kernel_types));
}

void kernel_types_free(struct kernel_types *types)
{
	if (!types)
		return;
	btf__free(types->btf);
	free(types);
}

/* What the kernel's types of locks are called; what is in them, except for locks of their own, is nobody's. */
static bool is_lock(const char *type)
{
	static const char *const locks[] = {
		"spinlock", "raw_spinlock",        "mutex",    "rw_semaphore",  "qspinlock",
		"qrwlock",  "percpu_rw_semaphore", "rt_mutex", "rt_mutex_base",
	};

	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		if (!strcmp(type, locks[i]))
			return true;
	return false;
}

static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (int i = 0; type && i < DEPTH_MAX && (btf_is_mod(type) || btf_is_typedef(type)); i++)
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* The member that an offset lies in, the first one of several in a union; NULL: none. */
static const struct btf_member *member_at(const struct btf *btf, const struct btf_type *type, uint32_t offset,
					  uint32_t *begin)
{
	const struct btf_member *members = btf_members(type);

	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		int64_t size = btf__resolve_size(btf, members[i].type);

		*begin = btf_member_bit_offset(type, i) / 8;
		if (!btf_member_bitfield_size(type, i) && size > 0 && offset >= *begin &&
		    offset - *begin < (uint64_t)size)
			return &members[i];
	}
	return NULL;
}

static void add(char *name, uint32_t capacity_bytes, const char *part)
{
	size_t length = strlen(name);

	if (*part)
		snprintf(name + length, capacity_bytes - length, "%s%s", length ? "." : "", part);
}

/* The element of an array that an offset lies in; then what is left of the offset is in there. */
static const struct btf_type *element_at(const struct btf *btf, const struct btf_type *type, uint32_t *offset,
					 char *name, uint32_t capacity_bytes)
{
	int64_t size = btf__resolve_size(btf, btf_array(type)->type);
	size_t length = strlen(name);

	if (size <= 0)
		return NULL;
	snprintf(name + length, capacity_bytes - length, "[%u]", (unsigned int)(*offset / size));
	*offset %= size;
	return plain_type(btf, btf_array(type)->type);
}

/* NULL: there is none of this name. */
static const struct btf_type *find(struct kernel_types *types, const char *name)
{
	int id;

	if (!types->is_read)
		types->btf = btf__load_vmlinux_btf();
	types->is_read = true;
	id = types->btf ? btf__find_by_name_kind(types->btf, name, BTF_KIND_STRUCT) : -ENOENT;
	return id > 0 ? btf__type_by_id(types->btf, id) : NULL;
}

int kernel_types_member(void *data, const char *name_of_type, uint32_t offset, char *name, uint32_t capacity_bytes)
{
	struct kernel_types *types = data;
	const struct btf_type *type = find(types, name_of_type);
	uint32_t begin;

	*name = '\0';
	for (int depth = 0; type && depth < DEPTH_MAX; depth++) {
		const struct btf_member *member;

		if (btf_is_array(type)) {
			type = element_at(types->btf, type, &offset, name, capacity_bytes);
			continue;
		}
		if (!btf_is_composite(type))
			break;
		if (depth && !offset && is_lock(btf__name_by_offset(types->btf, type->name_off)))
			break;
		member = member_at(types->btf, type, offset, &begin);
		if (!member)
			break;
		add(name, capacity_bytes, btf__name_by_offset(types->btf, member->name_off));
		type = plain_type(types->btf, member->type);
		offset -= begin;
	}
	return *name ? 0 : -ENOENT;
}
