/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "base/text.h"
#include "base/whole.h"
#include "compare/reasons.h"
#include "view/trace/comparison_code.h"
#include "view/trace/comparison_view.h"

enum { REASONS_MAX = 10 };

static void put_time(struct text *out, double ns)
{
	if (ns < 0)
		text_put(out, "-");
	text_put_duration(out, whole(fabs(ns) + 0.5));
}

/* --- The verdict ------------------------------------------------------------------------------ */

static void put_side(struct text *out, const struct comparison_view *view, unsigned int side)
{
	const struct comparison_side *s = &view->comparison->sides[side];

	text_put_escaped(out, s->name);
	if (!view->comparison->is_of_runs) {
		text_put(out, " (");
		text_put_count(out, s->figures[FIGURE_DURATION].count);
		text_put(out, ")");
	}
}

static void put_durations(struct text *out, const struct comparison_view *view)
{
	struct difference duration = comparison_of_figure(view->comparison, FIGURE_DURATION);
	bool is_of_runs = view->comparison->is_of_runs;

	put_side(out, view, SECOND_SIDE);
	text_put(out, is_of_runs ? " took " : " take ");
	put_time(out, duration.of[SECOND_SIDE].mean);
	text_put(out, is_of_runs ? ", " : " on average, ");
	put_side(out, view, FIRST_SIDE);
	text_put(out, " ");
	put_time(out, duration.of[FIRST_SIDE].mean);
	if (duration.delta) {
		text_put(out, ": ");
		put_time(out, fabs(duration.delta));
		text_put(out, duration.delta > 0 ? " more" : " less");
	}
	text_put(out, ".");
}

/* What explains most of why it took longer, or less long. */
static const struct reason *main_reason(const struct comparison_view *view)
{
	struct difference duration = comparison_of_figure(view->comparison, FIGURE_DURATION);
	const struct reasons *reasons = view->reasons;

	if (!view->comparison->is_per_second)
		for (size_t i = 0; i < reasons->count; i++)
			if ((reasons->list[i].ns.delta > 0) == (duration.delta > 0))
				return &reasons->list[i];
	return &reasons->list[0];
}

static void put_verdict(struct text *out, const struct comparison_view *view)
{
	if (!view->reasons->count)
		text_put(out, "No difference stands out: ");
	put_durations(out, view);
	if (view->reasons->count) {
		text_put(out, " Main reason: ");
		reason_put(out, view->comparison, main_reason(view));
		text_put(out, ".");
	}
	text_put(out, "\n");
}

/* --- Groups ----------------------------------------------------------------------------------- */

static const char *fit_words(double silhouette)
{
	return silhouette > 0.7    ? "clearly separated"
	       : silhouette > 0.5  ? "apart"
	       : silhouette > 0.25 ? "weakly separated"
				   : "not separated: the groups may be meaningless";
}

static const char *side_words(const struct comparison_view *view, unsigned int group)
{
	const unsigned int *sides = view->group_sides;
	bool is_usual = !sides[FIRST_SIDE] && sides[SECOND_SIDE] + 1 == view->groups->count;

	if (group == sides[FIRST_SIDE])
		return is_usual ? "  (fast)" : "  (first)";
	if (group == sides[SECOND_SIDE])
		return is_usual ? "  (slow)" : "  (second)";
	return "";
}

static void put_groups(struct text *out, const struct comparison_view *view)
{
	const struct groups *groups = view->groups;

	text_printf(out, "\nGroups  (silhouette %.2f: %s)\n", groups->silhouette, fit_words(groups->silhouette));
	for (unsigned int i = 0; i < groups->count; i++) {
		text_printf(out, "%3u  ", i + 1);
		text_put_count(out, view->group_ns[i].count);
		text_put(out, " executions of ");
		put_time(out, view->group_ns[i].mean);
		text_put(out, ", deviation ");
		put_time(out, sample_deviation(&view->group_ns[i]));
		text_printf(out, "%s\n", side_words(view, i));
	}
	for (size_t i = 0; i < groups->outlier_count; i++) {
		text_put(out, "     outlier: ");
		put_time(out, view->outliers[i].duration_ns);
		text_printf(out, " at %.6f s, ", view->outliers[i].since_ns / 1e9);
		text_put_escaped(out, view->outliers[i].thread);
		text_put(out, "\n");
	}
}

/* --- Figures ---------------------------------------------------------------------------------- */

