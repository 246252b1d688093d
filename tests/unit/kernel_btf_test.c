/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against what libbpf reads of the running kernel. */
#include "test.h"

#include <bpf/btf.h>
#include <string.h>

#include "collect/probe/kernel_btf.h"

static struct btf *all, *part;
static uint32_t task_type;

static void begin(const char *const *structs, size_t count, const char *const *others, size_t other_count)
{
	struct btf *asked = btf__new_empty();

	all = btf__load_vmlinux_btf();
	if (!all)
		skip();
	for (size_t i = 0; i < count; i++)
		CHECK_THAT(btf__add_struct(asked, structs[i], 0), >, 0);
	part = kernel_btf_new(asked, others, other_count, &task_type);
	btf__free(asked);
	CHECK(part);
}

static void end(void)
{
	btf__free(part);
	btf__free(all);
}

static void check_same(uint32_t here, uint32_t there);

/* Members of types without a name are looked into; those that a name leads to are found by it. */
static void check_members(const struct btf_type *x, const struct btf_type *y)
{
	CHECK_EQUAL(btf_vlen(x), btf_vlen(y));
	for (uint32_t i = 0; i < btf_vlen(x); i++) {
		CHECK_STRING(btf__name_by_offset(part, btf_members(x)[i].name_off),
			     btf__name_by_offset(all, btf_members(y)[i].name_off));
		CHECK_EQUAL(btf_member_bit_offset(x, i), btf_member_bit_offset(y, i));
		CHECK_EQUAL(btf_member_bitfield_size(x, i), btf_member_bitfield_size(y, i));
		check_same(btf_members(x)[i].type, btf_members(y)[i].type);
	}
}

static void check_same(uint32_t here, uint32_t there)
{
	const struct btf_type *x = btf__type_by_id(part, here), *y = btf__type_by_id(all, there);

	CHECK(x && y);
	CHECK_EQUAL(btf_kind(x), btf_kind(y));
	CHECK_STRING(btf__name_by_offset(part, x->name_off), btf__name_by_offset(all, y->name_off));
	if (btf_is_composite(x)) {
		CHECK_EQUAL(x->size, y->size);
		check_members(x, y);
	} else if (btf_is_array(x)) {
		CHECK_EQUAL(btf_array(x)->nelems, btf_array(y)->nelems);
		check_same(btf_array(x)->type, btf_array(y)->type);
	} else if (btf_is_mod(x) || btf_is_typedef(x)) {
		check_same(x->type, y->type);
	} else if (!btf_is_ptr(x) && btf_kind(x) != BTF_KIND_FWD) {
		CHECK_EQUAL(btf__resolve_size(part, here), btf__resolve_size(all, there));
	}
}

TEST(structures_are_as_libbpf_reads_them)
{
	static const char *const structs[] = { "task_struct", "file", "inode", "sock", "rq", "mutex", "fdtable" };

	begin(structs, sizeof(structs) / sizeof(*structs), NULL, 0);
	for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++)
		check_same(btf__find_by_name_kind(part, structs[i], BTF_KIND_STRUCT),
			   btf__find_by_name_kind(all, structs[i], BTF_KIND_STRUCT));
	CHECK_EQUAL(task_type, btf__find_by_name_kind(all, "task_struct", BTF_KIND_STRUCT));
	end();
}

TEST(a_flavour_of_a_structure_asks_for_it)
{
	static const char *const structs[] = { "mutex___before" };

	begin(structs, 1, NULL, 0);
	CHECK_THAT(btf__find_by_name_kind(part, "mutex", BTF_KIND_STRUCT), >, 0);
	CHECK_THAT(btf__type_cnt(part), <, btf__type_cnt(all) / 10);
	end();
}

/* The parameters of a tracepoint are counted, and a variable of each CPU is where it is. */
TEST(others_have_their_parameters_and_places)
{
	static const char *const others[] = { "btf_trace_sched_process_exit", ".data..percpu", "runqueues" };
	const struct btf_type *x, *y;
	int here, there;

	begin(NULL, 0, others, sizeof(others) / sizeof(*others));
	here = btf__find_by_name_kind(part, others[0], BTF_KIND_TYPEDEF);
	there = btf__find_by_name_kind(all, others[0], BTF_KIND_TYPEDEF);
	x = btf__type_by_id(part, btf__type_by_id(part, btf__type_by_id(part, here)->type)->type);
	y = btf__type_by_id(all, btf__type_by_id(all, btf__type_by_id(all, there)->type)->type);
	CHECK(btf_is_func_proto(x) && btf_is_func_proto(y));
	CHECK_EQUAL(btf_vlen(x), btf_vlen(y));
	here = btf__find_by_name_kind(part, others[1], BTF_KIND_DATASEC);
	there = btf__find_by_name_kind(all, others[1], BTF_KIND_DATASEC);
	x = btf__type_by_id(part, here);
	y = btf__type_by_id(all, there);
	CHECK_EQUAL(btf_vlen(x), 1);
	for (uint32_t i = 0; i < btf_vlen(y); i++) {
		const struct btf_type *variable = btf__type_by_id(all, btf_var_secinfos(y)[i].type);

		if (!strcmp(btf__name_by_offset(all, variable->name_off), others[2]))
			CHECK_EQUAL(btf_var_secinfos(x)[0].offset, btf_var_secinfos(y)[i].offset);
	}
	end();
}
