/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/whatif_text.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "graph/path_sums.h"
#include "whatif/tasks.h"
#include "whatif/whatif.h"

enum { PATH_LINES = 8 };

/* Beyond it the replay is not the run. */
static const double error_max = 0.02;

static void put_cpus(struct text *out, uint32_t count)
{
	text_printf(out, "%u CPU%s", count, count == 1 ? "" : "s");
}

static void put_replay(struct text *out, const struct whatif *whatif)
{
	double error = -whatif_gain(whatif, whatif->replay_ns);

	text_put(out, "It took ");
	text_put_duration(out, whatif->recorded_ns);
	text_put(out, "; the same replayed on ");
	put_cpus(out, whatif->cpu_count);
	text_put(out, ", ");
	text_put_duration(out, whatif->replay_ns);
	text_printf(out, ": replay error %+.1f %%\n", 100 * error);
	if (fabs(error) > error_max)
		text_put(out, "The replay differs from the recording: predictions may be off by as much.\n");
}

static void put_scale(struct text *out, double scale)
{
	if (scale == 0)
		text_put(out, "taking no time");
	else if (scale == 0.5)
		text_put(out, "taking half the time");
	else
		text_printf(out, "taking %g of the time", scale);
}

static void put_change(struct text *out, const struct whatif_view *view)
{
	if (view->name) {
		text_printf(out, "With %s ", element_kind_name(view->kind));
		text_put_escaped(out, view->name);
		text_put(out, " ");
		put_scale(out, view->scale);
		text_put(out, view->cpu_count != view->whatif->cpu_count ? " on " : "");
	} else {
		text_put(out, "On ");
	}
	if (!view->name || view->cpu_count != view->whatif->cpu_count)
		put_cpus(out, view->cpu_count);
}

static void put_gain(struct text *out, const struct whatif *whatif, uint64_t predicted_ns)
{
	double gain = whatif_gain(whatif, predicted_ns);

	text_printf(out, "%.1f %% %s", fabs(100 * gain), gain < 0 ? "more" : "less");
}

static void put_path(struct text *out, const struct whatif_view *view)
{
	const struct critical_path *path = &view->answer->path;
	uint64_t all_ns = path->count ? path->parts[path->count - 1].end_ns - path->parts[0].begin_ns : 0;
	size_t count;
	struct path_sum *sums = path_sums(path, view->labels, &count);

	text_put(out, "\nCritical path of the prediction\n\n");
	for (size_t i = 0; i < count && i < PATH_LINES; i++) {
		const char *end = path_part_end(view->labels, &sums[i].part);
		struct text duration = { 0 };

		text_put_duration(&duration, sums[i].ns);
		text_printf(out, "%6.1f %%  %9s  ", 100.0 * sums[i].ns / all_ns, duration.bytes);
		text_fini(&duration);
		text_put_escaped(out, path_part_who(view->labels, &sums[i].part));
		text_put(out, "  ");
		text_put_escaped(out, path_part_what(view->labels, &sums[i].part));
		text_put(out, end ? ": " : "");
		text_put_escaped(out, end ? end : "");
		text_put(out, "\n");
	}
	free(sums);
}

/* What is known of how much of the work is that code. */
static void put_samples(struct text *out, const struct whatif_view *view)
{
	const struct code_count *samples = &view->answer->samples;

	if (!samples->chosen)
		return;
	text_printf(out, "It was running in %ju of %ju samples: %.1f %% (+-%.1f %%) of the running time\n",
		    (uintmax_t)samples->chosen, (uintmax_t)samples->all, 100.0 * samples->chosen / samples->all,
		    100 * code_count_error(samples) * samples->chosen / samples->all);
}

static void put_span(struct text *out, const struct whatif_view *view)
{
	struct whatif_task_sums sums;

	if (!view->span)
		return;
	sums = whatif_sum_tasks(view->tasks, view->predicted_ns, view->task_count);
	text_put_escaped(out, view->span);
	text_put(out, ": ");
	text_put_count(out, sums.count);
	text_put(out, sums.count == 1 ? " execution of " : " executions of ");
	text_put_duration(out, sums.mean_ns);
	text_put(out, " on average would take ");
	text_put_duration(out, sums.predicted_mean_ns);
	text_put(out, "; p99 ");
	text_put_duration(out, sums.p99_ns);
	text_put(out, ", then ");
	text_put_duration(out, sums.predicted_p99_ns);
	text_put(out, "\n");
}

static void put_answer(struct text *out, const struct whatif_view *view)
{
	const struct whatif_answer *answer = view->answer;

	put_change(out, view);
	text_put(out, ": ");
	text_put_duration(out, answer->predicted_ns);
	text_put(out, ", ");
	put_gain(out, view->whatif, answer->predicted_ns);
	if (answer->least_ns != answer->most_ns) {
		text_put(out, "; at best ");
		text_put_duration(out, answer->least_ns);
		text_put(out, ", at worst ");
		text_put_duration(out, answer->most_ns);
	}
	text_put(out, "\n");
	put_span(out, view);
	put_samples(out, view);
	put_path(out, view);
}

static void put_element(struct text *out, const struct whatif_rank *rank)
{
	const struct element *element = &rank->element;

	text_put_escaped(out, element->name);
	if (element->kind == ELEMENT_CPUS)
		return;
	text_put(out, element_is_code(element->kind) ? ", running for " : ", waited for ");
	text_put_duration(out, element->ns);
	if (element_is_code(element->kind))
		text_printf(out, " (+-%.0f %%)", 100 * rank->error);
}

static void put_ranks(struct text *out, const struct whatif_view *view)
{
	text_put(out, "\nLargest gains, each alone ");
	put_scale(out, view->scale);
	text_put(out, "\n\n");
	for (size_t i = 0; i < view->rank_count; i++) {
		const struct whatif_rank *rank = &view->ranks[i];
		struct text duration = { 0 };

		text_put_duration(&duration, rank->predicted_ns);
		text_printf(out, "%3zu  %5.1f %%  %9s  %-8s  ", i + 1,
			    100 * whatif_gain(view->whatif, rank->predicted_ns), duration.bytes,
			    element_kind_name(rank->element.kind));
		text_fini(&duration);
		put_element(out, rank);
		text_put(out, "\n");
	}
	if (!view->rank_count)
		text_put(out, "None: no thread waited for anything, and none was seen where it ran.\n");
}

void whatif_put_text(struct text *out, const struct whatif_view *view)
{
	put_replay(out, view->whatif);
	if (view->answer)
		put_answer(out, view);
	else
		put_ranks(out, view);
}
