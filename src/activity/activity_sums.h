/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activities added up, by who found them and by name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "klocks/lengths.h"

struct activity;
struct activity_sums;
struct event_context;

struct activity_sum {
	char *source; /* the script; NULL: built in */
	char *name;   /* not escaped */
	uint64_t count, total_ns, max_ns;
	/* Of the longest one. */
	uint64_t max_begin_ns;
	uint32_t max_thread, max_tid; /* 0: none, or not known */
	char max_thread_name[16];
	uint32_t lengths[LENGTHS];
};

struct activity_sums *activity_sums_new(void);
void activity_sums_free(struct activity_sums *sums);

/* The context names its thread. */
void activity_sums_add(struct activity_sums *sums, const struct activity *activity,
		       const struct event_context *context);

/* In the order in which they first came. NULL: there is none numbered i, from 0 on. */
const struct activity_sum *activity_sums_get(const struct activity_sums *sums, size_t i);

/* Activities that are in none of them, since there were too many names. */
uint64_t activity_sums_left_out(const struct activity_sums *sums);
