/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the slot ring of a CPU: records of one size, written without a lock (bpf/slots.bpf.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/ring/ring.h"

struct slot_ring;
struct cpu_counts;

/* Its slots, a power of two, lie in the map from offset on. The descriptor and the CPU's counts outlive the ring. */
struct slot_ring *slot_ring_new(int map_fd, uint64_t offset, uint32_t slot_count, struct cpu_counts *counts);
void slot_ring_free(struct slot_ring *ring);

/* As ring_drain(). */
bool slot_ring_drain(struct slot_ring *ring, ring_record_fn on_record, void *data);

/* 0 to 1; a record that is being written counts. */
double slot_ring_fill(const struct slot_ring *ring);
