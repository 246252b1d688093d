/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How threads spent their lives, by what a history that grows said of it so far. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grown_totals;
struct state_total;

struct grown_totals *grown_totals_new(void);
void grown_totals_free(struct grown_totals *totals);

/* Adds what a chunk TRACE_CHUNK_STATE_TOTALS has; are_ongoing: STATE_TOTALS_ONGOING. 0, or -EBADMSG: it makes no sense. */
int grown_totals_take(struct grown_totals *totals, const void *bytes, size_t size_bytes, bool are_ongoing);

/* Calls on_total for each thread, in no order. */
void grown_totals_each(struct grown_totals *totals,
		       void (*on_total)(void *data, uint32_t thread, const struct state_total *total), void *data);
