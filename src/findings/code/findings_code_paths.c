/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths of the code that ran. What ran in one function of the user's own, called by one other, is a single
 * path: what that function calls in libraries and the kernel is shown beneath it, and what it was called through
 * further out as far as that is always the same.
 */
#include "findings/code/findings_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/whole.h"
#include "findings/names/line_list.h"
#include "findings/parts/findings_waits.h"
#include "stacks/fold.h"
#include "stacks/leaf.h"
#include "waits/files.h"

enum { THREAD_NAMES_MAX = 4, FUNCTIONS_MAX = 64, LINES_MAX = 32, SPIN_PLACES_MAX = 64, INNER_MAX = 32 };

/* What a path calls in libraries is part of it where that much of it is there. */
static const double inner_share_min = 0.8;

/* A function in which samples of a path lie. */
struct ran_function {
	struct report_function row;
	double ns;
	struct report_line lines[LINES_MAX];
};

/* A path of the report, while it is made. */
struct code_path {
	uint64_t key;
	struct code_sum sum;
	double rank_ns;
	const struct code_place *heaviest;
	size_t frame;               /* of its frames, the one at which the path begins */
	size_t common_count;        /* from there on: those that all of the path have */
	double inner_ns[INNER_MAX]; /* of what also has so many more of those further in, plus 1 */
	double heaviest_ns;
	struct ran_function *functions[FUNCTIONS_MAX];
	size_t function_count;
	const char *names[THREAD_NAMES_MAX];
	size_t name_count;
	uint64_t thread_count;
	uint32_t last_stratum; /* its order + 1 */
	double cause_ns[SLICE_CAUSES];
	const struct wait_facts *facts[SLICE_CAUSES];
	size_t judged_count;
	double spinning_ns, judged_ns;
};

struct paths {
	struct findings *findings;
	const struct code_places *places;
	struct arena *arena;
	struct table *by_key;
	struct code_path **path_of; /* [places->count]; NULL: it has no name */
	size_t *frame_of;           /* [places->count]: the user's own function in which it ran, among its frames */
	struct code_path **list;
	size_t count, capacity;
};

static double place_ns(const struct paths *paths, size_t index)
{
	return paths->places->list[index].ns[paths->places->quantity];
}

static struct code_path *get_path(struct paths *paths, uint64_t key)
{
	struct code_path *path = table_find(paths->by_key, key);

	if (path)
		return path;
	path = arena_alloc(paths->arena, sizeof(*path));
	path->key = key;
	table_put(paths->by_key, key, path);
	ARRAY_GROW(paths->list, paths->count, paths->capacity, 64);
	paths->list[paths->count++] = path;
	return path;
}

/* --- What it adds up to ---------------------------------------------------------------------------- */

/* NULL: it would be one too many. */
static struct ran_function *get_function(struct paths *paths, struct code_path *path, const char *name)
{
	struct ran_function *function;

	for (size_t i = 0; i < path->function_count; i++)
		if (!strcmp(path->functions[i]->row.name, name))
			return path->functions[i];
	if (path->function_count == FUNCTIONS_MAX)
		return NULL;
	function = arena_alloc(paths->arena, sizeof(*function));
	function->row.name = name;
	path->functions[path->function_count++] = function;
	return function;
}

static void add_function(struct paths *paths, struct code_path *path, size_t index)
{
	const struct code_place *place = &paths->places->list[index];
	const struct report_frame *leaf = stack_leaf(place->frames, place->frame_count);
	const char *name = findings_code_name(paths->findings, leaf);
	struct ran_function *function;

	if (leaf->is_kernel)
		name = arena_printf(paths->findings->arena, "%s [kernel]", name);
	function = get_function(paths, path, name);
	if (!function)
		return;
	function->row.samples += place->sample->weights.count;
	function->ns += place_ns(paths, index);
	line_list_add(function->lines, &function->row.line_count, LINES_MAX, leaf->file, leaf->line,
		      place->sample->weights.count);
}

static void add_thread(struct code_path *path, const struct code_sample *sample)
{
	const char *name = sample->stratum->name ? sample->stratum->name : sample->name;
	size_t i = 0;

	/* Samples come thread by thread; those of several threads together say nothing of their number. */
	if (path->last_stratum != sample->stratum->order + 1)
		path->thread_count++;
	path->last_stratum = sample->stratum->order + 1;
	while (i < path->name_count && strcmp(path->names[i], name) != 0)
		i++;
	if (i == path->name_count && i < THREAD_NAMES_MAX)
		path->names[path->name_count++] = name;
}

