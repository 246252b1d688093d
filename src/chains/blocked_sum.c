/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/blocked_sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/whole.h"

enum {
	CODE_MAX = 512, /* of code by its own; and then by kin */
	KIN_MAX = 4096,
	CODE_LISTED_MAX = 16 /* more have an index */,
	WAITS_MAX = 64,
	LINKS_MAX = 64
}; /* rows of one sum */

void blocked_sum_free(struct blocked_sum *sum, struct chain_budget *budget)
{
	struct blocked_code *code;
	struct blocked_wait *wait;
	struct blocked_sum *link;

	if (!sum)
		return;
	budget->rows -= sum->code_count + sum->wait_count + sum->link_count;
	while ((link = sum->links)) {
		sum->links = link->next;
		blocked_sum_free(link, budget);
	}
	while ((code = sum->code)) {
		sum->code = code->next;
		free(code);
	}
	while ((wait = sum->waits)) {
		sum->waits = wait->next;
		free(wait);
	}
	table_free(sum->index);
	free(sum);
}

/* Of a short list. */
static struct blocked_code *find_code(const struct blocked_sum *sum, const struct code_sample *code)
{
	struct blocked_code *row = sum->code;

	if (sum->index)
		return table_find(sum->index, (uintptr_t)code);
	while (row && row->code != code)
		row = row->next;
	return row;
}

static void index_codes(struct blocked_sum *sum)
{
	sum->index = table_new();
	for (struct blocked_code *row = sum->code; row; row = row->next)
		table_put(sum->index, (uintptr_t)row->code, row);
}

static bool has_space(const struct chain_budget *budget)
{
	return budget->rows < budget->rows_max;
}

static void *new_row(struct chain_budget *budget, size_t bytes)
{
	budget->rows++;
	return xcalloc(1, bytes);
}

/* NULL: there is no space for it. */
static struct blocked_code *new_code(struct blocked_sum *sum, struct chain_budget *budget,
				     const struct code_sample *code, const struct code_sample *kin)
{
	struct blocked_code *row;

	if (!has_space(budget))
		return NULL;
	row = new_row(budget, sizeof(*row));
	row->code = code;
	row->kin = kin;
	row->next = sum->code;
	sum->code = row;
	if (++sum->code_count == CODE_LISTED_MAX)
		index_codes(sum);
	else if (sum->index)
		table_put(sum->index, (uintptr_t)code, row);
	return row;
}

void blocked_sum_add_code(struct blocked_sum *sum, struct chain_budget *budget, const struct code_sample *code,
			  const struct code_sample *kin, double weight)
{
	struct blocked_code *row = find_code(sum, code);

	if (!row && sum->code_count < CODE_MAX)
		row = new_code(sum, budget, code, kin);
	if (!row)
		row = find_code(sum, kin);
	if (!row && sum->code_count < KIN_MAX)
		row = new_code(sum, budget, kin, kin);
	if (row)
		row->weight += weight;
}

void blocked_sum_add_wait(struct blocked_sum *sum, struct chain_budget *budget, enum wait_cause cause,
			  const struct wait_path *path, double ns)
{
	struct blocked_wait *row = sum->waits;

	while (row && (row->path != path || row->cause != cause))
		row = row->next;
	if (!row) {
		if (sum->wait_count == WAITS_MAX || !has_space(budget))
			return;
		sum->wait_count++;
		row = new_row(budget, sizeof(*row));
		row->cause = cause;
		row->path = path;
		row->next = sum->waits;
		sum->waits = row;
	}
	row->ns += ns;
}

double blocked_sum_wait_ns(const struct blocked_sum *sum, const struct blocked_wait *wait)
{
	double known_ns = 0, unknown_ns = 0;

	for (const struct blocked_wait *other = sum->waits; other; other = other->next)
		if (other->cause == wait->cause)
			*(other->path ? &known_ns : &unknown_ns) += other->ns;
	if (!(known_ns > 0))
		return wait->ns;
	return wait->path ? wait->ns * (1 + unknown_ns / known_ns) : 0;
}

struct blocked_sum *blocked_sum_link(struct blocked_sum *sum, struct chain_budget *budget, const struct wait_path *path)
{
	struct blocked_sum *link = sum->links;

	if (!sum->has_links || (path && path == sum->path))
		return sum;
	while (link && link->path != path)
		link = link->next;
	if (link || sum->link_count == LINKS_MAX || !has_space(budget))
		return link ? link : sum;
	link = new_row(budget, sizeof(*link));
	link->path = path;
	link->has_links = true;
	link->next = sum->links;
	sum->links = link;
	sum->link_count++;
	return link;
}

void blocked_sum_add_part(struct blocked_sum *sum, struct chain_budget *budget, const struct blocked_sum *from,
			  double part)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		sum->ns[i] += part * from->ns[i];
	for (const struct blocked_code *code = from->code; code; code = code->next)
		blocked_sum_add_code(sum, budget, code->code, code->kin, part * code->weight);
	for (const struct blocked_wait *wait = from->waits; wait; wait = wait->next)
		blocked_sum_add_wait(sum, budget, wait->cause, wait->path, part * wait->ns);
	for (size_t i = 0; i < CHAIN_SOURCES; i++) {
		sum->weight[i] += part * from->weight[i];
		sum->sample_count[i] += whole(fmin(part, 1) * from->sample_count[i]);
	}
}
