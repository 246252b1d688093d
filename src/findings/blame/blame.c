/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each row of waits is divided among causes as the sums of chains say (chains/blocked_sum.h): what no traced thread has
 * ended is its own, and its idle part is in proportion nobody's.
 */
#include "findings/blame/blame.h"

#include <math.h>
#include <stdlib.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "base/table.h"
#include "base/whole.h"
#include "chains/blocked_on.h"
#include "findings/blame/blame_internal.h"
#include "findings/blame/blame_spins.h"
#include "findings/parts/findings_waits.h"
#include "report/wait_choice.h"

/*
 * Rows are followed, from the one that lost most on, until so many sums, and places and waits in them, have been read. That
 * bounds time and memory.
 */
enum { CHAINS_MAX = 1 << 13, READ_MAX = 1 << 16 };

/* What ended so much of the waits at a place is what they are for. */
static const double ender_min = 0.5;

/* Threads of a row are victims of what took so much of its lost time. */
static const double victim_min = 0.01;

/* A row that is being divided. */
struct split {
	struct findings *findings;
	const struct report_wait *wait; /* NULL: it is only looked at, and nothing is charged */
	double scale, code_scale;       /* lost time by time of the sums, and by weight of samples */
	double idle_part; /* of what was idle at the ends of chains: so much of that is what of the row was idle */
	uint64_t samples;
	double running_ns; /* lost */
	const struct wait_path *links[BLAME_DEPTH_MAX];
	size_t depth;
	struct table *parts; /* struct blame_part by root */
};

/* --- Charging ------------------------------------------------------------------------------------ */

static void add_chain(const struct split *split, struct blame_root *root, double ns)
{
	struct blame *blame = split->findings->blame;
	uint64_t key = hash_u64(root->row.key ^ (uintptr_t)split->wait);
	struct blame_chain *chain;

	for (size_t i = 0; i < split->depth; i++)
		key = hash_u64(key ^ (uintptr_t)split->links[i]);
	chain = table_find(blame->chains, key);
	if (!chain && table_count(blame->chains) == CHAINS_MAX)
		return;
	if (!chain) {
		chain = arena_alloc(split->findings->arena, sizeof(*chain));
		chain->wait = split->wait;
		chain->depth = split->depth;
		for (size_t i = 0; i < split->depth; i++)
			chain->links[i] = split->links[i];
		chain->next = root->chains;
		root->chains = chain;
		table_put(blame->chains, key, chain);
	}
	chain->ns += ns;
}

static void add_part(struct split *split, struct blame_root *root, double ns)
{
	struct blame_part *part = table_find(split->parts, (uintptr_t)root);

	if (!part) {
		part = arena_alloc(split->findings->arena, sizeof(*part));
		part->root = &root->row;
		table_put(split->parts, (uintptr_t)root, part);
	}
	part->ns += ns;
}

/* detail: NULL: the root has none. */
static void charge(struct split *split, struct blame_root *root, struct blame_detail *detail, double ns)
{
	if (!(ns > 0))
		return;
	add_part(split, root, ns);
	if (!split->wait)
		return;
	root->ns += ns;
	if (detail)
		detail->ns += ns;
	add_chain(split, root, ns);
}

/* --- Walking ------------------------------------------------------------------------------------- */

static void charge_code(struct split *split, const struct blocked_sum *sum, double part)
{
	struct findings *findings = split->findings;
	double rest = sum->weight[findings->code_source] * part;
	struct blame_detail *detail;
	struct blame_root *root;

	for (const struct blocked_code *code = sum->code; code; code = code->next) {
		const struct code_sample *sample = code->code;
		const struct report_frame *frames;
		enum stack_end end;
		size_t count;

		if (sample->stratum->source != findings->code_source)
			continue;
		count = path_names_sample_frames(findings->names, sample->pid, sample->first_ns, sample->stack,
						 sample->ip, sample->kernel_ip, &frames, &end);
		root = blame_root_of_code(findings, frames, count, &detail);
		charge(split, root, detail, code->weight * part * split->code_scale);
		rest -= code->weight * part;
	}
	root = blame_root_of_code(findings, NULL, 0, &detail);
	charge(split, root, detail, rest * split->code_scale);
}

static struct blame_ending ending_of_path(struct findings *findings, const struct wait_path *path)
{
	for (const struct wait_waker *waker = path ? path->wakers : NULL; waker; waker = waker->next) {
		if (waker->wait_ns < ender_min * path->wait_ns)
			continue;
		if (waker->kind == WAKER_PROCESS && *waker->name)
			return (struct blame_ending){ .ender = arena_strdup(findings->arena, waker->name) };
		return (struct blame_ending){ .is_timed = waker->kind == WAKER_TIMER };
	}
	return (struct blame_ending){ 0 };
}

