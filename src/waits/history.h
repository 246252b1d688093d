/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread had added up to at moments of the past, for whoever asks later: exact for the last
 * HISTORY_EXACT changes of what it does; before those, points lie about a quarter of their age apart,
 * and what lies between is taken to have grown evenly. So memory is bounded.
 * The caller owns the struct, which begins zeroed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_EXACT = 32, HISTORY_CAPACITY = 128 };

/* At a change of what the thread does; figures grow with time only. */
struct history_point {
	uint64_t time_ns;
	uint64_t share_ns;   /* integral of dt / n since the beginning */
	uint64_t cmetric_ns; /* of the thread, on a CPU and waiting for one */
	uint64_t busy_ns;    /* time in which it was active, or waited for work in progress */
	bool is_active;      /* from here on */
	bool is_spinning;    /* active, but without a part of the time */
	bool is_thinned;     /* points that followed were left out */
};

struct history {
	struct history_point *points;
	size_t count;
};

void history_fini(struct history *history);

/* Not earlier than all before. */
void history_add(struct history *history, const struct history_point *point);

struct history_sum {
	uint64_t cmetric_ns, busy_ns;
};

/* As they were at time_ns, when the integral was share_ns. Zeros before the first point. */
struct history_sum history_at(const struct history *history, uint64_t time_ns, uint64_t share_ns);
