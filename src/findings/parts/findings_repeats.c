/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops in which threads were seen that would wait, and whether samples show that they repeat: the pairs of samples of all
 * places in a loop together.
 */
#include "findings/parts/findings_internal.h"

#include "account/run_samples.h"
#include "base/table.h"
#include "spin/spin_judge.h"
#include "spin/spin_repeats.h"

enum { PLACES_MAX = 1000 }; /* those that have a part of all samples of which there can be no more places */

static uint64_t key_of(uint32_t pid, const struct spin_loop *loop)
{
	return hash_u64(loop->begin ^ hash_u64(pid)) ^ loop->end;
}

static void add_place(struct findings *findings, const struct run_place *place)
{
	struct sample_pairs *pairs;
	struct spin_loop loop;
	uint64_t key;

	if (!place->pairs.count || !spin_judge_is_by_loop(findings->input.judge, place->pid, place->first_ns, place->ip,
							  place->kernel_ip, &loop))
		return;
	key = key_of(place->pid, &loop);
	pairs = table_find(findings->repeats, key);
	if (!pairs) {
		pairs = arena_alloc(findings->arena, sizeof(*pairs));
		table_put(findings->repeats, key, pairs);
	}
	sample_pairs_merge(pairs, &place->pairs);
}

static void find_repeats(struct findings *findings)
{
	uint64_t count = run_samples_count(findings->input.samples);
	const struct run_place *place;

	findings->repeats = table_new();
	for (size_t i = 0; (place = run_samples_place(findings->input.samples, i)); i++)
		if (place->count >= count / PLACES_MAX)
			add_place(findings, place);
}

bool findings_is_spin_at(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip)
{
	struct spin_judge *judge = findings->input.judge;
	const struct sample_pairs *pairs, none = { 0 };
	struct spin_loop loop;

	if (!spin_judge_is_spin(judge, pid, time_ns, ip, kernel_ip))
		return false;
	if (!spin_judge_is_by_loop(judge, pid, time_ns, ip, kernel_ip, &loop))
		return true;
	if (!findings->repeats && findings->input.samples)
		find_repeats(findings);
	pairs = findings->repeats ? table_find(findings->repeats, key_of(pid, &loop)) : NULL;
	return spin_loop_repeats(&loop, pairs ? pairs : &none);
}
