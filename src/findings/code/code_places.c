/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Naming where threads ran: of very many places those that matter for any figure. */
#include "findings/code/findings_code.h"

#include <stdlib.h>

#include "base/table.h"
#include "base/whole.h"

enum { PLACES_MAX = 1 << 14 };

/* Below this share of the CMetric, critical time is too little to rank by. */
static const double critical_share_min = 0.01;

const char *findings_code_name(struct findings *findings, const struct report_frame *frame)
{
	if (frame->function)
		return frame->function;
	return arena_printf(findings->arena, "%s+0x%llx", frame->module ? frame->module : "?",
			    (unsigned long long)frame->offset);
}

/* --- Naming -------------------------------------------------------------------------------------- */

static void request_names(struct findings *findings, const struct code_sample *sample)
{
	const struct ev_stack_frames *stack = stacks_find(findings->input.stacks, sample->stack);

	if (stack)
		findings_request_stack(findings, sample->pid, sample->first_ns, stack);
	if (!sample->kernel_ip && sample->ip)
		findings_request(findings, &(struct symbol_request){ .pid = sample->pid,
								     .time_ns = sample->first_ns,
								     .address = sample->ip });
}

/* The weight that decides whether a place is named: its largest share of anything. */
static double importance(const struct code_places *places, const struct code_place *place)
{
	double most = 0;

	for (size_t i = 0; i < CODE_QUANTITIES; i++) {
		double all_ns = code_shares_exact_ns(places->shares, i);

		if (all_ns > 0 && place->ns[i] / all_ns > most)
			most = place->ns[i] / all_ns;
	}
	return most;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The least importance of those that are named. */
static double least_importance(const struct code_places *places)
{
	double *all, least = 0;

	if (places->count <= PLACES_MAX)
		return 0;
	all = xcalloc(places->count, sizeof(*all));
	for (size_t i = 0; i < places->count; i++)
		all[i] = importance(places, &places->list[i]);
	qsort(all, places->count, sizeof(*all), descending);
	least = all[PLACES_MAX];
	free(all);
	return least;
}

static void name(struct findings *findings, struct code_places *places)
{
	double least = least_importance(places);

	for (size_t i = 0; i < places->count; i++) {
		if (places->count > PLACES_MAX && importance(places, &places->list[i]) <= least)
			places->list[i].sample = NULL;
		else
			request_names(findings, places->list[i].sample);
	}
	findings_prepare(findings);
	for (size_t i = 0; i < places->count; i++) {
		struct code_place *place = &places->list[i];

		if (place->sample)
			place->frame_count = path_names_sample_frames(
				findings->names, place->sample->pid, place->sample->first_ns, place->sample->stack,
				place->sample->ip, place->sample->kernel_ip, &place->frames, &place->end);
	}
}

static void fill(struct code_places *places)
{
	const struct code_sample *sample;
	double critical_ns = 0;
	size_t capacity = 0;

	while ((sample = code_shares_sample(places->shares, places->count))) {
		struct code_place *place;

		ARRAY_GROW(places->list, places->count, capacity, 256);
		place = &places->list[places->count++];
		*place = (struct code_place){ .sample = sample };
		for (size_t i = 0; i < CODE_QUANTITIES; i++)
			place->ns[i] = code_shares_ns(places->shares, sample, i);
		critical_ns += place->ns[CODE_CRITICAL];
	}
	places->quantity = CODE_CRITICAL;
	/* Not all of it may have been sampled. */
	if (critical_ns < critical_share_min * code_shares_exact_ns(places->shares, CODE_CMETRIC))
		places->quantity = CODE_CMETRIC;
}

struct report_code_time findings_code_time(const struct code_places *places, struct code_sum *sum)
{
	code_sum_finish(places->shares, sum);
	return (struct report_code_time){
		.samples = sum->count,
		.cpu_ns = whole(sum->ns[CODE_CPU] + 0.5),
		.cpu_error_ns = whole(code_sum_error_ns(sum, CODE_CPU) + 0.5),
		.cmetric_ns = whole(sum->ns[CODE_CMETRIC] + 0.5),
		.cmetric_error_ns = whole(code_sum_error_ns(sum, CODE_CMETRIC) + 0.5),
		.critical_ns = whole(sum->ns[CODE_CRITICAL] + 0.5),
		.error_ns = whole(code_sum_error_ns(sum, CODE_CRITICAL) + 0.5),
	};
}

struct code_places *code_places_new(struct findings *findings)
{
	struct code_places *places = xcalloc(1, sizeof(*places));

	places->shares = code_shares_new(findings->input.criticality, findings->input.code);
	fill(places);
	name(findings, places);
	return places;
}

void code_places_free(struct code_places *places)
{
	code_shares_free(places->shares);
	free(places->list);
	free(places);
}
