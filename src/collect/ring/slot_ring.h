/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the slot ring of a CPU: records of one size, written without a lock (bpf/slots.bpf.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/ring/ring.h"

struct slot;
struct slot_ring;
struct cpu_counts;

/* slot_count is a power of two. The slots and their CPU's counts outlive the ring. */
struct slot_ring *slot_ring_new(const struct slot *slots, uint32_t slot_count, struct cpu_counts *counts);
void slot_ring_free(struct slot_ring *ring);

/* As ring_drain(). */
bool slot_ring_drain(struct slot_ring *ring, ring_record_fn on_record, void *data);

/* 0 to 1; a record that is being written counts. */
double slot_ring_fill(const struct slot_ring *ring);
