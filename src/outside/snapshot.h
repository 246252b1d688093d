/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rings of programs hold, in one order of time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outside_program;

/* An event, or a gap. */
struct snapshot_entry {
	uint64_t time_ns; /* CLOCK_MONOTONIC; of a gap, when the event behind it was recorded */
	uint64_t order;   /* among those of one time */
	size_t payload;   /* where it begins in struct snapshot's payloads */
	uint64_t lost;    /* slots of a gap; 0: it is an event */
	const struct outside_program *program;
	uint32_t tid; /* in the process's own PID namespace */
	uint32_t argument, payload_bytes;
	uint16_t subsystem, event;
};

/* All of it belongs to the snapshot, until snapshot_fini(). */
struct snapshot {
	struct snapshot_entry *entries;
	size_t count, capacity;
	unsigned char *payloads;
	size_t payload_bytes, payload_capacity;
	uint64_t left_out;      /* events for which there was no space: SNAPSHOT_ENTRIES_MAX, SNAPSHOT_PAYLOAD_MAX */
	bool has_unknown_speed; /* of a program's time stamps: times are counts of its counter */
};

enum { SNAPSHOT_ENTRIES_MAX = 16 << 20, SNAPSHOT_PAYLOAD_MAX = 512 << 20 };

/* Adds what the rings of a program hold. 0, or a negative errno of reading it. */
int snapshot_add(struct snapshot *snapshot, const struct outside_program *program);

/* When all programs have been added. */
void snapshot_sort(struct snapshot *snapshot);

void snapshot_fini(struct snapshot *snapshot);
