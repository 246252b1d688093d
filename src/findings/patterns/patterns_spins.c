/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of threads that spin, and of those who are late meanwhile. */
#include <string.h>

#include "findings/blame/blame.h"
#include "findings/blame/blame_spins.h"
#include "findings/parts/findings_waits.h"
#include "findings/patterns/draft.h"

/*
 * MOMENTS_MIN: fewer tell where threads spin, not for how long. running_share_min: of the time on CPUs, which may be scarce, this
 * much stands out. most_min: of what was not for want of a CPU, so much makes it the cause; alone_min: so much of the spinning
 * met nobody: those who are waited for may be elsewhere. PARTS_TOLD: of what those did who are late.
 */
enum { MOMENTS_MIN = 30, PARTS_TOLD = 2 };
static const double running_share_min = 0.1, most_min = 0.5, alone_min = 0.5;

/* What most of it was spent on, but for a lack of CPUs; NULL: it is not one thing. */
static const struct report_root *cause_of(const struct blame_spin *spin)
{
	const struct blame_part *most = NULL;
	double all_ns = 0;

	for (const struct blame_part *part = spin->parts; part; part = part->next) {
		if (part->root->kind == ROOT_CPU)
			continue;
		most = most ? most : part;
		all_ns += part->ns;
	}
	return most && most->ns >= most_min * all_ns ? most->root : NULL;
}

/* Whether no other thread is called so. */
static bool is_only(const struct report *report, const struct report_thread *thread)
{
	for (size_t i = 0; i < report->thread_count; i++)
		if (&report->threads[i] != thread && !strcmp(report->threads[i].name, thread->name))
			return false;
	return true;
}

static const char *late_words(struct findings *findings, const struct blame_spin *spin)
{
	if (!spin->late)
		return "others";
	return is_only(&findings->report, spin->late)
		       ? arena_printf(findings->arena, "thread %s", spin->late->name)
		       : arena_printf(findings->arena, "thread %u (%s)", spin->late->tid, spin->late->name);
}

/* ", until thread a has run f (a.c:3)"; "": it is not known what it depends on. */
static const char *until_words(struct findings *findings, const struct blame_spin *spin)
{
	const struct report_root *root = cause_of(spin);
	const char *who = late_words(findings, spin), *where = root ? blame_place(findings, root) : NULL;

	if (root && root->kind == ROOT_CODE && where)
		return arena_printf(findings->arena, " until %s %s run %s", who, spin->late ? "has" : "have", where);
	if (root && root->kind == ROOT_WAIT)
		return arena_printf(findings->arena, " until %s %s through with: %s", who, spin->late ? "is" : "are",
				    root->text);
	return spin->late ? arena_printf(findings->arena, " until %s comes", who) : "";
}

/* "55 % f (a.c:3), called by g runs; 20 % sleep in h": what those did meanwhile who were late, but for a lack of CPUs; "": not known. */
static const char *meanwhile_words(struct findings *findings, const struct blame_spin *spin)
{
	const char *words = "";
	size_t told = 0;

	for (const struct blame_part *part = spin->parts; part && told < PARTS_TOLD; part = part->next) {
		if (part->root->kind == ROOT_CPU || !part->root->text)
			continue;
		words = arena_printf(findings->arena, "%s%s%.0f %% %s", words, told++ ? "; " : "",
				     100 * draft_share(part->ns, spin->ns), part->root->text);
	}
	return words;
}

static double share_of(const struct findings *findings, const struct blame_spin *spin)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	double share = draft_lost(findings, spin->ns);

	return share >= finding_share_min || spin->ns >= running_share_min * threads->running_ns ? share : 0;
}

static void add(struct findings *findings, struct draft *draft, const struct blame_spin *spin)
{
	double share = share_of(findings, spin);
	const char *meanwhile = cause_of(spin) ? "" : meanwhile_words(findings, spin);
	struct report_finding *row;

	if (!(share > 0) || spin->moments < MOMENTS_MIN || (!spin->parts && !spin->is_of_library))
		return;
	row = draft_add(findings, draft, PATTERN_SPIN, CAUSE_SPIN, share, "%s %s %s%s",
			words_counted(findings, spin->threads, "thread"), spin->threads == 1 ? "spins" : "spin",
			spin->where, until_words(findings, spin));
	if (!row)
		return;
	row->blame = spin->parts;
	row->blocker = spin->late ? spin->late->name : NULL;
	draft_say(findings, row,
		  "they spun for %s in all; for %.0f %% of that another traced thread did something else",
		  words_duration(findings, spin->ns), 100 * spin->met_share);
	if (*meanwhile)
		draft_say(findings, row, "meanwhile: %s", meanwhile);
	if (spin->is_of_library && spin->alone_share >= alone_min)
		draft_say(findings, row,
			  "what they wait for is not in what is traced, as far as samples tell: other processes may be "
			  "late (pinch attach -p takes several, and the children of mpirun)");
}

void patterns_add_spins(struct findings *findings, struct draft *draft)
{
	for (const struct blame_spin *spin = blame_spins(findings); spin; spin = spin->next)
		add(findings, draft, spin);
	draft->count += findings_put_spins(findings, draft->rows + draft->count, FINDINGS_MAX - draft->count);
}
