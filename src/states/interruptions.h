/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a stretch of time of a CPU, or of the disks, belonged to, so that the parts add up to it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct activities;

/* A part of the time in which an interrupt had the CPU; of one within another, the inner one. */
struct interruption {
	uint64_t begin_ns, end_ns;
	uint8_t kind;    /* enum activity_kind */
	uint32_t number; /* of the interrupt, or the softirq's vector */
};

/* Those of a CPU in [from_ns, to_ns), in time order; for the caller to free. */
struct interruption *interruptions_of(struct activities *activities, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
				      size_t *count);

/*
 * Somebody had requests at disks, all that time; each moment is split evenly among all requests that were under way, so
 * ns, what it has of that, is at most as long.
 */
struct disk_use {
	uint64_t begin_ns, end_ns;
	uint64_t ns;
	uint32_t thread, tid; /* thread: a number, or 0 */
};

/*
 * By when they begin; one thread may have many. *idle_ns: how long there were no requests; that and the ns of all are
 * to_ns - from_ns. For the caller to free.
 */
struct disk_use *disk_uses_of(struct activities *activities, uint64_t from_ns, uint64_t to_ns, size_t *count,
			      uint64_t *idle_ns);
