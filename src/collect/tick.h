/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's timer tick: how often it comes, and by what a BPF program knows it.
 */
#pragma once

#include <stdint.h>

struct btf;

/* The tick's period in ns; 0: unknown. */
uint64_t tick_period_ns(void);

/*
 * The period nearest below period_ns whose timers, if there are 100 a second at least, pass over all moments between two ticks
 * within one; period_ns itself if it is a multiple of tick_ns, or tick_ns is 0. All in ns.
 */
uint64_t tick_pass_over(uint64_t period_ns, uint64_t tick_ns);

/*
 * Where the kernel's per-CPU variables are, in bytes from the beginning of each CPU's area, as
 * its type information says. Only differences mean anything.
 */
struct tick_places {
	uint32_t hrtimer_bases, tick_cpu_sched, irq_regs;
};

/*
 * 0, -ENOENT where the kernel does not say, -EBUSY where CPUs may run without a tick
 * (nohz_full).
 */
int tick_find(const struct btf *btf, struct tick_places *places);