static struct blame_ending ending_of_wait(const struct report_wait *wait)
{
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;

	if (!waker || waker->share < ender_min)
		return (struct blame_ending){ 0 };
	return (struct blame_ending){
		.ender = waker->context == WAKER_PROCESS ? waker->name : NULL,
		.is_timed = waker->context == WAKER_TIMER,
	};
}

/* Of waits like this one, which no traced thread ended. */
static double idle_share(const struct blocked_wait *wait)
{
	const struct wait_path *path = wait->path;

	return path && path->wait_ns > 0 ? fmin(fmax(path->idle_ns / path->wait_ns, 0), 1) : 0;
}

/* How threads are called that waited there, with * for numbers where there are several; NULL: not known. */
static const char *who_waited(struct findings *findings, const struct wait_path *path)
{
	const struct report_thread *thread =
		path && path->threads.count ? table_find(findings->blame->threads, path->threads.numbers[0]) : NULL;

	if (!thread)
		return NULL;
	return path->threads.count > 1 ? findings_group_name(findings, thread->name) : thread->name;
}

static void charge_waits(struct split *split, const struct blocked_sum *sum, double part)
{
	double rest = sum->ns[BLOCKED_WAITING];

	for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next) {
		double ns = blocked_sum_wait_ns(sum, wait);
		struct report_blocked_wait row;
		struct blame_detail *detail;
		struct blame_root *root;

		rest -= wait->ns;
		if (!(ns > 0))
			continue;
		row = findings_blocked_wait(split->findings, wait);
		root = blame_root_of_wait(split->findings, &row, ending_of_path(split->findings, wait->path), &detail);
		if (!detail->who)
			detail->who = who_waited(split->findings, wait->path);
		charge(split, root, detail, ns * (1 - split->idle_part * idle_share(wait)) * part * split->scale);
	}
	charge(split, blame_root_of_kind(split->findings, ROOT_UNKNOWN), NULL, rest * part * split->scale);
}

static void walk(struct split *split, const struct blocked_sum *sum, double part)
{
	struct findings *findings = split->findings;

	findings->blame->read_count += 1 + sum->code_count + sum->wait_count;
	charge_code(split, sum, part);
	charge_waits(split, sum, part);
	charge(split, blame_root_of_kind(findings, ROOT_CPU), NULL, sum->ns[BLOCKED_CPU_WAIT] * part * split->scale);
	charge(split, blame_root_of_kind(findings, ROOT_UNKNOWN), NULL, sum->ns[BLOCKED_UNKNOWN] * part * split->scale);
	for (const struct blocked_sum *link = sum->links; link; link = link->next) {
		bool is_kept = split->depth < BLAME_DEPTH_MAX;

		if (is_kept)
			split->links[split->depth++] = link->path;
		walk(split, link, part);
		split->depth -= is_kept;
	}
}

/* What all sums of a row have. */
struct amounts {
	double ns, running_ns, idle_ns, weight;
	uint64_t samples;
};

static void measure(const struct findings *findings, struct amounts *amounts, const struct blocked_sum *sum,
		    double part)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		amounts->ns += sum->ns[i] * part;
	amounts->running_ns += sum->ns[BLOCKED_RUNNING] * part;
	for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next)
		amounts->idle_ns += blocked_sum_wait_ns(sum, wait) * idle_share(wait) * part;
	amounts->weight += sum->weight[findings->code_source] * part;
	amounts->samples += sum->sample_count[findings->code_source];
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		measure(findings, amounts, link, part);
}

static const struct blocked_sum *sum_of(const struct findings *findings, const struct blocked_source *source)
{
	return blocked_on_sum(criticality_blocked_on(findings->input.criticality), source->key);
}

/* --- Rows ---------------------------------------------------------------------------------------- */

/*
 * What was idle of the row is first what was idle at the ends of its chains: who waits for a thread that waits for work is as
 * idle as that. What is left of it is taken out of all in proportion.
 */
static void set_scales(struct split *split, const struct amounts *amounts, double wait_ns, double lost_ns)
{
	double idle_ns = fmax(wait_ns - lost_ns, 0);

	split->idle_part = amounts->idle_ns > 0 ? fmin(idle_ns / amounts->idle_ns, 1) : 0;
	split->scale = lost_ns / fmax(fmax(wait_ns, amounts->ns) - split->idle_part * amounts->idle_ns, 1);
	split->running_ns = amounts->running_ns * split->scale;
	split->code_scale = amounts->weight > 0 ? split->running_ns / amounts->weight : 0;
	split->samples = amounts->samples;
}

