/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/kernel_btf.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	BTF_MAGIC_NATIVE = 0xeb9f,
	NAMES_BITS = 18, /* of the names that are asked for, so few that hardly another one is taken for one of them */
	TYPES_MAX = 1 << 24,
};

/* All of the kernel's. */
struct all_types {
	void *memory;
	size_t size_bytes;
	bool is_mapped;
	const char *types, *strings;
	uint32_t types_bytes, strings_bytes;
	uint32_t *places; /* by number, in types */
	uint32_t count;   /* with number 0, which is void */
};

struct part {
	const struct all_types *all;
	uint8_t names[1 << (NAMES_BITS - 3)]; /* a bit for each hash of a name */
	uint32_t *numbers;                    /* by number in all: the one here; 0: it is none of these */
	uint32_t *taken;                      /* the other way round, from 1 on */
	uint32_t count, capacity;
	struct text types, strings;
};

static uint32_t hash(const char *name, size_t length)
{
	uint32_t hash = 0x811c9dc5; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x01000193;
	return (hash ^ hash >> NAMES_BITS) & ((1u << NAMES_BITS) - 1);
}

static void ask(struct part *part, const char *name)
{
	const char *flavour = strstr(name, "___");
	uint32_t bit = hash(name, flavour ? (size_t)(flavour - name) : strlen(name));

	part->names[bit / 8] |= 1u << bit % 8;
}

static bool is_asked(const struct part *part, const char *name)
{
	uint32_t bit = hash(name, strlen(name));

	return part->names[bit / 8] & 1u << bit % 8;
}

/* The kernel lets it be mapped since 6.16; read, it comes in pages. */
static bool read_all(struct all_types *all)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t read_bytes = 0;
	ssize_t n = 1;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) || status.st_size <= 0 || status.st_size > UINT32_MAX) {
		close(fd);
		return false;
	}
	all->size_bytes = status.st_size;
	all->memory = mmap(NULL, all->size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	all->is_mapped = all->memory != MAP_FAILED;
	if (!all->is_mapped) {
		all->memory = xcalloc(1, all->size_bytes);
		while (read_bytes < all->size_bytes && n > 0) {
			n = read(fd, (char *)all->memory + read_bytes, all->size_bytes - read_bytes);
			read_bytes += n > 0 ? n : 0;
		}
	}
	close(fd);
	return n > 0;
}

static void free_all(struct all_types *all)
{
	if (all->is_mapped)
		munmap(all->memory, all->size_bytes);
	else
		free(all->memory);
	free(all->places);
}

static bool find_sections(struct all_types *all)
{
	const struct btf_header *header = all->memory;
	uint64_t types_at, strings_at;

	if (all->size_bytes < sizeof(*header) || header->magic != BTF_MAGIC_NATIVE)
		return false;
	types_at = (uint64_t)header->hdr_len + header->type_off;
	strings_at = (uint64_t)header->hdr_len + header->str_off;
	if (types_at % 4 || types_at + header->type_len > all->size_bytes ||
	    strings_at + header->str_len > all->size_bytes || !header->str_len)
		return false;
	all->types = (const char *)all->memory + types_at;
	all->types_bytes = header->type_len;
	all->strings = (const char *)all->memory + strings_at;
	all->strings_bytes = header->str_len;
	return !all->strings[all->strings_bytes - 1];
}

/* Of a type, in bytes; 0: it is not understood. */
static size_t size_of(const struct btf_type *type)
{
	size_t count = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*type);
	case BTF_KIND_INT:
		return sizeof(*type) + sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(*type) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*type) + count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*type) + count * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*type) + count * 3 * sizeof(uint32_t);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*type) + count * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(*type) + sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return sizeof(*type) + count * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(*type) + sizeof(struct btf_decl_tag);
	default:
		return 0;
	}
}

