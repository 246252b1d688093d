/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths: the same path in two processes, or ending at two places of one function, is one
 * finding. Its rank is by CMetric; its frequency table counts where samples fell (GAPP, section 4.4).
 */
#include "base/whole.h"
#include "findings/parts/findings_waits.h"
#include "findings/names/line_list.h"
#include "waits/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "values.h"

enum { THREAD_NAMES_MAX = 4, FUNCTIONS_MAX = 256, LINES_MAX = 256 };

/* Raw paths that are one to the user. */
struct merged_path {
	uint64_t key;
	uint32_t rank;
	double cmetric_ns, slices;
	uint64_t stalled_ns, thread_count;
	bool is_estimated;
	const struct path_metrics *heaviest; /* stands for all when frames are shown */
	const struct path_metrics **members;
	size_t member_count, member_capacity;
};

/* criticality_next_path() reuses what it returns: keep it. */
static const struct path_metrics *copy_metrics(struct arena *arena, const struct path_metrics *path)
{
	struct path_metrics *copy = arena_alloc(arena, sizeof(*copy));
	struct sample_count *samples = arena_alloc(arena, path->sample_kind_count * sizeof(*samples));
	const struct thread **threads;
	size_t thread_count = path->thread_count < PATH_THREADS_MAX ? path->thread_count : PATH_THREADS_MAX;

	*copy = *path;
	if (path->sample_kind_count)
		memcpy(samples, path->samples, path->sample_kind_count * sizeof(*samples));
	copy->samples = samples;
	threads = arena_alloc(arena, thread_count * sizeof(*threads));
	if (thread_count)
		memcpy(threads, path->threads, thread_count * sizeof(*threads));
	copy->threads = threads;
	return copy;
}

static void merge(struct merged_path *merged, const struct path_metrics *path)
{
	merged->cmetric_ns += path->cmetric_ns;
	merged->slices += path->slices_estimated;
	merged->is_estimated |= path->slices_estimated > path->slices + 0.5;
	merged->stalled_ns += path->stalled_ns;
	if (!merged->heaviest || path->cmetric_ns > merged->heaviest->cmetric_ns)
		merged->heaviest = path;
	ARRAY_GROW(merged->members, merged->member_count, merged->member_capacity, 4);
	merged->members[merged->member_count++] = path;
}

