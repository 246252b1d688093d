/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/grown_totals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/byte_cursor.h"
#include "base/memory.h"
#include "base/table.h"
#include "states/state_total.h"

struct grown_total {
	uint32_t thread;
	struct state_total total;
	struct state_total wait; /* one that lasts */
	size_t round;            /* in which that was said */
};

struct grown_totals {
	struct table *table; /* struct grown_total, by thread + 1 */
	size_t round;        /* how often it was said which waits last */
};

struct grown_totals *grown_totals_new(void)
{
	struct grown_totals *totals = xcalloc(1, sizeof(*totals));

	totals->table = table_new();
	return totals;
}

void grown_totals_free(struct grown_totals *totals)
{
	struct grown_total *total;
	size_t cursor = 0;

	if (!totals)
		return;
	while ((total = table_next(totals->table, &cursor)))
		free(total);
	table_free(totals->table);
	free(totals);
}

static struct grown_total *get(struct grown_totals *totals, uint32_t thread, uint64_t begin_ns)
{
	struct grown_total *total = table_find(totals->table, thread + 1ull);

	if (!total) {
		total = xcalloc(1, sizeof(*total));
		total->thread = thread;
		total->total.begin_ns = begin_ns;
		total->total.has_begun = true;
		table_put(totals->table, thread + 1ull, total);
	}
	return total;
}

static void add(struct state_total *total, const struct state_total *part)
{
	if (part->until_ns > total->until_ns)
		total->until_ns = part->until_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		total->ns[share] += part->ns[share];
}

int grown_totals_take(struct grown_totals *totals, const void *bytes, size_t size_bytes, bool are_ongoing)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);
	struct grown_total *total;
	struct state_total part;
	uint32_t thread;

	totals->round += are_ongoing;
	while (byte_cursor_left(&cursor)) {
		if (!state_total_read(&cursor, &thread, &part))
			return -EBADMSG;
		total = get(totals, thread, part.begin_ns);
		if (are_ongoing) {
			total->wait = part;
			total->round = totals->round;
		} else {
			add(&total->total, &part);
		}
	}
	return 0;
}

void grown_totals_each(struct grown_totals *totals,
		       void (*on_total)(void *data, uint32_t thread, const struct state_total *total), void *data)
{
	const struct grown_total *total;
	size_t cursor = 0;

	while ((total = table_next(totals->table, &cursor))) {
		struct state_total sum = total->total;

		if (total->round == totals->round)
			add(&sum, &total->wait);
		on_total(data, total->thread, &sum);
	}
}
