/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When analyses get their events: at once where a CPU is idle and the events are not too many, later where the program wants all CPUs.
 * The owner keeps the struct, which begins as zeros, and closes it.
 */
#pragma once

#include <stdint.h>

struct backlog;
struct pause;

struct deferral {
	int stat_fd;                       /* of /proc/stat; 0: not opened; -1: not to be had */
	uint64_t idle_ticks, idle_read_ns; /* of all CPUs, and when that was read; 0: not yet */
	uint64_t looked_ns, events;        /* when it looked last, and how many had come; 0: not yet */
};

/* To be called again and again, with how many events have come. Costs little. */
void deferral_step(struct deferral *deferral, struct backlog *backlog, uint64_t events, uint64_t now_ns,
		   struct pause *pause);

/* Nobody needs the CPUs any more, or it cannot wait: analyses have all events from here on. */
void deferral_end(struct deferral *deferral, struct backlog *backlog, struct pause *pause);