static void put_cell(struct text *out, double value, bool is_time)
{
	struct text cell = { 0 };

	if (is_time)
		put_time(&cell, value);
	else
		text_printf(&cell, "%.4g", value);
	text_printf(out, "%12s", cell.bytes);
	text_fini(&cell);
}

static void put_share(struct text *out, double share)
{
	if (isinf(share))
		text_put(out, "       new");
	else if (share >= 100)
		text_printf(out, "%8.0f x ", share + 1);
	else
		text_printf(out, "%+8.1f %%", 100 * share);
}

/* d and p, where they are known. */
static void put_doubt(struct text *out, const struct difference *difference)
{
	if (isnan(difference->chance))
		return;
	if (isfinite(difference->effect))
		text_printf(out, "%9.2f", difference->effect);
	else
		text_put(out, "        -");
	if (difference->chance < 0.001)
		text_put(out, "   < 0.001");
	else
		text_printf(out, "%10.3f", difference->chance);
}

static void put_figures(struct text *out, const struct comparison_view *view)
{
	const struct comparison *comparison = view->comparison;
	double least_ns = comparison_least_ns(comparison);

	text_printf(out, "\nFigures%s             first      second    change%s\n",
		    comparison->is_per_second ? "  (of a second)" : "               ",
		    comparison->is_of_runs ? "" : "        d         p");
	for (unsigned int i = 0; i < FIGURES; i++) {
		struct difference difference = comparison_of_figure(comparison, i);
		bool is_time = figure_is_time(i);
		struct text name = { 0 };

		if (difference.of[FIRST_SIDE].mean < (is_time ? least_ns : 0.5) &&
		    difference.of[SECOND_SIDE].mean < (is_time ? least_ns : 0.5))
			continue;
		figure_put_name(&name, i);
		text_printf(out, "  %-22s", name.bytes);
		put_cell(out, difference.of[FIRST_SIDE].mean, is_time);
		put_cell(out, difference.of[SECOND_SIDE].mean, is_time);
		put_share(out, difference_share(&difference));
		put_doubt(out, &difference);
		text_put(out, "\n");
		text_fini(&name);
	}
}

/* --- The rest --------------------------------------------------------------------------------- */

static void put_reasons(struct text *out, const struct comparison_view *view)
{
	const struct reasons *reasons = view->reasons;

	if (reasons->count)
		text_put(out, "\nReasons\n");
	for (size_t i = 0; i < reasons->count && i < REASONS_MAX; i++) {
		const struct difference *ns = &reasons->list[i].ns;

		text_printf(out, "%3zu  ", i + 1);
		reason_put(out, view->comparison, &reasons->list[i]);
		if (!isnan(ns->chance) && isfinite(ns->effect))
			text_printf(out, " (d %.2f, p %s%.3f)", ns->effect, ns->chance < 0.001 ? "< " : "",
				    fmax(ns->chance, 0.001));
		text_put(out, "\n");
	}
	if (reasons->count > REASONS_MAX)
		text_printf(out, "    … %zu more\n", reasons->count - REASONS_MAX);
	if (reasons->unsure_count)
		text_printf(out, "     %zu more may be chance (p of 0.05 or more)\n", reasons->unsure_count);
}

static void put_answers(struct text *out, const struct comparison_view *view)
{
	if (view->answer_count)
		text_put(out, "\nConditions\n");
	for (size_t i = 0; i < view->answer_count; i++) {
		const struct comparison_answer *answer = &view->answers[i];
		const struct condition *condition = answer->condition;

		text_put(out, answer->holds ? "  fails   " : "  passes  ");
		text_put_escaped(out, condition->text);
		text_put(out, ": found ");
		if (condition->is_share)
			text_printf(out, "%+.1f %%", 100 * answer->change);
		else if (condition->label || figure_is_time(condition->figure))
			put_time(out, answer->change);
		else
			text_printf(out, "%+.6g", answer->change);
		text_put(out, "\n");
	}
}

void comparison_put_text(struct text *out, const struct comparison_view *view)
{
	put_verdict(out, view);
	if (view->note)
		text_printf(out, "%s.\n", view->note);
	if (view->groups)
		put_groups(out, view);
	put_reasons(out, view);
	put_figures(out, view);
	if (view->code)
		comparison_code_put_text(out, view->comparison, view->code);
	put_answers(out, view);
}
