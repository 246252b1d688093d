/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/percpu.h"

#include <bpf/btf.h>
#include <string.h>

bool percpu_find(const struct btf *btf, const char *name, uint32_t *offset)
{
	int section = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	int variable = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	const struct btf_type *type;

	if (section < 0 || variable < 0)
		return false;
	type = btf__type_by_id(btf, section);
	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *info = &btf_var_secinfos(type)[i];

		if (info->type == (uint32_t)variable) {
			*offset = info->offset;
			return true;
		}
	}
	return false;
}

/* Where a member lies in a struct, those of structs and unions without a name included; in bits. */
static bool find_member(const struct btf *btf, const struct btf_type *type, const char *name, uint32_t *offset)
{
	const struct btf_member *members = btf_members(type);

	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *inner = btf__type_by_id(btf, members[i].type);
		uint32_t begin = btf_member_bit_offset(type, i);

		if (!strcmp(btf__name_by_offset(btf, members[i].name_off), name)) {
			*offset = begin;
			return true;
		}
		if (!members[i].name_off && btf_is_composite(inner) && find_member(btf, inner, name, offset)) {
			*offset += begin;
			return true;
		}
	}
	return false;
}

/* Linux 6.2 to 6.14 have it in a struct. */
bool percpu_find_preempt_count(const struct btf *btf, uint32_t *offset)
{
	int hot = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT);
	uint32_t member = 0;

	if (percpu_find(btf, "__preempt_count", offset))
		return true;
	if (hot < 0 || !percpu_find(btf, "pcpu_hot", offset) ||
	    !find_member(btf, btf__type_by_id(btf, hot), "preempt_count", &member))
		return false;
	*offset += member / 8;
	return true;
}