static void add_spinning(struct paths *paths, struct code_path *path, size_t index)
{
	const struct code_sample *sample = paths->places->list[index].sample;

	if (!paths->findings->input.judge || !sample->ip || path->judged_count == SPIN_PLACES_MAX)
		return;
	path->judged_count++;
	path->judged_ns += place_ns(paths, index);
	if (findings_is_spin_at(paths->findings, sample->pid, sample->first_ns, sample->ip, sample->kernel_ip))
		path->spinning_ns += place_ns(paths, index);
}

static void add_place(struct paths *paths, size_t index)
{
	const struct code_place *place = &paths->places->list[index];
	struct code_path *path;

	if (!place->sample || !place->frame_count)
		return;
	path = paths->path_of[index] =
		get_path(paths, findings_code_path_key(paths->findings, place->frames, place->frame_count,
						       &paths->frame_of[index]));
	code_sum_add(paths->places->shares, &path->sum, place->sample);
	if (!path->heaviest || place_ns(paths, index) > path->heaviest_ns) {
		path->heaviest = place;
		path->heaviest_ns = place_ns(paths, index);
		path->frame = paths->frame_of[index];
	}
	add_function(paths, path, index);
	add_thread(path, place->sample);
	add_spinning(paths, path, index);
	if (place->sample->cause < SLICE_CAUSES) {
		path->cause_ns[place->sample->cause] += place_ns(paths, index);
		path->facts[place->sample->cause] = &place->sample->facts;
	}
}

static bool is_same_function(const struct report_frame *a, const struct report_frame *b)
{
	return findings_code_key(a) == findings_code_key(b);
}

/* How many frames of the path all of its places have in common. */
static void add_common(struct paths *paths, size_t index)
{
	const struct code_place *place = &paths->places->list[index];
	struct code_path *path = paths->path_of[index];
	size_t common = 0, from = paths->frame_of[index];

	while (from + common < place->frame_count && path->frame + common < path->heaviest->frame_count &&
	       is_same_function(&place->frames[from + common], &path->heaviest->frames[path->frame + common]))
		common++;
	if (common < path->common_count)
		path->common_count = common;
	for (size_t i = 0; i < INNER_MAX && i < from && i < path->frame; i++) {
		if (!is_same_function(&place->frames[from - i - 1], &path->heaviest->frames[path->frame - i - 1]))
			break;
		path->inner_ns[i] += place_ns(paths, index);
	}
}

/* What most of the path calls belongs to it; of the kernel's functions only if they are asked for. */
static void extend(const struct paths *paths, struct code_path *path)
{
	bool wants_kernel = paths->findings->input.tells_kernel_apart;
	size_t leaf = stack_leaf(path->heaviest->frames, path->heaviest->frame_count) - path->heaviest->frames;

	for (size_t i = 0; i < INNER_MAX && path->frame > leaf && path->inner_ns[i] >= inner_share_min * path->rank_ns;
	     i++) {
		if (path->heaviest->frames[path->frame - 1].is_kernel && !wants_kernel)
			break;
		path->frame--;
		path->common_count++;
	}
}

/* --- The report ---------------------------------------------------------------------------------- */

static void set_cause(struct findings *findings, const struct code_path *path, struct report_path *out)
{
	const struct wait_facts *facts;
	struct wait_meaning meaning;
	enum wait_cause cause = 0;

	if (path->spinning_ns * 2 > path->judged_ns && path->judged_ns > 0) {
		out->cause = CAUSE_SPIN;
		out->group = wait_cause_group(CAUSE_SPIN);
		return;
	}
	for (enum wait_cause i = 0; i < SLICE_CAUSES; i++)
		if (path->cause_ns[i] > path->cause_ns[cause])
			cause = i;
	facts = path->facts[cause];
	if (!facts)
		return;
	if (wait_has_file(facts) && findings->input.files)
		cause = wait_cause_of(facts, files_find(findings->input.files, facts->object));
	meaning = path_names_meaning_of(findings->names, facts, cause, NULL, 0);
	out->cause = meaning.cause;
	out->syscall = findings_other_call(meaning.cause, facts->syscall);
	out->group = wait_cause_group(meaning.cause);
}

static int functions_by_ns(const void *a, const void *b)
{
	const struct ran_function *x = *(struct ran_function *const *)a, *y = *(struct ran_function *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->row.samples != y->row.samples)
		return x->row.samples < y->row.samples ? 1 : -1;
	return strcmp(x->row.name, y->row.name);
}

