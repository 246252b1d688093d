/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blame as the report has it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/whole.h"
#include "findings/blame/blame_internal.h"
#include "findings/names/common_directory.h"
#include "findings/parts/findings_waits.h"
#include "findings/parts/words.h"
#include "report/report_cause.h"

enum { ROOTS_MAX = 24, CHAINS_MAX = 4, CHAINS_READ = 64 };

/* An object or a place is the root's if it has so much of it. */
static const double most_min = 0.5;

/* Time of details with that object, or at that place. */
static double time_of(const struct blame_root *root, const struct blame_detail *like, bool by_object)
{
	double ns = 0;

	for (const struct blame_detail *detail = root->details; detail; detail = detail->next)
		if (by_object ? detail->object_key == like->object_key : detail->place_key == like->place_key)
			ns += detail->ns;
	return ns;
}

static const struct blame_detail *heaviest(const struct blame_root *root)
{
	const struct blame_detail *most = NULL;

	for (const struct blame_detail *detail = root->details; detail; detail = detail->next)
		if (!most || detail->ns > most->ns || (detail->ns == most->ns && detail->place_key < most->place_key))
			most = detail;
	return most;
}

static double all_of(const struct blame_root *root)
{
	double ns = 0;

	for (const struct blame_detail *detail = root->details; detail; detail = detail->next)
		ns += detail->ns;
	return ns;
}

/* The directory that all files of the root are in, but for small ones; NULL: there is none. */
static const char *directory_of(struct findings *findings, const struct blame_root *root, double all_ns)
{
	static const double small_max = 0.02;
	const char *first = NULL;
	size_t length = 0;

	for (const struct blame_detail *detail = root->details; detail; detail = detail->next) {
		if (detail->ns < small_max * all_ns)
			continue;
		if (!detail->object)
			return NULL;
		if (first)
			length = common_directory(first, length, detail->object);
		else
			length = directory_length(first = detail->object);
	}
	return length ? arena_printf(findings->arena, "%.*s", (int)length, first) : NULL;
}

/* Where a limit of time that is over means that no more was wanted; elsewhere something did not come. */
static bool is_for_time(enum wait_cause cause)
{
	return cause == CAUSE_SLEEP || cause == CAUSE_CONDITION || cause == CAUSE_SEMAPHORE || cause == CAUSE_POLL ||
	       cause == CAUSE_OTHER;
}

static void describe(struct findings *findings, struct blame_root *root)
{
	const struct blame_detail *most = heaviest(root);
	double all_ns = all_of(root);

	if (!most)
		return;
	root->row.cause = most->cause;
	root->row.syscall = most->syscall;
	root->row.ender = most->ending.ender;
	root->row.who = most->who;
	root->row.is_timed = most->ending.is_timed && is_for_time(most->cause);
	if (time_of(root, most, true) >= most_min * all_ns)
		root->row.object = most->object;
	else if (most->cause == CAUSE_FILE)
		root->row.object = directory_of(findings, root, all_ns);
	root->row.is_directory = root->row.object && root->row.object != most->object;
	if (time_of(root, most, false) >= most_min * all_ns) {
		root->row.frames = most->frames;
		root->row.frame_count = most->frame_count;
	}
}

/* --- Chains -------------------------------------------------------------------------------------- */

