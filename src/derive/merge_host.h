/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of several hosts whose traces are merged, and its events as they stand in the trace that is made: times by the clock of
 * host 0; ids of processes and threads, numbers of CPUs, and names of files, stacks and locks of the kernel
 * that no other host has. What host 0 records stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks/clock_exchange.h"
#include "events.h"
#include "session/hosts.h"

struct clock_fit;

struct merge_host {
	uint32_t number;
	bool is_alone; /* there is no other one */
	uint32_t cpu_base, cpu_count;
	uint8_t boot[CLOCK_BOOT_BYTES];
	char *name;
	/* Its clock: by that of a host that is closer to host 0; NULL: it is host 0's. */
	struct merge_host *reference;
	struct clock_fit *fit; /* of its samples of that host, or of that one's of it */
	bool is_asked;         /* that one has asked it */
	uint64_t last_from_ns,
		last_ns; /* the latest time of its events so far, by its own clock and by that of host 0 */
	uint64_t uncertainty_ns;
	struct table *objects; /* names of its files and kernel locks that were recorded */
};

/* A time of the host by the clock of host 0; *uncertainty_ns, unless NULL, is added to. */
uint64_t merge_host_time_ns(const struct merge_host *host, uint64_t time_ns, uint64_t *uncertainty_ns);

uint32_t merge_host_id(const struct merge_host *host, uint32_t id);

/* The name of a file or of a kernel lock. */
uint64_t merge_host_name(const struct merge_host *host, uint64_t name);

/* Changes an event of the host, in place. Its times do not run backwards, nor do they lie behind the event. */
void merge_host_change(struct merge_host *host, struct ev_header *header);

/* So much less is an address in the kernel: names of it are by addresses, and each host's kernel lies elsewhere. */
uint64_t merge_host_kernel_shift(const struct merge_host *host);
