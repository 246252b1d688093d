/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/compare_reports.h"

#include "compare/comparison.h"
#include "compare/reported_code.h"
#include "engine/replay.h"
#include "findings/findings.h"
#include "options/settings.h"
#include "report/report.h"

static int open_one(struct compare_reports *reports, const struct settings *settings, const char *path,
		    size_t path_count_max)
{
	size_t at = reports->count;
	int err = replay_open(path,
			      &(struct replay_options){
				      .has_critical_slices = settings->has_critical_slices,
				      .opens_files = settings->opens_files,
			      },
			      &reports->replays[at]);

	if (err)
		return err;
	reports->findings[at] = replay_findings(reports->replays[at], path_count_max);
	reports->reports[at] = findings_report(reports->findings[at]);
	reports->paths[at] = path;
	reports->count++;
	return 0;
}

int compare_reports_open(struct compare_reports *reports, const struct settings *settings, char **paths, size_t count,
			 size_t path_count_max)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = open_one(reports, settings, paths[i], path_count_max);
	if (!err)
		configurations_find(reports->reports, count, &reports->configurations);
	return err;
}

void compare_reports_close(struct compare_reports *reports)
{
	code_changes_fini(&reports->function_changes);
	code_changes_fini(&reports->path_changes);
	for (size_t i = 0; i < SIDES; i++) {
		side_code_fini(&reports->functions[i]);
		side_code_fini(&reports->call_paths[i]);
	}
	configurations_fini(&reports->configurations);
	for (size_t i = 0; i < reports->count; i++) {
		findings_free(reports->findings[i]);
		replay_close(reports->replays[i]);
	}
	*reports = (struct compare_reports){ 0 };
}

/* Critical CMetric by one N_min is not to be compared with that by another one, nor with all CMetric. */
static bool has_paths_of_one_kind(const struct compare_reports *reports)
{
	const struct report *first = reports->reports[FIRST_SIDE], *second = reports->reports[SECOND_SIDE];

	return first->code.is_critical == second->code.is_critical && first->totals.nmin == second->totals.nmin;
}

void compare_reports_find(struct compare_reports *reports, const struct comparison *comparison)
{
	double scales[SIDES], least_ns = comparison_least_ns(comparison);

	for (unsigned int i = 0; i < SIDES; i++) {
		const struct fold_rules *fold = replay_fold_rules(reports->replays[i]);
		const struct report *report = reports->reports[i];

		scales[i] = comparison->is_per_second && report->target.wall_ns ? 1e9 / report->target.wall_ns : 1;
		side_code_init(&reports->functions[i]);
		side_code_init(&reports->call_paths[i]);
		reported_code_add_functions(&reports->functions[i], report, fold);
		if (has_paths_of_one_kind(reports))
			reported_code_add_paths(&reports->call_paths[i], report, fold);
	}
	code_changes_find(reports->functions, scales, least_ns, true, &reports->function_changes);
	code_changes_find(reports->call_paths, scales, least_ns, false, &reports->path_changes);
}
