/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the running kernel's types: where they are is found by their names, and their names by that. */
#include "test.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/probe/kernel_types.h"

enum { NAME_BYTES = 128, DEPTH_MAX = 16 };

static struct btf *btf;
static struct kernel_types *types;
static char name[NAME_BYTES];

/* Skips the test where the kernel has no type information. */
static void begin(void)
{
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		print_message("# the kernel has no type information: no /sys/kernel/btf/vmlinux\n");
		skip();
	}
	types = kernel_types_new(NULL);
}

static void end(void)
{
	kernel_types_free(types);
	btf__free(btf);
}

static const struct btf_type *plain(uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* The member of this name, also of what has no name itself. *offset goes on by where it is. */
static const struct btf_type *step_into(const struct btf_type *type, const char *member, size_t length,
					uint32_t *offset, int depth)
{
	for (unsigned int i = 0; depth < DEPTH_MAX && i < btf_vlen(type); i++) {
		const char *other = btf__name_by_offset(btf, btf_members(type)[i].name_off);
		const struct btf_type *inner = plain(btf_members(type)[i].type), *found;
		uint32_t at = *offset + btf_member_bit_offset(type, i) / 8;

		if (strlen(other) == length && !memcmp(other, member, length)) {
			*offset = at;
			return inner;
		}
		if (*other || !btf_is_composite(inner))
			continue;
		found = step_into(inner, member, length, &at, depth + 1);
		if (found) {
			*offset = at;
			return found;
		}
	}
	return NULL;
}

/* Where "a.b[1].c" is in a type; -1: it has none. */
static int64_t offset_of(const char *type_name, const char *path)
{
	int id = btf__find_by_name_kind(btf, type_name, BTF_KIND_STRUCT);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;
	uint32_t offset = 0;

	while (type && *path) {
		size_t length = strcspn(path, ".[");

		type = step_into(type, path, length, &offset, 0);
		path += length;
		if (type && *path == '[') {
			offset += strtoul(path + 1, NULL, 10) * btf__resolve_size(btf, btf_array(type)->type);
			type = plain(btf_array(type)->type);
			path = strchr(path, ']') + 1;
		}
		path += *path == '.';
	}
	return type ? (int64_t)offset : -1;
}

/* What lies there has this name; where this kernel has no such member it is let pass. */
static bool is_called_so(const char *type, const char *path)
{
	int64_t offset = offset_of(type, path);

	if (offset < 0) {
		print_message("# this kernel has no %s in %s\n", path, type);
		return true;
	}
	return !kernel_types_member(types, type, offset, name, sizeof(name)) && !strcmp(name, path);
}

TEST(locks_of_processes_and_inodes_are_called_as_in_the_source)
{
	begin();
	CHECK(is_called_so("mm_struct", "mmap_lock") && is_called_so("mm_struct", "page_table_lock"));
	CHECK(is_called_so("files_struct", "file_lock") && is_called_so("sighand_struct", "siglock"));
	CHECK(is_called_so("inode", "i_rwsem") && is_called_so("inode", "i_lock"));
	CHECK(is_called_so("inode", "i_data.i_pages.xa_lock") && is_called_so("inode", "i_data.i_mmap_rwsem"));
	CHECK(is_called_so("pipe_inode_info", "mutex") && is_called_so("sock", "sk_lock.slock"));
	CHECK(is_called_so("task_struct", "pi_lock") && is_called_so("unix_sock", "iolock"));
	end();
}

TEST(a_lock_that_a_lock_has_inside_is_recorded_as_such)
{
	begin();
	CHECK(is_called_so("inode", "i_rwsem.wait_lock") && is_called_so("mm_struct", "mmap_lock.wait_lock"));
	CHECK(is_called_so("pipe_inode_info", "mutex.wait_lock"));
	end();
}

TEST(what_has_no_name_does_not_show)
{
	begin();
	CHECK(is_called_so("mm_struct", "arg_lock") && is_called_so("page", "_refcount.counter"));
	end();
}

TEST(elements_of_arrays_are_numbered)
{
	begin();
	CHECK(is_called_so("task_struct", "comm[0]") && is_called_so("task_struct", "comm[3]"));
	CHECK(is_called_so("pid", "tasks[1].first") && is_called_so("zone", "free_area[3].nr_free"));
	end();
}

TEST(what_lies_beyond_the_type_or_in_none_is_not_there)
{
	int64_t size;

	begin();
	size = btf__resolve_size(btf, btf__find_by_name_kind(btf, "inode", BTF_KIND_STRUCT));
	CHECK_THAT(size, >, 0);
	CHECK_EQUAL(kernel_types_member(types, "inode", size, name, sizeof(name)), -ENOENT);
	CHECK(!*name);
	CHECK_EQUAL(kernel_types_member(types, "inode", UINT32_MAX, name, sizeof(name)), -ENOENT);
	CHECK(!*name);
	CHECK_EQUAL(kernel_types_member(types, "no_such_type", 0, name, sizeof(name)), -ENOENT);
	CHECK(!*name);
	end();
}

TEST(a_name_ends_where_its_space_ends)
{
	int64_t offset;

	begin();
	offset = offset_of("inode", "i_rwsem.wait_lock");
	for (uint32_t capacity = 1; offset >= 0 && capacity < 20; capacity++) {
		memset(name, '#', sizeof(name));
		kernel_types_member(types, "inode", offset, name, capacity);
		CHECK(strlen(name) < capacity && name[capacity] == '#' &&
		      !strncmp(name, "i_rwsem.wait_lock", strlen(name)));
	}
	end();
}

/* Each is read alone: as if all types were known. */
TEST(names_do_not_depend_on_which_types_are_known)
{
	static const char *const some[] = { "sighand_struct", "pipe_inode_info", "unix_sock", "file", "mm_struct" };
	struct kernel_types *all;
	char expected[NAME_BYTES];

	begin();
	all = kernel_types_new(btf);
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		int64_t size = btf__resolve_size(btf, btf__find_by_name_kind(btf, some[i], BTF_KIND_STRUCT));

		for (int64_t offset = 0; offset < size; offset++) {
			int err = kernel_types_member(all, some[i], offset, expected, sizeof(expected));

			CHECK_EQUAL(kernel_types_member(types, some[i], offset, name, sizeof(name)), err);
			CHECK_STRING(name, expected);
		}
	}
	kernel_types_free(all);
	end();
}

/* Each offset has one, or is between two members. */
TEST(all_offsets_of_large_types_have_names_of_some_length)
{
	static const char *const large[] = { "task_struct", "inode", "mm_struct", "sock", "zone" };

	begin();
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		int64_t size = btf__resolve_size(btf, btf__find_by_name_kind(btf, large[i], BTF_KIND_STRUCT));

		for (int64_t offset = 0; offset < size; offset++) {
			int err = kernel_types_member(types, large[i], offset, name, sizeof(name));

			CHECK(err ? err == -ENOENT && !*name : *name && strlen(name) < sizeof(name));
			CHECK_THAT(*name, !=, '.');
			CHECK((!*name || name[strlen(name) - 1] != '.'));
		}
	}
	end();
}
