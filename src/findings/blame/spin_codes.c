/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of code that samples met: whether threads spin there, and in which call. */
#include <string.h>

#include "account/code_samples.h"
#include "base/pause.h"
#include "base/table.h"
#include "findings/blame/blame_internal.h"
#include "findings/blame/blame_spins_internal.h"
#include "findings/blame/spin_calls.h"
#include "findings/parts/findings_internal.h"

static struct spin_group *get_group(struct spins *spins, const struct met_code *code)
{
	struct spin_call call = spin_call_of(spins->findings, code->frames, code->frame_count);
	struct spin_group *group = table_find(spins->groups, call.key);

	if (!group) {
		group = arena_alloc(spins->findings->arena, sizeof(*group));
		group->causes = table_new();
		group->threads = table_new();
		group->next = spins->first;
		spins->first = group;
		table_put(spins->groups, call.key, group);
	}
	if (!group->row.where || (call.is_named && strlen(call.where) > strlen(group->row.where)))
		group->row.where = call.where;
	group->row.is_of_library = call.is_of_library;
	return group;
}

struct met_code *spins_code(struct spins *spins, const struct code_sample *sample)
{
	struct findings *findings = spins->findings;
	struct met_code *code = table_find(spins->codes, (uintptr_t)sample);
	enum stack_end end;

	if (code)
		return code;
	pause_take_if_due(findings->input.pause);
	code = arena_alloc(findings->arena, sizeof(*code));
	table_put(spins->codes, (uintptr_t)sample, code);
	code->sample = sample;
	code->frame_count = path_names_sample_frames(findings->names, sample->pid, sample->first_ns, sample->stack,
						     sample->ip, sample->kernel_ip, &code->frames, &end);
	code->spins = sample->ip && code->frame_count &&
		      findings_is_spin_at(findings, sample->pid, sample->first_ns, sample->ip, sample->kernel_ip);
	code->waits = code->spins || spin_call_is_of_library(findings, code->frames, code->frame_count);
	if (code->spins)
		code->group = get_group(spins, code);
	else
		code->root = blame_root_of_code(findings, code->frames, code->frame_count, &code->detail);
	return code;
}
