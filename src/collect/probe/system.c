/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/system.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stddef.h>

#include "collect/probe/program.h"
#include "shared.h"
#include "pinch.skel.h"

enum { PROGRAMS = 10 };

static void programs_of(const struct pinch_bpf *bpf, struct bpf_program *programs[PROGRAMS])
{
	programs[0] = bpf->progs.irq_begin;
	programs[1] = bpf->progs.irq_end;
	programs[2] = bpf->progs.softirq_begin;
	programs[3] = bpf->progs.softirq_end;
	programs[4] = bpf->progs.timer_begin;
	programs[5] = bpf->progs.timer_end;
	programs[6] = bpf->progs.net_receive;
	programs[7] = bpf->progs.block_issue;
	programs[8] = bpf->progs.block_complete;
	programs[9] = bpf->progs.block_insert;
}

void system_choose(struct pinch_bpf *bpf, bool is_recorded)
{
	struct bpf_program *programs[PROGRAMS];

	bpf->rodata->tells_system = is_recorded;
	programs_of(bpf, programs);
	for (size_t i = 0; i < PROGRAMS; i++)
		bpf_program__set_autoload(programs[i], is_recorded);
	bpf_map__set_autocreate(bpf->maps.block_askers, is_recorded);
}

uint64_t system_lost(const struct pinch_bpf *bpf)
{
	struct bpf_program *programs[PROGRAMS];
	uint64_t lost = 0;

	if (!bpf->rodata->tells_system)
		return 0;
	for (size_t cpu = 0; cpu < KERNEL_CPUS_MAX; cpu++)
		lost += bpf->bss->system_cpus[cpu].lost;
	programs_of(bpf, programs);
	for (size_t i = 0; i < PROGRAMS; i++)
		lost += program_not_entered(programs[i]);
	return lost;
}
