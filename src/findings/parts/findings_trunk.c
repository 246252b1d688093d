/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trunk of the call paths: the innermost function that at least half of their CMetric went through,
 * by the same callers. It says more than the paths where these are many, as where code without symbols
 * ends at any of its calls.
 */
#include "findings/parts/findings_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/whole.h"
#include "stacks/fold.h"

enum { PATHS_MAX = 512, FRAMES_MAX = 128 };

/* How much more than the first path a trunk must have, and of the wall time, to be reported. */
static const double first_times_min = 1.5, wall_share_min = 0.05;

struct branch {
	const struct trunk_path *path;
	const struct ev_stack_frames *stack;
	size_t depth; /* frames that count, outermost first: */
	uint64_t keys[FRAMES_MAX];
	uint16_t frames[FRAMES_MAX]; /* their places in the stack */
};

static void add_frame(struct findings *findings, struct branch *branch, size_t i, bool is_managed)
{
	struct stack_frame frame = stack_user_frame(branch->stack, i);
	uint64_t address = frame.address - frame.is_return, offset;
	uint32_t module;

	if (!frame.address) /* of a sample: where it ran */
		return;
	if (symbols_place(findings->input.symbols, branch->path->pid, branch->path->first_ns, address, true, &module,
			  &offset)) {
		module = branch->path->pid;
		offset = address;
	} else if (is_managed && symbols_is_interpreter(findings->input.symbols, module)) {
		return;
	}
	branch->keys[branch->depth] = hash_u64(hash_u64(module) ^ offset);
	branch->frames[branch->depth++] = i;
}

static void fill(struct findings *findings, struct branch *branch, const struct trunk_path *path)
{
	bool is_managed = false;
	size_t count;

	branch->path = path;
	branch->stack = path->pid ? stacks_find(findings->input.stacks, path->stack) : NULL;
	if (!branch->stack)
		return;
	count = path_names_usable_count(findings->names, path->pid, path->first_ns, branch->stack);
	for (size_t i = 0; i < count; i++)
		is_managed |= !!(stack_user_frame(branch->stack, i).address & STACK_FRAME_MANAGED);
	for (size_t i = count; i-- && branch->depth < FRAMES_MAX;)
		add_frame(findings, branch, i, is_managed);
}

/* The key that most of the CMetric has at a depth; 0: no path is so deep. */
static uint64_t heaviest_key(struct branch *const *branches, size_t count, size_t depth, double *cmetric_ns)
{
	struct table *by_key = table_new();
	double *sums = xcalloc(count + 1, sizeof(*sums));
	uint64_t heaviest = 0;

	*cmetric_ns = 0;
	for (size_t i = 0; i < count; i++) {
		double *sum;

		if (branches[i]->depth <= depth)
			continue;
		sum = table_find(by_key, branches[i]->keys[depth]);
		if (!sum) {
			sum = &sums[i];
			table_put(by_key, branches[i]->keys[depth], sum);
		}
		*sum += branches[i]->path->cmetric_ns;
		if (*sum > *cmetric_ns) {
			*cmetric_ns = *sum;
			heaviest = branches[i]->keys[depth];
		}
	}
	table_free(by_key);
	free(sums);
	return heaviest;
}

/* Keeps those that have the key there; returns how many. */
static size_t keep(struct branch **branches, size_t count, size_t depth, uint64_t key)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (branches[i]->depth > depth && branches[i]->keys[depth] == key)
			branches[kept++] = branches[i];
	return kept;
}

static struct report_frame name_frame(struct findings *findings, const struct branch *branch, size_t depth)
{
	struct symbol_frame inlined[SYMBOL_INLINE_MAX] = { 0 };
	struct stack_frame frame = stack_user_frame(branch->stack, branch->frames[depth]);
	size_t count = symbols_resolve(findings->input.symbols, branch->path->pid, branch->path->first_ns,
				       frame.address, frame.is_return, inlined, SYMBOL_INLINE_MAX);
	const struct symbol_frame *whole = &inlined[count ? count - 1 : 0];

	return (struct report_frame){
		.function = whole->function,
		.file = whole->file,
		.line = whole->line,
		.module = whole->program ? whole->program : whole->module,
		.file_module = whole->program ? whole->module : NULL,
		.offset = whole->offset,
		.is_guessed = frame.is_guessed,
	};
}

/*
 * The innermost frame of the trunk that is the user's own, one with a name if there is one; NULL if that is where his
 * own code begins, as main() or what a thread starts with: all that it does goes through it.
 */
static const struct report_frame *find_frame(struct findings *findings, const struct branch *branch, size_t depth)
{
	struct report_frame last = { 0 }, *found = NULL;
	bool has_last = false;

	while (depth-- && !(found && found->function)) {
		struct report_frame frame = name_frame(findings, branch, depth);

		if (fold_is_plumbing(findings->input.fold, &frame))
			continue;
		/* This one is further out: the last one is not the outermost. */
		if (has_last && (!found || last.function)) {
			found = arena_alloc(findings->arena, sizeof(*found));
			*found = last;
		}
		last = frame;
		has_last = true;
	}
	return found;
}

void findings_add_trunk(struct findings *findings, const struct trunk_path *paths, size_t count)
{
	struct report *report = &findings->report;
	struct branch *all = xcalloc(PATHS_MAX, sizeof(*all)), **branches;
	double total_ns = 0, cmetric_ns, trunk_ns = 0;
	const struct report_frame *frame = NULL;
	size_t depth = 0, trunk_count;
	struct report_trunk *trunk;

	for (size_t i = 0; i < count; i++)
		total_ns += paths[i].cmetric_ns;
	trunk_count = count < PATHS_MAX ? count : PATHS_MAX;
	branches = xcalloc(trunk_count + 1, sizeof(*branches));
	for (size_t i = 0; i < trunk_count; i++) {
		branches[i] = &all[i];
		fill(findings, branches[i], &paths[i]);
	}
	for (;; depth++) {
		uint64_t key = heaviest_key(branches, trunk_count, depth, &cmetric_ns);

		if (!key || cmetric_ns < total_ns / 2)
			break;
		trunk_ns = cmetric_ns;
		trunk_count = keep(branches, trunk_count, depth, key);
	}
	if (depth && report->path_count && trunk_ns >= first_times_min * report->paths[0].cmetric_ns &&
	    trunk_ns >= wall_share_min * report->target.wall_ns)
		frame = find_frame(findings, branches[0], depth);
	if (frame) {
		trunk = arena_alloc(findings->arena, sizeof(*trunk));
		*trunk = (struct report_trunk){
			.cmetric_ns = whole(trunk_ns + 0.5),
			.wall_share = fmin(trunk_ns / report->target.wall_ns, 1),
			.path_count = trunk_count,
			.frames = frame,
			.frame_count = 1,
		};
		report->trunk = trunk;
	}
	free(branches);
	free(all);
}