static bool index_all(struct all_types *all)
{
	uint32_t capacity = 0;

	ARRAY_GROW(all->places, all->count, capacity, 1 << 17);
	all->places[all->count++] = 0;
	for (uint32_t at = 0; at < all->types_bytes;) {
		size_t left = all->types_bytes - at, size_bytes;
		const struct btf_type *type = (const void *)(all->types + at);

		size_bytes = left < sizeof(*type) ? 0 : size_of(type);
		if (!size_bytes || size_bytes > left || type->name_off >= all->strings_bytes || all->count == TYPES_MAX)
			return false;
		ARRAY_GROW(all->places, all->count, capacity, 0);
		all->places[all->count++] = at;
		at += size_bytes;
	}
	return true;
}

static const struct btf_type *type_of(const struct all_types *all, uint32_t number)
{
	return (const void *)(all->types + all->places[number]);
}

static const char *name_at(const struct all_types *all, uint32_t place)
{
	return place < all->strings_bytes ? all->strings + place : "";
}

static void take(struct part *part, uint32_t number)
{
	if (!number || number >= part->all->count || part->numbers[number])
		return;
	ARRAY_GROW(part->taken, part->count, part->capacity, 1024);
	part->taken[part->count] = number;
	part->numbers[number] = part->count++;
}

static void take_asked(struct part *part)
{
	for (uint32_t number = 1; number < part->all->count; number++) {
		const struct btf_type *type = type_of(part->all, number);

		if (type->name_off && is_asked(part, name_at(part->all, type->name_off)))
			take(part, number);
	}
}

/* What a type refers to, as far as that is kept. */
static uint32_t kept_target(const struct all_types *all, const struct btf_type *type)
{
	bool is_kept;

	switch (btf_kind(type)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_TYPE_TAG:
		return type->type < all->count ? type->type : 0;
	case BTF_KIND_PTR:
		is_kept = type->type && type->type < all->count && btf_is_func_proto(type_of(all, type->type));
		return is_kept ? type->type : 0;
	default:
		return 0;
	}
}

static void take_parts(struct part *part, const struct btf_type *type)
{
	take(part, kept_target(part->all, type));
	if (btf_is_array(type)) {
		take(part, btf_array(type)->type);
		take(part, btf_array(type)->index_type);
	} else if (btf_is_composite(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			take(part, btf_members(type)[i].type);
	}
}

static uint32_t number_here(const struct part *part, uint32_t number)
{
	return number < part->all->count ? part->numbers[number] : 0;
}

static uint32_t put_name(struct part *part, uint32_t place)
{
	uint32_t here = part->strings.length;
	const char *name = name_at(part->all, place);

	if (!*name)
		return 0;
	text_put_bytes(&part->strings, name, strlen(name) + 1);
	return here;
}

static void put(struct part *part, const void *bytes, size_t size_bytes)
{
	text_put_bytes(&part->types, bytes, size_bytes);
}

/* Of a section's variables, those that are kept. */
static void put_section(struct part *part, const struct btf_type *type)
{
	struct btf_type copy = *type;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < btf_vlen(type); i++)
		kept += number_here(part, btf_var_secinfos(type)[i].type) != 0;
	copy.name_off = put_name(part, type->name_off);
	copy.info = (type->info & ~0xffffu) | kept;
	put(part, &copy, sizeof(copy));
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		struct btf_var_secinfo variable = btf_var_secinfos(type)[i];

		variable.type = number_here(part, variable.type);
		if (variable.type)
			put(part, &variable, sizeof(variable));
	}
}

static void put_members(struct part *part, const struct btf_type *type)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		struct btf_member member = btf_members(type)[i];

		member.name_off = put_name(part, member.name_off);
		member.type = number_here(part, member.type);
		put(part, &member, sizeof(member));
	}
}

static void put_values(struct part *part, const struct btf_type *type)
{
	size_t value_bytes = btf_kind(type) == BTF_KIND_ENUM64 ? 3 * sizeof(uint32_t) : sizeof(struct btf_enum);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint32_t value[3];

		memcpy(value, (const char *)(type + 1) + i * value_bytes, value_bytes);
		value[0] = put_name(part, value[0]);
		put(part, value, value_bytes);
	}
}

static void put_array(struct part *part, const struct btf_type *type)
{
	struct btf_array array = *btf_array(type);

	array.type = number_here(part, array.type);
	array.index_type = number_here(part, array.index_type);
	put(part, &array, sizeof(array));
}