/* own: what is waited for where no traced thread ended it. */
static void divide(struct split *split, const struct blocked_source *sources, double wait_ns, double lost_ns,
		   const struct report_blocked_wait *own, struct blame_ending ending)
{
	struct amounts amounts = { 0 };
	struct blame_detail *detail;
	struct blame_root *root;
	double own_ns;

	for (const struct blocked_source *source = sources; source; source = source->next)
		measure(split->findings, &amounts, sum_of(split->findings, source), source->part);
	set_scales(split, &amounts, wait_ns, lost_ns);
	for (const struct blocked_source *source = sources; source; source = source->next)
		walk(split, sum_of(split->findings, source), source->part);
	if (!(amounts.weight > 0)) {
		root = blame_root_of_code(split->findings, NULL, 0, &detail);
		charge(split, root, detail, split->running_ns);
	}
	root = blame_root_of_wait(split->findings, own, ending, &detail);
	own_ns = lost_ns - (amounts.ns - split->idle_part * amounts.idle_ns) * split->scale;
	charge(split, root, detail, own_ns);
	if (split->wait)
		root->direct_ns += fmax(own_ns, 0);
}

static struct report_blocked_wait own_of(const struct report_wait *wait)
{
	return (struct report_blocked_wait){
		.cause = wait->cause,
		.syscall = wait->syscall,
		.object = wait->object,
		.frames = wait->frames,
		.frame_count = wait->frame_count,
	};
}

static void add_errors(const struct split *split)
{
	double n = split->samples + 1;
	struct blame_part *part;
	size_t cursor = 0;

	while ((part = table_next(split->parts, &cursor))) {
		struct blame_root *root = (struct blame_root *)part->root;
		double share = split->running_ns > 0 ? part->ns / split->running_ns : 0;

		if (root->row.kind == ROOT_CODE)
			root->variance += fmax(share * (1 - share), 1 / n) / n * split->running_ns * split->running_ns;
	}
}

/* Which threads lost it. */
static void add_victims(const struct split *split, double lost_ns)
{
	const struct report_wait *wait = split->wait;
	struct blame_part *part;
	size_t cursor = 0;

	while ((part = table_next(split->parts, &cursor))) {
		struct blame_root *root = (struct blame_root *)part->root;

		for (uint64_t i = 0; i < wait->threads && part->ns >= victim_min * lost_ns; i++)
			thread_set_put(&root->victims, split->findings->arena, wait->waiters[i]);
	}
}

const struct blame_part *blame_of_wait(struct findings *findings, const struct report_wait *wait)
{
	struct split split = { .findings = findings, .parts = table_new() };
	struct report_blocked_wait own = own_of(wait);

	if (wait->wait_ns > wait->idle_ns)
		divide(&split, wait->blocked_sources, wait->wait_ns, wait->wait_ns - wait->idle_ns, &own,
		       ending_of_wait(wait));
	return blame_list_parts(split.parts);
}

const struct blame_part *blame_of_lock(struct findings *findings, const struct report_lock *lock)
{
	struct split split = { .findings = findings, .parts = table_new() };
	struct report_blocked_wait own = { .cause = CAUSE_LOCK, .object = lock->name };

	if (lock->wait_ns > lock->idle_ns)
		divide(&split, lock->blocked_sources, lock->wait_ns, lock->wait_ns - lock->idle_ns, &own,
		       (struct blame_ending){ 0 });
	return blame_list_parts(split.parts);
}

const struct blame_part *blame_join(struct findings *findings, const struct blame_part *a, const struct blame_part *b)
{
	struct table *parts = table_new();

	for (int k = 0; k < 2; k++)
		for (const struct blame_part *part = k ? b : a; part; part = part->next) {
			struct blame_part *sum = table_find(parts, (uintptr_t)part->root);

			if (!sum) {
				sum = arena_alloc(findings->arena, sizeof(*sum));
				sum->root = part->root;
				table_put(parts, (uintptr_t)part->root, sum);
			}
			sum->ns += part->ns;
		}
	return blame_list_parts(parts);
}

/* --- All ----------------------------------------------------------------------------------------- */

static void charge_wait(struct findings *findings, const struct report_wait *wait)
{
	double lost_ns = wait->wait_ns - wait->idle_ns;
	struct split split = { .findings = findings, .wait = wait, .parts = table_new() };
	struct report_blocked_wait own = own_of(wait);

	divide(&split, wait->blocked_sources, wait->wait_ns, lost_ns, &own, ending_of_wait(wait));
	add_errors(&split);
	add_victims(&split, lost_ns);
	table_free(split.parts);
}

