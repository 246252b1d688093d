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

/* Who had requests at disks; each moment is split evenly among all that were under way. */
struct disk_user {
	uint32_t thread, tid; /* thread: a number, or 0 */
	uint64_t ns;
	uint64_t count; /* of requests */
};

/* *idle_ns: how long there were none; the sum of all is to_ns - from_ns. For the caller to free. */
struct disk_user *disk_users_of(struct activities *activities, uint64_t from_ns, uint64_t to_ns, size_t *count,
				uint64_t *idle_ns);