static int by_cmetric(const void *a, const void *b)
{
	const struct merged_path *x = *(struct merged_path *const *)a;
	const struct merged_path *y = *(struct merged_path *const *)b;

	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	if (x->stalled_ns != y->stalled_ns)
		return x->stalled_ns < y->stalled_ns ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_stalled(const void *a, const void *b)
{
	const struct merged_path *x = *(struct merged_path *const *)a;
	const struct merged_path *y = *(struct merged_path *const *)b;

	if (x->stalled_ns != y->stalled_ns)
		return x->stalled_ns < y->stalled_ns ? 1 : -1;
	return by_cmetric(a, b);
}

static struct merged_path **merge_all(struct findings *findings, size_t *count)
{
	struct table *by_key = table_new();
	struct merged_path **all;
	const struct path_metrics *path;
	struct merged_path *merged;
	size_t cursor = 0, i = 0;

	while ((path = criticality_next_path(findings->input.criticality, &cursor))) {
		uint64_t key = findings_stack_key(findings, path->pid, path->first_ns, path->stack);

		merged = table_find(by_key, key);
		if (!merged) {
			merged = arena_alloc(findings->arena, sizeof(*merged));
			merged->key = key;
			table_put(by_key, key, merged);
		}
		merge(merged, copy_metrics(findings->arena, path));
		if (path->pid && !path->stack)
			findings->report.losses.stacks_unreadable += path->slices;
	}
	*count = table_count(by_key);
	all = xcalloc(*count + 1, sizeof(*all));
	for (cursor = 0; (merged = table_next(by_key, &cursor));)
		all[i++] = merged;
	table_free(by_key);
	return all;
}

/* Distinct names of the threads that came here, and how many threads they are. */
static void add_threads(struct findings *findings, const struct merged_path *merged, struct report_path *out)
{
	const char **names = arena_alloc(findings->arena, THREAD_NAMES_MAX * sizeof(*names));
	struct table *seen = table_new();
	uint64_t uncounted = 0;

	for (size_t i = 0; i < merged->member_count; i++) {
		const struct path_metrics *path = merged->members[i];
		size_t listed = path->thread_count < PATH_THREADS_MAX ? path->thread_count : PATH_THREADS_MAX;

		/* Beyond the list nobody knows which threads: at least the longest tail. */
		if (path->thread_count - listed > uncounted)
			uncounted = path->thread_count - listed;
		for (size_t k = 0; k < listed; k++) {
			const char *name = path->threads[k]->name;
			size_t n = 0;

			table_put(seen, path->threads[k]->number, (void *)path->threads[k]);
			while (n < out->thread_name_count && strcmp(names[n], name))
				n++;
			if (n == out->thread_name_count && n < THREAD_NAMES_MAX)
				names[out->thread_name_count++] = arena_strdup(findings->arena, name);
		}
	}
	out->thread_names = names;
	out->thread_count = table_count(seen) + uncounted;
	table_free(seen);
}

struct tally_function {
	struct report_function function;
	double weight_ns; /* the time that it stands for */
};

/* A frequency table while it is being filled. */
struct tally {
	struct tally_function functions[FUNCTIONS_MAX];
	struct report_line *lines[FUNCTIONS_MAX];
	size_t count;
};

/* Its index; FUNCTIONS_MAX when there is no space. */
static size_t function_of(struct tally *tally, const char *name)
{
	for (size_t i = 0; i < tally->count; i++)
		if (!strcmp(tally->functions[i].function.name, name))
			return i;
	if (tally->count == FUNCTIONS_MAX)
		return FUNCTIONS_MAX;
	tally->functions[tally->count].function.name = name;
	return tally->count++;
}

static void add_line(struct findings *findings, struct tally *tally, size_t index, const struct symbol_frame *frame,
		     uint64_t count)
{
	struct report_function *function = &tally->functions[index].function;

	if (frame->file && !tally->lines[index]) {
		tally->lines[index] = arena_alloc(findings->arena, LINES_MAX * sizeof(*tally->lines[index]));
		function->lines = tally->lines[index];
	}
	line_list_add(tally->lines[index], &function->line_count, LINES_MAX, frame->file, frame->line, count);
}

static void add_sample(struct findings *findings, struct tally *tally, const struct path_metrics *path,
		       const struct sample_count *sample)
{
	struct symbol_frame frame[SYMBOL_INLINE_MAX] = { 0 };
	struct report_function *function;
	const char *name;
	size_t index;

	if (!sample->ip && !sample->kernel_ip)
		return;
	if (sample->kernel_ip)
		symbols_resolve_kernel(findings->input.symbols, sample->kernel_ip, frame);
	else
		symbols_resolve(findings->input.symbols, path->pid, path->first_ns, sample->ip, false, frame,
				SYMBOL_INLINE_MAX);
	if (frame->function && frame->is_kernel)
		name = arena_printf(findings->arena, "%s [kernel]", frame->function);
	else if (frame->function)
		name = frame->function;
	else
		name = arena_printf(findings->arena, "%s+0x%llx", frame->program ? frame->program : frame->module,
				    (unsigned long long)frame->offset);
	index = function_of(tally, name);
	if (index == FUNCTIONS_MAX)
		return;
	function = &tally->functions[index].function;
	function->samples += sample->count;
	if (sample->is_stack_top)
		function->stack_tops += sample->count;
	add_line(findings, tally, index, frame, sample->count);
}

/* A sample stands for its period, a stack top for a slice in which none fell. */
static double weight_ns(const struct report_function *function, const struct merged_path *merged,
			uint64_t sample_period_ns)
{
	double slice_ns = merged->slices ? merged->cmetric_ns / merged->slices : 0;

	if (slice_ns > sample_period_ns)
		slice_ns = sample_period_ns;
	return function->stack_tops * slice_ns + (double)(function->samples - function->stack_tops) * sample_period_ns;
}

static int functions_by_weight(const void *a, const void *b)
{
	const struct tally_function *x = a, *y = b;

	if (x->weight_ns != y->weight_ns)
		return x->weight_ns < y->weight_ns ? 1 : -1;
	if (x->function.samples != y->function.samples)
		return x->function.samples < y->function.samples ? 1 : -1;
	return strcmp(x->function.name, y->function.name);
}

static void add_functions(struct findings *findings, const struct merged_path *merged, struct report_path *out)
{
	struct tally *tally = xcalloc(1, sizeof(*tally));
	struct report_function *functions;

	for (size_t i = 0; i < merged->member_count; i++)
		for (size_t k = 0; k < merged->members[i]->sample_kind_count; k++)
			add_sample(findings, tally, merged->members[i], &merged->members[i]->samples[k]);
	for (size_t i = 0; i < tally->count; i++) {
		struct tally_function *t = &tally->functions[i];

		t->weight_ns = weight_ns(&t->function, merged, findings->input.sample_period_ns);
		if (tally->lines[i])
			line_list_sort(tally->lines[i], t->function.line_count);
	}
	qsort(tally->functions, tally->count, sizeof(*tally->functions), functions_by_weight);
	functions = arena_alloc(findings->arena, tally->count * sizeof(*functions));
	for (size_t i = 0; i < tally->count; i++)
		functions[i] = tally->functions[i].function;
	out->functions = functions;
	out->function_count = tally->count;
	free(tally);
}

static void add_cause(struct findings *findings, const struct path_metrics *path, struct report_path *out)
{
	enum wait_cause cause = path->cause;
	struct wait_meaning meaning;

	if (path->cause >= SLICE_CAUSES)
		return;
	if (findings_is_spin(findings, path)) {
		out->cause = CAUSE_SPIN;
		out->group = wait_cause_group(CAUSE_SPIN);
		return;
	}
	/* Its file may have been recorded after the slice had ended. */
	if (wait_has_file(&path->facts) && findings->input.files)
		cause = wait_cause_of(&path->facts, files_find(findings->input.files, path->facts.object));
	meaning = path_names_meaning_of(findings->names, &path->facts, cause, out->frames, out->frame_count);
	out->cause = meaning.cause;
	out->syscall = findings_other_call(meaning.cause, path->facts.syscall);
	out->group = wait_cause_group(meaning.cause);
}

bool findings_ran_nameless(const struct report_path *path)
{
	for (size_t i = 0; i < path->function_count; i++) {
		const char *name = path->functions[i].name;

		if (name && (!strncmp(name, "[jit]+0x", 8) || !strncmp(name, "[javascript]+0x", 15)))
			return true;
	}
	return false;
}

static struct report_path as_report_path(struct findings *findings, const struct merged_path *merged)
{
	const struct path_metrics *path = merged->heaviest;
	struct report_path out = {
		.rank = merged->rank,
		.cause = CAUSE_UNKNOWN,
		.group = GROUP_NONE,
		.cmetric_ns = whole(merged->cmetric_ns + 0.5),
		.slices = whole(merged->slices + 0.5),
		.stalled_ns = merged->stalled_ns,
		.is_estimated = merged->is_estimated,
		.key = merged->key,
	};

	if (findings->report.target.wall_ns)
		out.wall_share = merged->cmetric_ns / findings->report.target.wall_ns;
	out.frame_count =
		path_names_frames(findings->names, path->pid, path->first_ns, path->stack, &out.frames, &out.stack_end);
	add_cause(findings, path, &out);
	add_threads(findings, merged, &out);
	add_functions(findings, merged, &out);
	out.names_hint =
		path_names_hint(findings->names, path->pid, out.frames, out.frame_count, findings_ran_nameless(&out));
	return out;
}

/* Notes all addresses that as_report_path() names. */
static void request_names(struct findings *findings, const struct merged_path *merged)
{
	const struct path_metrics *path = merged->heaviest;
	const struct ev_stack_frames *stack = stacks_find(findings->input.stacks, path->stack);

	if (path->pid && stack)
		findings_request_stack(findings, path->pid, path->first_ns, stack);
	for (size_t i = 0; i < merged->member_count; i++) {
		path = merged->members[i];
		for (size_t k = 0; k < path->sample_kind_count; k++)
			if (path->samples[k].ip && !path->samples[k].kernel_ip)
				findings_request(findings, &(struct symbol_request){
								   .pid = path->pid,
								   .time_ns = path->first_ns,
								   .address = path->samples[k].ip,
							   });
	}
}

static const struct report_path *name_paths(struct findings *findings, struct merged_path **all, size_t count)
{
	struct report_path *paths = arena_alloc(findings->arena, count * sizeof(*paths));

	for (size_t i = 0; i < count; i++)
		request_names(findings, all[i]);
	findings_prepare(findings);
	for (size_t i = 0; i < count; i++)
		paths[i] = as_report_path(findings, all[i]);
	return paths;
}

static void add_trunk(struct findings *findings, struct merged_path *const *all, size_t count)
{
	struct trunk_path *paths = xcalloc(count + 1, sizeof(*paths));

	for (size_t i = 0; i < count; i++)
		paths[i] = (struct trunk_path){
			.pid = all[i]->heaviest->pid,
			.first_ns = all[i]->heaviest->first_ns,
			.stack = all[i]->heaviest->stack,
			.cmetric_ns = all[i]->cmetric_ns,
		};
	findings_add_trunk(findings, paths, count);
	free(paths);
}

void findings_add_paths(struct findings *findings)
{
	enum { STALL_PATHS_MAX = 3 };
	struct report *report = &findings->report;
	size_t all_count, count, stalling = 0;
	struct merged_path **all = merge_all(findings, &all_count);

	qsort(all, all_count, sizeof(*all), by_cmetric);
	for (size_t i = 0; i < all_count; i++)
		all[i]->rank = i + 1;
	count = findings_paths_made(findings, all_count);
	report->paths = name_paths(findings, all, count);
	report->path_count = count;
	report->totals.paths = all_count;
	add_trunk(findings, all, all_count);

	qsort(all, all_count, sizeof(*all), by_stalled);
	while (stalling < all_count && stalling < STALL_PATHS_MAX && all[stalling]->stalled_ns)
		stalling++;
	report->stall_paths = name_paths(findings, all, stalling);
	report->stall_path_count = stalling;
	for (size_t i = 0; i < all_count; i++)
		free(all[i]->members);
	free(all);
}
