/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/blocked_sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/whole.h"

enum { CODE_MAX = 512, WAITS_MAX = 64 }; /* rows of one sum */

void blocked_sum_free(struct blocked_sum *sum, struct chain_budget *budget)
{
	struct blocked_code *code;
	struct blocked_wait *wait;

	if (!sum)
		return;
	budget->rows -= sum->code_count + sum->wait_count;
	while ((code = sum->code)) {
		sum->code = code->next;
		free(code);
	}
	while ((wait = sum->waits)) {
		sum->waits = wait->next;
		free(wait);
	}
	free(sum);
}

/* Taken out of the list; or a new one, while there is space. */
static struct blocked_code *take_code(struct blocked_sum *sum, struct chain_budget *budget,
				      const struct code_sample *code)
{
	struct blocked_code **place = &sum->code, *row;

	while (*place && (*place)->code != code)
		place = &(*place)->next;
	row = *place;
	if (row) {
		*place = row->next;
	} else if (sum->code_count < CODE_MAX && budget->rows < budget->rows_max) {
		sum->code_count++;
		budget->rows++;
		row = xcalloc(1, sizeof(*row));
		row->code = code;
	}
	return row;
}

/* What is met often comes first. */
void blocked_sum_add_code(struct blocked_sum *sum, struct chain_budget *budget, const struct code_sample *code,
			  double weight)
{
	struct blocked_code *row = take_code(sum, budget, code);

	if (!row)
		return;
	row->weight += weight;
	row->next = sum->code;
	sum->code = row;
}

void blocked_sum_add_wait(struct blocked_sum *sum, struct chain_budget *budget, enum wait_cause cause,
			  const struct wait_path *path, double ns)
{
	struct blocked_wait *row = sum->waits;

	while (row && (row->path != path || row->cause != cause))
		row = row->next;
	if (!row) {
		if (sum->wait_count == WAITS_MAX || budget->rows == budget->rows_max)
			return;
		sum->wait_count++;
		budget->rows++;
		row = xcalloc(1, sizeof(*row));
		row->cause = cause;
		row->path = path;
		row->next = sum->waits;
		sum->waits = row;
	}
	row->ns += ns;
}

/* So much of what one sum has goes to another, too. */
void blocked_sum_add_part(struct blocked_sum *sum, struct chain_budget *budget, const struct blocked_sum *from,
			  double part)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		sum->ns[i] += part * from->ns[i];
	for (const struct blocked_code *code = from->code; code; code = code->next)
		blocked_sum_add_code(sum, budget, code->code, part * code->weight);
	for (const struct blocked_wait *wait = from->waits; wait; wait = wait->next)
		blocked_sum_add_wait(sum, budget, wait->cause, wait->path, part * wait->ns);
	for (size_t i = 0; i < CHAIN_SOURCES; i++) {
		sum->weight[i] += part * from->weight[i];
		sum->sample_count[i] += whole(fmin(part, 1) * from->sample_count[i]);
	}
}