static void set_functions(struct findings *findings, struct code_path *path, struct report_path *out)
{
	struct report_function *functions = arena_alloc(findings->arena, path->function_count * sizeof(*functions));

	qsort(path->functions, path->function_count, sizeof(*path->functions), functions_by_ns);
	for (size_t i = 0; i < path->function_count; i++) {
		struct ran_function *function = path->functions[i];
		size_t line_bytes = function->row.line_count * sizeof(*function->lines);

		line_list_sort(function->lines, function->row.line_count);
		function->row.lines = memcpy(arena_alloc(findings->arena, line_bytes), function->lines, line_bytes);
		functions[i] = function->row;
	}
	out->functions = functions;
	out->function_count = path->function_count;
}

static struct report_path as_report_path(struct paths *paths, struct code_path *path, uint32_t rank)
{
	struct findings *findings = paths->findings;
	enum code_quantity quantity = paths->places->quantity;
	const char **names = arena_alloc(findings->arena, path->name_count * sizeof(*names));
	struct report_path out = {
		.rank = rank,
		.cause = CAUSE_UNKNOWN,
		.group = GROUP_NONE,
		.cmetric_ns = whole(path->sum.ns[quantity] + 0.5),
		.error_ns = whole(code_sum_error_ns(&path->sum, quantity) + 0.5),
		.samples = path->sum.count,
		.frames = path->heaviest->frames + path->frame,
		.frame_count = path->heaviest->frame_count - path->frame,
		.stack_end = path->heaviest->end,
		.common_frames = path->common_count,
		.thread_count = path->thread_count,
		.thread_names = names,
		.thread_name_count = path->name_count,
		.key = path->key,
	};

	for (size_t i = 0; i < path->name_count; i++)
		names[i] = arena_strdup(findings->arena, path->names[i]);
	if (findings->report.target.wall_ns)
		/* An estimate of few samples may be more than the whole. */
		out.wall_share = fmin(path->sum.ns[quantity] / findings->report.target.wall_ns, 1);
	set_cause(findings, path, &out);
	set_functions(findings, path, &out);
	out.names_hint = path_names_hint(findings->names, path->heaviest->sample->pid, out.frames, out.frame_count,
					 findings_ran_nameless(&out));
	return out;
}

static int by_rank(const void *a, const void *b)
{
	const struct code_path *x = *(struct code_path *const *)a, *y = *(struct code_path *const *)b;

	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	if (x->sum.count != y->sum.count)
		return x->sum.count < y->sum.count ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void rank(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct code_path *path = paths->list[i];

		code_sum_finish(paths->places->shares, &path->sum);
		path->rank_ns = path->sum.ns[paths->places->quantity];
		path->common_count = path->heaviest->frame_count - path->frame;
	}
	for (size_t i = 0; i < paths->places->count; i++)
		if (paths->path_of[i])
			add_common(paths, i);
	for (size_t i = 0; i < paths->count; i++)
		extend(paths, paths->list[i]);
	if (paths->count)
		qsort(paths->list, paths->count, sizeof(*paths->list), by_rank);
}

static int trunk_by_cmetric(const void *a, const void *b)
{
	const struct trunk_path *x = a, *y = b;

	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void add_trunk(struct paths *paths)
{
	struct trunk_path *list = xcalloc(paths->places->count + 1, sizeof(*list));

	paths->findings->report.trunk = NULL;
	for (size_t i = 0; i < paths->places->count; i++) {
		const struct code_sample *sample = paths->places->list[i].sample;

		list[i].cmetric_ns = place_ns(paths, i);
		if (sample) {
			list[i].pid = sample->pid;
			list[i].first_ns = sample->first_ns;
			list[i].stack = sample->stack;
		}
	}
	qsort(list, paths->places->count, sizeof(*list), trunk_by_cmetric);
	findings_add_trunk(paths->findings, list, paths->places->count);
	free(list);
}

void findings_add_code_paths(struct findings *findings, const struct code_places *places)
{
	struct paths paths = {
		.findings = findings,
		.places = places,
		.arena = arena_new(),
		.by_key = table_new(),
		.path_of = xcalloc(places->count + 1, sizeof(*paths.path_of)),
		.frame_of = xcalloc(places->count + 1, sizeof(*paths.frame_of)),
	};
	struct report_path *rows;
	size_t count;

	for (size_t i = 0; i < places->count; i++)
		add_place(&paths, i);
	rank(&paths);
	count = findings_paths_made(findings, paths.count);
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = as_report_path(&paths, paths.list[i], i + 1);
	findings->report.paths = rows;
	findings->report.path_count = count;
	findings->report.totals.paths = paths.count;
	add_trunk(&paths);
	free(paths.list);
	free(paths.path_of);
	free(paths.frame_of);
	table_free(paths.by_key);
	arena_free(paths.arena);
}
