/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rings that the kernel side writes into: some for each CPU, all the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/ring/ring.h"

struct cpu_rings;
struct pinch_bpf;

/*
 * Of programs that are not loaded yet: says how large their maps are. slots_bytes: for switches and wake-ups, a CPU,
 * rounded down to a power of two of slots; 0: the default. tells_system: there is a ring for bpf/system.bpf.c.
 */
struct cpu_rings *cpu_rings_new(struct pinch_bpf *bpf, unsigned int cpu_count, size_t slots_bytes, bool tells_system);
void cpu_rings_free(struct cpu_rings *rings);

/* Once they are loaded. 0, or a negative errno, said. */
int cpu_rings_make(struct cpu_rings *rings);

/* Rings of all CPUs, numbered from 0. */
unsigned int cpu_rings_count(const struct cpu_rings *rings);

/* As ring_drain(). */
bool cpu_rings_drain(struct cpu_rings *rings, unsigned int ring, ring_record_fn on_record, void *data);

/* How full the fullest ring is, 0 to 1; the samplers' do not count. */
double cpu_rings_fill(const struct cpu_rings *rings);
