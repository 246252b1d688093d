/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/tick.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The coarse clock advances at each tick: its resolution is the tick's period. */
uint64_t tick_period_ns(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution))
		return 0;
	return resolution.tv_sec * 1000000000ull + resolution.tv_nsec;
}

/* A CPU of the kernel's list has no tick while it runs only one thread. */
static bool have_tickless_cpus(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/nohz_full", "re");
	bool have_some = false;
	int c;

	while (file && !have_some && (c = getc(file)) != EOF)
		have_some = c >= '0' && c <= '9';
	if (file)
		fclose(file);
	return have_some;
}

/* False when the section of per-CPU variables has none of that name. */
static bool find_variable(const struct btf *btf, const char *name, uint32_t *offset)
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

int tick_find(const struct btf *btf, struct tick_places *places)
{
	if (have_tickless_cpus())
		return -EBUSY;
	if (find_variable(btf, "hrtimer_bases", &places->hrtimer_bases) &&
	    find_variable(btf, "tick_cpu_sched", &places->tick_cpu_sched) &&
	    find_variable(btf, "__irq_regs", &places->irq_regs))
		return 0;
	return -ENOENT;
}
