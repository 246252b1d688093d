/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/bounded_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "query/growing_states.h"

enum {
	USED_RINGS = 2,  /* a history that takes more than so many times what the ring takes has had its time */
	BOTH_RINGS = 4,  /* the one that is used stands still when both take more */
	EIGHTHS_MAX = 4, /* of the ring: so much is left out at its begin, if it is overwritten too fast */
};

struct bounded_history {
	char *trace_path;
	uint64_t ring_bytes;          /* 0: what the trace takes */
	struct growing_states *used;  /* never NULL */
	unsigned int eighths;         /* of the ring that the other one leaves out */
	struct growing_states *other; /* of what the ring has had since; NULL: the one that is used is small */
	bool is_other_read;           /* to the end of the trace, as of its last step */
};

int bounded_history_open(const char *trace_path, uint64_t ring_bytes, struct bounded_history **out)
{
	struct growing_states *used;
	struct bounded_history *history;
	int err = growing_states_open(trace_path, 0, &used);

	if (err)
		return err;
	history = xcalloc(1, sizeof(*history));
	history->trace_path = xstrdup(trace_path);
	history->ring_bytes = ring_bytes;
	history->used = used;
	*out = history;
	return 0;
}

void bounded_history_close(struct bounded_history *history)
{
	if (!history)
		return;
	growing_states_close(history->used);
	growing_states_close(history->other);
	free(history->trace_path);
	free(history);
}

static uint64_t ring_bytes(const struct bounded_history *history)
{
	return history->ring_bytes ? history->ring_bytes : growing_states_trace_bytes(history->used);
}

static bool is_to_be_replaced(const struct bounded_history *history)
{
	return growing_states_lack_begin(history->used) ||
	       (growing_states_are_of_ring(history->used) &&
		growing_states_bytes(history->used) > USED_RINGS * ring_bytes(history));
}

static bool stands_still(const struct bounded_history *history)
{
	return history->other && bounded_history_bytes(history) > BOTH_RINGS * ring_bytes(history);
}

/* The next attempt begins where there is more time until that is overwritten. */
static void give_up_other(struct bounded_history *history)
{
	growing_states_close(history->other);
	history->other = NULL;
	if (history->eighths < EIGHTHS_MAX)
		history->eighths++;
}

/* -ECANCELED, or 0: without it, the one that is used grows on. */
static int step_other(struct bounded_history *history, uint64_t budget_ns, struct states_waiter *waiter)
{
	int got;

	if (!history->other && (!is_to_be_replaced(history) ||
				growing_states_open(history->trace_path, history->eighths, &history->other)))
		return 0;
	got = growing_states_step(history->other, budget_ns, waiter);
	history->is_other_read = !got;
	if (got < 0 || growing_states_lack_begin(history->other))
		give_up_other(history);
	return got == -ECANCELED ? got : 0;
}

int bounded_history_step(struct bounded_history *history, uint64_t budget_ns, struct states_waiter *waiter)
{
	int got = stands_still(history) ? 1 : growing_states_step(history->used, budget_ns, waiter);
	int err = got < 0 ? got : step_other(history, budget_ns, waiter);

	return err ? err : got;
}

struct growing_states *bounded_history_used(const struct bounded_history *history)
{
	return history->used;
}

/* One that begins behind all that the other one knows would have little to show if it took its place before it is read. */
struct growing_states *bounded_history_next(const struct bounded_history *history)
{
	if (!history->other || !(history->is_other_read || stands_still(history)) ||
	    growing_states_until_ns(history->other) < growing_states_until_ns(history->used))
		return NULL;
	return history->other;
}

void bounded_history_replace(struct bounded_history *history)
{
	growing_states_close(history->used);
	history->used = history->other;
	history->other = NULL;
	history->eighths = 0;
}

uint64_t bounded_history_bytes(const struct bounded_history *history)
{
	return growing_states_bytes(history->used) + (history->other ? growing_states_bytes(history->other) : 0);
}
