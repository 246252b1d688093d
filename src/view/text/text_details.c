/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is behind the verdict, in plain English: which code, how parallel, how even. */
#include "view/text/text_sections.h"

#include <string.h>

#include "report/report.h"
#include "report/report_nameless.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/view.h"

/* Below these, a fact is not worth a sentence. */
static const double path_share_min = 0.05, stalled_share_min = 0.1, imbalance_min = 1.3, runqueue_share_min = 0.25,
		    spinning_share_min = 0.1;

enum { NAME_COLUMNS_MAX = 60 };

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

/* Whether next to nothing was waited for that was being done, in stalls that are worth a sentence. */
static bool had_nothing_to_do(const struct report *report)
{
	static const double real_share_max = 0.1;
	uint64_t real_ns = 0;

	for (size_t i = 0; i < report->balance.threads.cause_count; i++) {
		const struct report_cause *cause = &report->balance.threads.causes[i];

		if (!cause->is_active)
			real_ns += cause->wait_ns - cause->idle_ns;
	}
	return share_of(report->totals.stalled_ns, report->target.wall_ns) >= stalled_share_min &&
	       report->balance.threads.cause_count && real_ns <= real_share_max * report->totals.stalled_ns;
}

static void say_parallelism(const struct report *report, struct text *text)
{
	uint64_t wall_ns = report->target.wall_ns, alive = report->totals.alive_max;

	if (alive > 1)
		text_printf(text, "On average %.1f of up to %llu threads were active.", report->totals.parallelism,
			    (unsigned long long)alive);
	else
		text_printf(text, "The program has one thread, active for %.0f %% of the time.",
			    100 * share_of(report->totals.active_ns, wall_ns));
	if (alive > 1) {
		text_put(text, " For ");
		page_text_share(text, share_of(report->totals.critical_ns, wall_ns));
		text_put(text, " of the ");
		text_put_duration(text, wall_ns);
		text_put(text, " wall time at most ");
		if (report->totals.is_nmin_default)
			text_put(text, "half of them were active (critical)");
		else
			text_printf(text, "%u %s active (critical)", report->totals.nmin,
				    report->totals.nmin == 1 ? "was" : "were");
		if (report->totals.stalled_ns) {
			text_put(text, " and for ");
			page_text_share(text, share_of(report->totals.stalled_ns, wall_ns));
			text_put(text, " none was (stalled)");
		}
		text_put(text, ".");
		if (had_nothing_to_do(report))
			text_put(text, " While stalled, it had nothing to do: its threads waited for timers or for "
				       "work from outside.");
	}
}

/* A place says nothing in a sentence; that there is no name, and whose code it is, does. */
static void say_nameless(const struct page *page, const char *module, size_t length, struct text *text)
{
	struct text name = { 0 }, shown = { 0 };

	text_put_bytes(&name, module, length);
	text_put(&shown, "");
	page_text_name(page, &shown, name.bytes);
	report_put_nameless(text, shown.bytes);
	text_fini(&name);
	text_fini(&shown);
}

static void say_frame(const struct page *page, const struct report_frame *frame, struct text *text)
{
	struct text name = { 0 };

	if (!frame->function || !*frame->function) {
		say_nameless(page, frame->module ? frame->module : "", frame->module ? strlen(frame->module) : 0, text);
		return;
	}

	text_frame_name(&name, frame);
	page_text_function(page, text, name.bytes, NAME_COLUMNS_MAX);
	text_fini(&name);
	if (frame->file) {
		text_put(text, " (");
		page_text_location(page, text, frame->file, frame->line);
		text_put(text, ")");
	}
}

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static void say_caller(const struct page *page, const struct report_path *path, struct text *text)
{
	const struct report_frame *caller = text_path_caller(path, page->style->fold);
	struct text name = { 0 };

	if (!caller)
		return;
	text_put(text, ", called by ");
	text_frame_name(&name, caller);
	page_text_function(page, text, name.bytes, NAME_COLUMNS_MAX);
	text_put(text, ",");
	text_fini(&name);
}

/* Only if the samples are mostly in one function. */
static void say_sampled(const struct page *page, const struct report_path *path, const struct report_frame *headline,
			struct text *text)
{
	const struct report_function *first = path->functions;
	const struct report_line *line = NULL;
	uint64_t count = 0;
	size_t nameless;

	for (size_t i = 0; i < path->function_count; i++)
		count += path->functions[i].samples - path->functions[i].stack_tops;
	if (!count || first->samples - first->stack_tops < count / 2)
		return;
	if (first->line_count && first->lines[0].file && first->lines[0].line)
		line = &first->lines[0];
	nameless = first->name ? report_nameless_length(first->name) : 0;
	/* The headline is what could be said of it. */
	if (nameless && !headline->function)
		return;
	if (!is_same(first->name, headline->function)) {
		text_put(text, ", mostly in ");
		if (nameless)
			say_nameless(page, first->name, nameless, text);
		else
			page_text_function(page, text, first->name, NAME_COLUMNS_MAX);
		if (line) {
			text_put(text, " at ");
			page_text_location(page, text, line->file, line->line);
		}
	} else if (line && is_same(line->file, headline->file)) {
		if (line->line != headline->line)
			text_printf(text, ", mostly at line %u", line->line);
	} else if (line) {
		text_put(text, ", mostly at ");
		page_text_location(page, text, line->file, line->line);
	}
}

