/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collect/probe/kernel_btf.h"

enum { DEPTH_MAX = 16, READ_MAX = 64 };

/* A type, with all that it consists of. */
struct read_type {
	char *name;
	struct btf *btf; /* NULL: the kernel has none */
};

struct kernel_types {
	const struct btf *known;
	struct read_type read[READ_MAX];
	size_t read_count;
};

struct kernel_types *kernel_types_new(const struct btf *known)
{
	struct kernel_types *types = xcalloc(1, sizeof(*types));

	types->known = known;
	return types;
}

void kernel_types_free(struct kernel_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->read_count; i++) {
		free(types->read[i].name);
		btf__free(types->read[i].btf);
	}
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

static const struct btf_type *find_in(const struct btf *btf, const char *name)
{
	int number = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) : -ENOENT;

	return number > 0 ? btf__type_by_id(btf, number) : NULL;
}

static struct btf *read_type(struct kernel_types *types, const char *name)
{
	struct read_type *read;
	uint32_t task_type;

	for (size_t i = 0; i < types->read_count; i++)
		if (!strcmp(types->read[i].name, name))
			return types->read[i].btf;
	if (types->read_count == READ_MAX)
		return NULL;
	read = &types->read[types->read_count++];
	*read = (struct read_type){ xstrdup(name), kernel_btf_new(NULL, &name, 1, &task_type) };
	return read->btf;
}

/* NULL: there is none of this name. */
static const struct btf_type *find(struct kernel_types *types, const char *name, const struct btf **btf)
{
	const struct btf_type *type = find_in(types->known, name);

	*btf = types->known;
	if (type)
		return type;
	*btf = read_type(types, name);
	return find_in(*btf, name);
}

int kernel_types_member(void *data, const char *name_of_type, uint32_t offset, char *name, uint32_t capacity_bytes)
{
	struct kernel_types *types = data;
	const struct btf *btf;
	const struct btf_type *type = find(types, name_of_type, &btf);
	uint32_t begin;

	*name = '\0';
	for (int depth = 0; type && depth < DEPTH_MAX; depth++) {
		const struct btf_member *member;

		if (btf_is_array(type)) {
			type = element_at(btf, type, &offset, name, capacity_bytes);
			continue;
		}
		if (!btf_is_composite(type))
			break;
		if (depth && !offset && is_lock(btf__name_by_offset(btf, type->name_off)))
			break;
		member = member_at(btf, type, offset, &begin);
		if (!member)
			break;
		add(name, capacity_bytes, btf__name_by_offset(btf, member->name_off));
		type = plain_type(btf, member->type);
		offset -= begin;
	}
	return *name ? 0 : -ENOENT;
}
