/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What those did that others waited for: code as call paths are merged, and what nobody traced has ended. */
#include "findings/parts/findings_waits.h"

#include <math.h>
#include <stdlib.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "base/table.h"
#include "base/whole.h"
#include "chains/blocked_on.h"
#include "findings/parts/code_path_key.h"
#include "findings/parts/words.h"

enum { ROWS_MAX = 8 };

struct code_row {
	struct report_blocked_code row;
	double weight, heaviest;
	size_t order;
};

struct wait_row {
	struct report_blocked_wait row;
	double ns, heaviest;
	size_t order;
};

struct merge {
	struct findings *findings;
	struct table *code, *waits; /* by key; rows are of the findings' arena */
	double ns[BLOCKED_KINDS], weight;
	uint64_t samples;
};

static const struct blocked_sum *sum_of(const struct findings *findings, const void *key)
{
	return blocked_on_sum(criticality_blocked_on(findings->input.criticality), key);
}

void findings_add_blocked_source(struct findings *findings, const struct blocked_source **list, const void *key,
				 double part)
{
	struct blocked_source *source;

	if (!sum_of(findings, key) || part <= 0)
		return;
	source = arena_alloc(findings->arena, sizeof(*source));
	*source = (struct blocked_source){ key, part, *list };
	*list = source;
}

/* --- Merging ------------------------------------------------------------------------------------- */

static void merge_code(struct merge *merge, const struct blocked_code *code, double part)
{
	const struct code_sample *sample = code->code;
	const struct report_frame *frames;
	enum stack_end end;
	size_t frame, count = path_names_sample_frames(merge->findings->names, sample->pid, sample->first_ns,
						       sample->stack, sample->ip, sample->kernel_ip, &frames, &end);
	struct code_row *row;
	uint64_t key;

	if (!count)
		return;
	key = findings_code_path_key(merge->findings, frames, count, &frame);
	row = table_find(merge->code, key);
	if (!row) {
		row = arena_alloc(merge->findings->arena, sizeof(*row));
		row->order = table_count(merge->code);
		table_put(merge->code, key, row);
	}
	row->weight += code->weight * part;
	if (code->weight * part > row->heaviest) {
		row->heaviest = code->weight * part;
		row->row.frames = frames + frame;
		row->row.frame_count = count - frame;
	}
}

struct report_blocked_wait findings_blocked_wait(struct findings *findings, const struct blocked_wait *wait)
{
	const struct wait_path *path = wait->path;
	struct report_blocked_wait row = { .cause = wait->cause };

	if (!path)
		return row;
	row.cause = findings_meaning(findings, path).cause;
	row.syscall = findings_other_call(row.cause, path->facts.syscall);
	row.object = findings_object_of(findings, path, row.cause);
	row.frame_count = path_names_frames(findings->names, path->pid, path->first_ns, path->stack, &row.frames, NULL);
	return row;
}

static void merge_wait(struct merge *merge, const struct blocked_wait *wait, double ns)
{
	struct report_blocked_wait described = findings_blocked_wait(merge->findings, wait);
	uint64_t key = hash_u64(described.cause + 1);
	struct wait_row *row;
	size_t frame;

	if (!(ns > 0))
		return;
	if (described.object)
		key = hash_string(key, described.object);
	/* The kernel's functions in which a file is waited for are many. */
	if (described.frame_count && !(described.object && described.cause == CAUSE_FILE))
		key ^= findings_code_path_key(merge->findings, described.frames, described.frame_count, &frame);
	row = table_find(merge->waits, key);
	if (!row) {
		row = arena_alloc(merge->findings->arena, sizeof(*row));
		row->order = table_count(merge->waits);
		table_put(merge->waits, key, row);
	}
	row->ns += ns;
	if (ns > row->heaviest) {
		row->heaviest = ns;
		row->row = described;
	}
}

static void merge_sum(struct merge *merge, const struct blocked_sum *sum, double part)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		merge->ns[i] += sum->ns[i] * part;
	merge->weight += sum->weight[merge->findings->code_source] * part;
	merge->samples += sum->sample_count[merge->findings->code_source];
	for (const struct blocked_code *code = sum->code; code; code = code->next)
		if (code->code->stratum->source == merge->findings->code_source)
			merge_code(merge, code, part);
	for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next)
		merge_wait(merge, wait, blocked_sum_wait_ns(sum, wait) * part);
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		merge_sum(merge, link, part);
}

/* --- The report ---------------------------------------------------------------------------------- */

