/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

uint64_t program_not_entered(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size_bytes))
		return 0;
	return info.recursion_misses;
}