static void charge_plainly(struct findings *findings, enum root_kind kind, double ns)
{
	struct blame_root *root = blame_root_of_kind(findings, kind);

	root->ns += ns;
	root->direct_ns += ns;
}

static double charged_ns(const struct findings *findings)
{
	double ns = 0;

	for (const struct blame_root *root = findings->blame->first; root; root = root->next)
		ns += root->ns;
	return ns;
}

/* Estimates by different chances: no more than was lost; what none of them has is not known. */
static void close_account(struct findings *findings, double lost_ns)
{
	double all_ns = charged_ns(findings);

	for (struct blame_root *root = findings->blame->first; root && all_ns > lost_ns; root = root->next) {
		root->ns *= lost_ns / all_ns;
		root->direct_ns *= lost_ns / all_ns;
		root->variance *= lost_ns / all_ns * lost_ns / all_ns;
	}
	if (all_ns < lost_ns)
		charge_plainly(findings, ROOT_UNKNOWN, lost_ns - all_ns);
}

static void begin(struct findings *findings)
{
	const struct report *report = &findings->report;
	struct blame *blame = xcalloc(1, sizeof(*blame));

	blame->roots = table_new();
	blame->details = table_new();
	blame->chains = table_new();
	blame->threads = table_new();
	blame->last = &blame->first;
	for (size_t i = 0; i < report->thread_count; i++)
		if (report->threads[i].number)
			table_put(blame->threads, report->threads[i].number, (void *)&report->threads[i]);
	findings->blame = blame;
}

/* Returns what of them is lost; *left_ns: of that, in waits that are too many to be followed. */
static uint64_t charge_waits_of_report(struct findings *findings, uint64_t *left_ns)
{
	const struct report *report = &findings->report;
	uint64_t lost_ns = 0;

	*left_ns = 0;
	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];

		if (wait->wait_ns <= wait->idle_ns)
			break;
		lost_ns += wait->wait_ns - wait->idle_ns;
		if (findings->blame->read_count < READ_MAX) {
			charge_wait(findings, wait);
			continue;
		}
		charge_plainly(findings, ROOT_OTHER, wait->wait_ns - wait->idle_ns);
		*left_ns += wait->wait_ns - wait->idle_ns;
	}
	return lost_ns;
}

static void end(struct findings *findings, uint64_t lost_ns, uint64_t left_ns)
{
	close_account(findings, lost_ns);
	blame_put(findings, lost_ns);
	findings->report.blame.followed_ns = lost_ns - (left_ns < lost_ns ? left_ns : lost_ns);
}

void findings_add_blame(struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	uint64_t lost_ns = threads->busy_ns > threads->running_ns ? threads->busy_ns - threads->running_ns : 0;
	uint64_t left_ns, spun_ns;

	begin(findings);
	charge_waits_of_report(findings, &left_ns);
	spun_ns = whole(blame_add_spins(findings));
	if (spun_ns > threads->spinning_ns)
		spun_ns = threads->spinning_ns;
	findings->report.blame.spun_ns = spun_ns;
	charge_plainly(findings, ROOT_CPU, threads->cpu_wait_ns - threads->throttled_ns);
	charge_plainly(findings, ROOT_CPU_LIMIT, threads->throttled_ns);
	end(findings, lost_ns + spun_ns, left_ns);
}

void findings_choose_blame(struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	bool has_objects = findings->choice->object_count;
	uint64_t lost_ns, left_ns, cpu_ns = 0, limit_ns = 0;

	if (!has_objects && wait_choice_has_cause(findings->choice, CAUSE_PREEMPTED))
		cpu_ns = threads->cpu_wait_ns - threads->throttled_ns;
	if (!has_objects && wait_choice_has_cause(findings->choice, CAUSE_THROTTLED))
		limit_ns = threads->throttled_ns;
	blame_free(findings->blame);
	begin(findings);
	lost_ns = charge_waits_of_report(findings, &left_ns);
	charge_plainly(findings, ROOT_CPU, cpu_ns);
	charge_plainly(findings, ROOT_CPU_LIMIT, limit_ns);
	findings->report.blame.spun_ns = 0;
	end(findings, lost_ns + cpu_ns + limit_ns, left_ns);
}

void blame_free(struct blame *blame)
{
	if (!blame)
		return;
	table_free(blame->roots);
	table_free(blame->details);
	table_free(blame->chains);
	table_free(blame->threads);
	free(blame);
}