/* Where paths are many, what they have in common. */
static void say_trunk(const struct page *page, const struct report *report, struct text *text)
{
	const struct report_path *path = report->paths;
	const struct report_frame *headline = text_path_headline(path, page->style->fold);

	text_put_count(text, report->trunk->path_count);
	text_put(text, " call paths through ");
	say_frame(page, report->trunk->frames, text);
	text_put(text, " account for ");
	if (path->is_estimated)
		text_put(text, "about ");
	page_text_share(text, report->trunk->wall_share);
	text_put(text, " of the wall time. ");
	if (!headline || path->wall_share < path_share_min)
		return;
	text_put(text, "The largest one, through ");
	say_frame(page, headline, text);
	text_put(text, ", has ");
	page_text_share(text, path->wall_share);
	say_sampled(page, path, headline, text);
	text_put(text, ". ");
}

/* An estimate that may as well be nothing does not. */
static bool stands_out(const struct report_path *path)
{
	return path->wall_share >= path_share_min && path->cmetric_ns > 2 * path->error_ns;
}

/* Whether there is code to begin with. */
static bool has_code_to_name(const struct page *page, const struct report *report)
{
	return report->path_count &&
	       (report->trunk || (stands_out(report->paths) && text_path_headline(report->paths, page->style->fold)));
}

static void say_place(const struct page *page, const struct report *report, struct text *text)
{
	const struct report_path *path = report->paths;
	const struct report_frame *headline;

	if (report->trunk) {
		say_trunk(page, report, text);
		return;
	}
	headline = text_path_headline(path, page->style->fold);
	text_put(text, "The path through ");
	say_frame(page, headline, text);
	say_caller(page, path, text);
	text_put(text, " accounts for ");
	if (path->is_estimated)
		text_put(text, "about ");
	page_text_share(text, path->wall_share);
	text_put(text, " of the wall time");
	say_sampled(page, path, headline, text);
	text_put(text, ". ");
}

static void say_no_place(const struct report *report, struct text *text)
{
	const struct report_path *path = report->paths;

	if (!report->path_count) {
		text_put(text, report->totals.critical_slices
				       ? " No call path of a critical slice could be read."
				       : " No slice was critical: the threads were not held back.");
	} else if (!stands_out(path)) {
		text_put(text, " No call path stands out: the first accounts for ");
		page_text_share(text, path->wall_share);
		text_put(text, " of the wall time.");
	} else {
		text_put(text, " Slices whose stack could not be read account for ");
		page_text_share(text, path->wall_share);
		text_put(text, " of the wall time.");
	}
}

static void say_group(const struct page *page, const struct report_group *group, struct text *text)
{
	if (group->is_start_function) {
		text_put(text, " that began in ");
		page_text_function(page, text, group->name, NAME_COLUMNS_MAX);
	} else {
		text_put(text, " named \"");
		page_text_name(page, text, group->name);
		text_put(text, "\"");
	}
}

/* Either threads of one kind do unequal work, or one kind of several does most of it. */
static void say_balance(const struct page *page, const struct report *report, struct text *text)
{
	const struct report_group *group = report->groups;
	double share;

	if (!report->group_count || !report->totals.threads)
		return;
	share = share_of(group->cmetric_ns, report->totals.cmetric_ns);
	if (report->group_count > 1 && group->thread_count > 1 && share >= 0.5 &&
	    share > 1.5 * share_of(group->thread_count, report->totals.threads)) {
		text_put(text, " Of ");
		text_put_count(text, report->totals.threads);
		text_put(text, " threads, the ");
		text_put_count(text, group->thread_count);
		say_group(page, group, text);
		text_put(text, " carry ");
		page_text_share(text, share);
		text_put(text, " of the load.");
	} else if (group->thread_count > 2 && group->imbalance >= imbalance_min && share >= 0.2) {
		text_put(text, " The load is uneven: of the ");
		text_put_count(text, group->thread_count);
		text_put(text, " threads");
		say_group(page, group, text);
		text_printf(text, " one carries %.1fx the mean.", group->imbalance);
	}
}

static void say_runqueue(const struct report *report, struct text *text)
{
	uint64_t running_ns = 0, runnable_ns = 0;

	/* A finding says it. */
	if (report->finding_count && report->findings->pattern == PATTERN_CPU_WAIT)
		return;
	for (size_t i = 0; i < report->group_count; i++) {
		for (size_t j = 0; j < report->groups[i].row_count; j++) {
			running_ns += report->groups[i].threads[j].running_ns;
			runnable_ns += report->groups[i].threads[j].cpu_wait_ns;
		}
	}
	if (share_of(runnable_ns, running_ns + runnable_ns) < runqueue_share_min)
		return;
	text_put(text, " Active threads spent ");
	page_text_share(text, share_of(runnable_ns, running_ns + runnable_ns));
	text_put(text, " of their time waiting for a CPU.");
}

static void say_spinning(const struct report *report, struct text *text)
{
	double share = share_of(report->balance.threads.spinning_ns, report->balance.threads.running_ns);

	if (share < spinning_share_min)
		return;
	text_put(text, " Threads spent ");
	page_text_share(text, share);
	text_put(text, " of their CPU time spinning");
	text_put(text, report->totals.is_spin_inactive ? "; that time is not counted as active."
						       : ": use --spin-inactive to see for whom.");
}

void text_details_show(struct page *page, const struct report *report)
{
	bool has_code = has_code_to_name(page, report);
	struct text text = { 0 };

	if (!report->target.wall_ns || !report->totals.threads)
		return;
	if (has_code)
		say_place(page, report, &text);
	say_parallelism(report, &text);
	if (!has_code)
		say_no_place(report, &text);
	say_balance(page, report, &text);
	say_runqueue(report, &text);
	say_spinning(report, &text);
	page_end_line(page);
	page_paragraph(page, "", text.bytes);
	text_fini(&text);
}