static int code_by_weight(const void *a, const void *b)
{
	const struct code_row *x = *(struct code_row *const *)a, *y = *(struct code_row *const *)b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int waits_by_time(const void *a, const void *b)
{
	const struct wait_row *x = *(struct wait_row *const *)a, *y = *(struct wait_row *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* All rows of a table, in order; the caller frees. */
static void **sorted(const struct table *table, int (*compare)(const void *, const void *), size_t *count)
{
	void **rows = xcalloc(table_count(table) + 1, sizeof(*rows)), *row;
	size_t cursor = 0;

	*count = 0;
	while ((row = table_next(table, &cursor)))
		rows[(*count)++] = row;
	qsort(rows, *count, sizeof(*rows), compare);
	return rows;
}

/* Shares of samples are binomial, whoever waited meanwhile. */
static size_t put_code(struct merge *merge, const struct report_blocked_code **out)
{
	uint64_t left_ns = whole(merge->ns[BLOCKED_RUNNING]);
	size_t count;
	struct code_row **all = (struct code_row **)sorted(merge->code, code_by_weight, &count);
	struct report_blocked_code *rows;

	count = count < ROWS_MAX ? count : ROWS_MAX;
	*out = rows = arena_alloc(merge->findings->arena, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		double share = all[i]->weight / merge->weight;

		rows[i] = all[i]->row;
		rows[i].samples = whole(all[i]->weight + 0.5);
		rows[i].ns = whole(share * merge->ns[BLOCKED_RUNNING]);
		if (rows[i].ns > left_ns) /* by rounding */
			rows[i].ns = left_ns;
		left_ns -= rows[i].ns;
		rows[i].error_ns =
			whole(sqrt(fmax(share * (1 - share), 1.0 / (merge->samples + 1)) / (merge->samples + 1)) *
			      merge->ns[BLOCKED_RUNNING]);
	}
	free(all);
	return count;
}

static void put_waits(struct merge *merge, struct report_blocked_on *out)
{
	size_t count;
	struct wait_row **all = (struct wait_row **)sorted(merge->waits, waits_by_time, &count);
	struct report_blocked_wait *rows;

	out->wait_count = count < ROWS_MAX ? count : ROWS_MAX;
	out->waits = rows = arena_alloc(merge->findings->arena, out->wait_count * sizeof(*rows));
	for (size_t i = 0; i < out->wait_count; i++) {
		rows[i] = all[i]->row;
		rows[i].ns = whole(all[i]->ns);
	}
	free(all);
}

static void begin_merge(struct merge *merge, struct findings *findings)
{
	*merge = (struct merge){ .findings = findings, .code = table_new(), .waits = table_new() };
}

/* Of what was merged, no more than wait_ns. */
static const struct report_blocked_on *end_merge(struct merge *merge, uint64_t wait_ns)
{
	struct report_blocked_on *out = arena_alloc(merge->findings->arena, sizeof(*out));
	double all_ns = 0;

	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		all_ns += merge->ns[i];
	for (size_t i = 0; i < BLOCKED_KINDS && all_ns > wait_ns; i++)
		merge->ns[i] *= wait_ns / all_ns;
	out->running_ns = whole(merge->ns[BLOCKED_RUNNING]);
	out->cpu_wait_ns = whole(merge->ns[BLOCKED_CPU_WAIT]);
	out->waiting_ns = whole(merge->ns[BLOCKED_WAITING]);
	out->unknown_ns = whole(merge->ns[BLOCKED_UNKNOWN]);
	out->ns = out->running_ns + out->cpu_wait_ns + out->waiting_ns + out->unknown_ns;
	out->samples = merge->samples;
	out->code_count = put_code(merge, &out->code);
	put_waits(merge, out);
	out->text = words_blocked_on(merge->findings, out);
	table_free(merge->code);
	table_free(merge->waits);
	return out;
}

/* Sums are estimates by different chances. */
const struct report_blocked_on *findings_blocked_on(struct findings *findings, const struct blocked_source *sources,
						    uint64_t wait_ns)
{
	struct merge merge;

	if (!sources)
		return NULL;
	begin_merge(&merge, findings);
	for (; sources; sources = sources->next)
		merge_sum(&merge, sum_of(findings, sources->key), sources->part);
	return end_merge(&merge, wait_ns);
}

const struct report_blocked_on *findings_blocked_on_sums(struct findings *findings, const struct blocked_sum *sums,
							 size_t count, uint64_t all_ns)
{
	struct merge merge;

	if (!count)
		return NULL;
	begin_merge(&merge, findings);
	for (size_t i = 0; i < count; i++)
		merge_sum(&merge, &sums[i], 1);
	return end_merge(&merge, all_ns);
}

const struct report_cpu_taken *findings_cpu_taken(struct findings *findings, uint64_t wait_ns)
{
	const struct blocked_on *blocked = criticality_blocked_on(findings->input.criticality);
	const struct blocked_sum *sum = blocked ? blocked_on_cpu_sum(blocked) : NULL;
	struct report_cpu_taken *out;
	struct merge merge;

	if (!sum || !wait_ns)
		return NULL;
	begin_merge(&merge, findings);
	merge_sum(&merge, sum, 1);
	merge.ns[BLOCKED_RUNNING] = wait_ns;
	out = arena_alloc(findings->arena, sizeof(*out));
	out->ns = wait_ns;
	out->samples = merge.samples;
	out->code_count = put_code(&merge, &out->code);
	out->text = words_code(findings, out->code, out->code_count, wait_ns);
	table_free(merge.code);
	table_free(merge.waits);
	return out;
}