/* Their types are of no interest, only their number. */
static void put_parameters(struct part *part, const struct btf_type *type)
{
	static const struct btf_param parameter;

	for (uint32_t i = 0; i < btf_vlen(type); i++)
		put(part, &parameter, sizeof(parameter));
}

static void put_type(struct part *part, const struct btf_type *type)
{
	struct btf_type copy = *type;

	if (btf_is_datasec(type)) {
		put_section(part, type);
		return;
	}
	copy.name_off = put_name(part, type->name_off);
	/* In the others it is a size, or nothing. */
	if (kept_target(part->all, type) || btf_is_ptr(type) || btf_is_mod(type) || btf_is_typedef(type) ||
	    btf_is_func_proto(type) || btf_is_var(type))
		copy.type = number_here(part, kept_target(part->all, type));
	put(part, &copy, sizeof(copy));
	if (btf_is_composite(type))
		put_members(part, type);
	else if (btf_is_enum(type) || btf_kind(type) == BTF_KIND_ENUM64)
		put_values(part, type);
	else if (btf_is_array(type))
		put_array(part, type);
	else if (btf_is_func_proto(type))
		put_parameters(part, type);
	else
		put(part, type + 1, size_of(type) - sizeof(*type));
}

static struct btf *make(struct part *part)
{
	struct btf_header header = { .magic = BTF_MAGIC_NATIVE, .version = BTF_VERSION, .hdr_len = sizeof(header) };
	struct text whole = { 0 };
	struct btf *btf;

	for (uint32_t i = 1; i < part->count; i++)
		take_parts(part, type_of(part->all, part->taken[i]));
	text_put_bytes(&part->strings, "", 1);
	for (uint32_t i = 1; i < part->count; i++)
		put_type(part, type_of(part->all, part->taken[i]));
	header.type_len = header.str_off = part->types.length;
	header.str_len = part->strings.length;
	text_put_bytes(&whole, (const char *)&header, sizeof(header));
	text_put_bytes(&whole, part->types.bytes, part->types.length);
	text_put_bytes(&whole, part->strings.bytes, part->strings.length);
	btf = btf__new(whole.bytes, whole.length);
	text_fini(&whole);
	return btf;
}

static struct btf *make_part(const struct all_types *all, const struct btf *asked, const char *const *others,
			     size_t count)
{
	struct part *part = xcalloc(1, sizeof(*part));
	struct btf *btf;

	part->all = all;
	part->numbers = xcalloc(all->count, sizeof(*part->numbers));
	ARRAY_GROW(part->taken, part->count, part->capacity, 1024);
	part->taken[part->count++] = 0;
	for (uint32_t i = 1; asked && i < btf__type_cnt(asked); i++) {
		const struct btf_type *type = btf__type_by_id(asked, i);

		if (type->name_off && (btf_is_composite(type) || btf_is_enum(type) || btf_is_typedef(type)))
			ask(part, btf__name_by_offset(asked, type->name_off));
	}
	for (size_t i = 0; i < count; i++)
		ask(part, others[i]);
	take_asked(part);
	btf = make(part);
	text_fini(&part->types);
	text_fini(&part->strings);
	free(part->numbers);
	free(part->taken);
	free(part);
	return btf;
}

static uint32_t find_struct(const struct all_types *all, const char *name)
{
	for (uint32_t number = 1; number < all->count; number++) {
		const struct btf_type *type = type_of(all, number);

		if (btf_is_struct(type) && !strcmp(name_at(all, type->name_off), name))
			return number;
	}
	return 0;
}

struct btf *kernel_btf_new(const struct btf *asked, const char *const *others, size_t count, uint32_t *task_type)
{
	struct all_types all = { 0 };
	struct btf *btf = NULL;

	*task_type = 0;
	if (read_all(&all) && find_sections(&all) && index_all(&all)) {
		btf = make_part(&all, asked, others, count);
		*task_type = find_struct(&all, "task_struct");
	}
	free_all(&all);
	return btf;
}
