/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/wait_lengths.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "klocks/lengths.h"
#include "lanes/state_json.h"
#include "lanes/wait_list.h"
#include "results/results.h"
#include "view/json/json_fields.h"

enum { BOXES_MAX = 100 };

struct length {
	uint64_t ns;
	uint32_t thread;
};

static int by_thread_and_length(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static struct length *sorted_lengths(const struct listed_wait *waits, size_t count)
{
	struct length *lengths = xcalloc(count + 1, sizeof(*lengths));

	for (size_t i = 0; i < count; i++)
		lengths[i] = (struct length){ waits[i].end_ns - waits[i].begin_ns, waits[i].thread };
	qsort(lengths, count, sizeof(*lengths), by_thread_and_length);
	return lengths;
}

/* The smallest length that at least a share of them, in percent, does not exceed. */
static uint64_t percentile(const struct length *lengths, size_t count, unsigned int percent)
{
	return lengths[(count * percent + 99) / 100 - 1].ns;
}

static struct result_wait_box box_of(const struct length *lengths, size_t count)
{
	struct result_wait_box box = {
		.thread = lengths->thread,
		.count = count,
		.min_ns = lengths->ns,
		.p25_ns = percentile(lengths, count, 25),
		.p50_ns = percentile(lengths, count, 50),
		.p75_ns = percentile(lengths, count, 75),
		.max_ns = lengths[count - 1].ns,
	};

	for (size_t i = 0; i < count; i++)
		box.ns += lengths[i].ns;
	return box;
}

static int by_time(const void *a, const void *b)
{
	const struct result_wait_box *x = a, *y = b;

	if (x->ns != y->ns)
		return (x->ns < y->ns) - (x->ns > y->ns);
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* One a thread; the caller frees them. */
static struct result_wait_box *boxes_of(const struct length *lengths, size_t count, size_t *box_count)
{
	struct result_wait_box *boxes = NULL;
	size_t capacity = 0, begin = 0;

	*box_count = 0;
	for (size_t i = 1; i <= count; i++) {
		if (i < count && lengths[i].thread == lengths[begin].thread)
			continue;
		ARRAY_GROW(boxes, *box_count, capacity, 64);
		boxes[(*box_count)++] = box_of(lengths + begin, i - begin);
		begin = i;
	}
	if (boxes)
		qsort(boxes, *box_count, sizeof(*boxes), by_time);
	return boxes;
}

static size_t histogram_of(const struct length *lengths, size_t count, struct result_length results[LENGTHS])
{
	uint64_t counts[LENGTHS] = { 0 }, sums_ns[LENGTHS] = { 0 };
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		counts[length_index(lengths[i].ns)]++;
		sums_ns[length_index(lengths[i].ns)] += lengths[i].ns;
	}
	for (size_t i = 0; i < LENGTHS; i++)
		if (counts[i])
			results[used++] = (struct result_length){ length_limit_ns(i), counts[i], sums_ns[i] };
	return used;
}

void wait_lengths_put_json(const struct wait_list *list, struct graph_labels *labels, struct text *out)
{
	struct wait_list_count found;
	const struct listed_wait *waits = wait_list_found(list, &found);
	struct length *lengths = sorted_lengths(waits, found.rows);
	struct result_length histogram[LENGTHS];
	struct result_wait_lengths result = { .count = found.rows, .left_out = found.left_out };
	struct result_wait_box *boxes = boxes_of(lengths, found.rows, &result.box_count);

	for (size_t i = 0; i < result.box_count; i++)
		result.ns += boxes[i].ns;
	result.box_left_out = result.box_count > BOXES_MAX ? result.box_count - BOXES_MAX : 0;
	result.box_count -= result.box_left_out;
	for (size_t i = 0; i < result.box_count; i++)
		boxes[i].who = state_who(labels, boxes[i].thread);
	result.is_counted = found.is_counted;
	result.boxes = boxes;
	result.lengths = histogram;
	result.length_count = histogram_of(lengths, found.rows, histogram);
	json_put_document(out, result_wait_lengths_type(), &result);
	free(boxes);
	free(lengths);
}