static int chains_by_time(const void *a, const void *b)
{
	const struct blame_chain *x = *(struct blame_chain *const *)a, *y = *(struct blame_chain *const *)b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static const char *wait_words(struct findings *findings, const struct report_wait *wait)
{
	const char *where = words_place(findings, wait->frames, wait->frame_count);
	char buffer[REPORT_CAUSE_BYTES];

	return arena_printf(findings->arena, "%s%s%s%s%s",
			    wait->lock_kind ? wait->lock_kind : report_cause_text(buffer, wait->cause, wait->syscall),
			    wait->object ? " " : "", wait->object ? words_object(findings, wait->object) : "",
			    where ? " in " : "", where ? where : "");
}

static const char *link_words(struct findings *findings, const struct wait_path *path)
{
	const struct report_frame *frames;
	size_t count = words_path_frames(findings, path, &frames);
	const char *where = words_place(findings, frames, count);
	struct wait_meaning meaning;
	char buffer[REPORT_CAUSE_BYTES];

	if (!path)
		return "a wait whose stack was not kept";
	meaning = findings_meaning(findings, path);
	return arena_printf(findings->arena, "%s%s%s",
			    meaning.is_made && meaning.lock_kind
				    ? meaning.lock_kind
				    : report_cause_text(buffer, meaning.cause,
							findings_other_call(meaning.cause, path->facts.syscall)),
			    where ? " in " : "", where ? where : "");
}

static bool is_alike(const struct report_root_chain *a, const struct report_root_chain *b)
{
	if (a->step_count != b->step_count)
		return false;
	for (size_t i = 0; i < a->step_count; i++)
		if (strcmp(a->steps[i], b->steps[i]) != 0)
			return false;
	return true;
}

static struct report_root_chain as_chain(struct findings *findings, const struct blame_chain *chain)
{
	const char **steps = arena_alloc(findings->arena, (chain->depth + 1) * sizeof(*steps));
	struct report_root_chain row = { .ns = whole(chain->ns), .steps = steps, .step_count = 1 };

	steps[0] = chain->wait ? wait_words(findings, chain->wait)
			       : arena_printf(findings->arena, "spinning %s", chain->spin);
	for (size_t i = 0; i < chain->depth; i++) {
		const char *step = link_words(findings, chain->links[i]);

		if (strcmp(step, steps[row.step_count - 1]) != 0)
			steps[row.step_count++] = step;
	}
	return row;
}

/* Those that read the same are one. */
static void put_chains(struct findings *findings, struct blame_root *root)
{
	struct report_root_chain *rows = arena_alloc(findings->arena, CHAINS_READ * sizeof(*rows));
	struct blame_chain **all;
	size_t count = 0, used = 0;

	for (const struct blame_chain *chain = root->chains; chain; chain = chain->next)
		count++;
	all = xcalloc(count + 1, sizeof(*all));
	count = 0;
	for (struct blame_chain *chain = root->chains; chain; chain = chain->next)
		all[count++] = chain;
	qsort(all, count, sizeof(*all), chains_by_time);
	for (size_t i = 0; i < count && i < CHAINS_READ; i++) {
		struct report_root_chain row = as_chain(findings, all[i]);
		size_t k = 0;

		while (k < used && !is_alike(&rows[k], &row))
			k++;
		if (k == used)
			rows[used++] = row;
		else
			rows[k].ns += row.ns;
	}
	free(all);
	root->row.chains = rows;
	root->row.chain_count = used < CHAINS_MAX ? used : CHAINS_MAX;
}

/* --- Words ---------------------------------------------------------------------------------------- */

static const char *words_of_wait(struct findings *findings, const struct report_root *root)
{
	const char *where = blame_place(findings, root);
	char buffer[REPORT_CAUSE_BYTES];

	return arena_printf(findings->arena, "%s%s%s%s%s%s%s%s", report_cause_text(buffer, root->cause, root->syscall),
			    root->is_directory ? "s in" : "", root->object ? " " : "",
			    root->object ? words_object(findings, root->object) : "", where ? " in " : "",
			    where ? where : "", root->taken_by ? "; the disk worked for: " : "",
			    root->taken_by ? root->taken_by : "");
}

static const char *words_of(struct findings *findings, const struct report_root *root)
{
	const char *where = root->kind == ROOT_CODE ? blame_place(findings, root) : NULL;

	switch (root->kind) {
	case ROOT_CODE:
		return where ? arena_printf(findings->arena, "%s runs", where) : "code without a name or a sample runs";
	case ROOT_WAIT:
		return words_of_wait(findings, root);
	case ROOT_CPU:
		return root->taken_by
			       ? arena_printf(findings->arena, "no CPU to run on; meanwhile ran: %s", root->taken_by)
			       : "no CPU to run on";
	case ROOT_CPU_LIMIT:
		return "CPU limit of the cgroup";
	case ROOT_UNKNOWN:
		return "not known";
	default:
		return "other causes";
	}
}

const char *blame_place(struct findings *findings, const struct report_root *root)
{
	const char *where = words_place(findings, root->frames, root->frame_count);
	const char *caller = where ? words_place_caller(findings, root->frames, root->frame_count) : NULL;

	if (!where && root->kind == ROOT_CODE && root->frame_count)
		return words_frame(findings, root->frames);
	if (!where && !root->object)
		return words_any_place(findings, root->frames, root->frame_count);
	return caller ? arena_printf(findings->arena, "%s, called by %s", where, caller) : where;
}

/* --- Roots --------------------------------------------------------------------------------------- */

static int roots_by_time(const void *a, const void *b)
{
	const struct blame_root *x = *(struct blame_root *const *)a, *y = *(struct blame_root *const *)b;
	bool is_x_other = x->row.kind == ROOT_OTHER, is_y_other = y->row.kind == ROOT_OTHER;

	if (is_x_other != is_y_other)
		return is_x_other ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->row.key < y->row.key ? -1 : x->row.key > y->row.key;
}

static struct blame_root **sorted(const struct blame *blame, size_t *count)
{
	struct blame_root **all = xcalloc(table_count(blame->roots) + 1, sizeof(struct blame_root *));

	*count = 0;
	for (struct blame_root *root = blame->first; root; root = root->next)
		if (root->ns > 0)
			all[(*count)++] = root;
	qsort(all, *count, sizeof(*all), roots_by_time);
	return all;
}

static void fill(struct findings *findings, struct blame_root *root, uint64_t ns)
{
	root->row.ns = ns;
	root->row.direct_ns = whole(root->direct_ns + 0.5);
	if (root->row.direct_ns > ns)
		root->row.direct_ns = ns;
	root->row.error_ns = whole(sqrt(root->variance));
	root->row.victims = root->victims.count;
	describe(findings, root);
	if (root->row.kind == ROOT_CPU)
		blame_add_cpu_users(findings, &root->row);
	else if (root->row.kind == ROOT_WAIT && root->row.cause == CAUSE_FILE)
		blame_add_disk_users(findings, &root->row, root->device);
	root->row.text = words_of(findings, &root->row);
	put_chains(findings, root);
}

/* Rounded so that all roots together have what was lost, and no ns is in two. */
void blame_put(struct findings *findings, uint64_t lost_ns)
{
	struct report_blame *out = &findings->report.blame;
	size_t count, used;
	struct blame_root **all = sorted(findings->blame, &count);
	struct report_root *rows;
	double sum = 0;
	uint64_t put_ns = 0;

	used = count > ROOTS_MAX ? ROOTS_MAX : count;
	rows = arena_alloc(findings->arena, (used + 1) * sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		uint64_t until_ns;

		sum += all[i]->ns;
		until_ns = whole(fmin(sum + 0.5, lost_ns));
		if (i == count - 1)
			until_ns = lost_ns;
		fill(findings, all[i], until_ns - put_ns);
		if (i < used)
			rows[i] = all[i]->row;
		put_ns = until_ns;
		if (i == used - 1 && used < count)
			rows[used] = (struct report_root){ .ns = lost_ns - put_ns,
							   .text = "other causes",
							   .kind = ROOT_OTHER,
							   .cause = CAUSE_UNKNOWN };
	}
	free(all);
	out->lost_ns = lost_ns;
	out->roots = rows;
	out->root_count = used < count ? used + 1 : used;
}
