/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "view/html/fold_part.h"
#include "view/html/timelines.h"
#include "view/json/json_fields.h"
#include "view/json/json_parts.h"
#include "view/view.h"

static void put_klocks(struct text *out, const struct report *report)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "duration_ns", report->target.wall_ns);
	json_put_members(&json, report_klocks_type(), &report->kernel_locks);
	json_end_object(&json);
	json_fini(&json);
}

/* --- So that a page can be used soon, whatever was traced ------------------------------------- */

enum { WAITS_MAX = 1000, WAKERS_MAX = 8, FUNCTIONS_MAX = 8, LINES_MAX = 3 }; /* what is beyond is in the JSON alone */
enum { LOCKS_WITH_UNLOCKERS_MAX = 1000 };

/*
 * A report without what a page does not show, or has no space for. What it points to is the report's, except
 * for copies.
 */
struct excerpt {
	struct report report;
	struct report_wait *waits;
	struct report_lock *locks;
	struct report_path *paths;
	struct report_function *functions; /* [path_count][FUNCTIONS_MAX] */
};

static size_t at_most(size_t count, size_t count_max)
{
	return count < count_max ? count : count_max;
}

static void take_paths(struct excerpt *excerpt)
{
	struct report *report = &excerpt->report;

	excerpt->paths = xcalloc(report->path_count + 1, sizeof(*excerpt->paths));
	excerpt->functions = xcalloc(report->path_count * FUNCTIONS_MAX + 1, sizeof(*excerpt->functions));
	for (size_t i = 0; i < report->path_count; i++) {
		struct report_function *functions = excerpt->functions + i * FUNCTIONS_MAX;
		struct report_path *path = &excerpt->paths[i];

		*path = report->paths[i];
		path->function_count = at_most(path->function_count, FUNCTIONS_MAX);
		for (size_t k = 0; k < path->function_count; k++) {
			functions[k] = path->functions[k];
			functions[k].line_count = at_most(functions[k].line_count, LINES_MAX);
		}
		path->functions = functions;
	}
	report->paths = excerpt->paths;
}

static void take_waits(struct excerpt *excerpt)
{
	struct report *report = &excerpt->report;

	report->wait_count = at_most(report->wait_count, WAITS_MAX);
	excerpt->waits = xcalloc(report->wait_count + 1, sizeof(*excerpt->waits));
	for (size_t i = 0; i < report->wait_count; i++) {
		excerpt->waits[i] = report->waits[i];
		excerpt->waits[i].waker_count = at_most(report->waits[i].waker_count, WAKERS_MAX);
	}
	report->waits = excerpt->waits;
}

static void take_locks(struct excerpt *excerpt)
{
	struct report *report = &excerpt->report;

	excerpt->locks = xcalloc(report->lock_count + 1, sizeof(*excerpt->locks));
	for (size_t i = 0; i < report->lock_count; i++) {
		excerpt->locks[i] = report->locks[i];
		excerpt->locks[i].unlocker_count =
			i < LOCKS_WITH_UNLOCKERS_MAX ? at_most(report->locks[i].unlocker_count, WAKERS_MAX) : 0;
	}
	report->locks = excerpt->locks;
}

/* There may be so many kernel locks that they must not keep the rest from being shown. */
static void excerpt_init(struct excerpt *excerpt, const struct report *report)
{
	excerpt->report = *report;
	excerpt->report.kernel_locks = (struct report_klocks){ 0 };
	take_paths(excerpt);
	take_waits(excerpt);
	take_locks(excerpt);
}

static void excerpt_fini(struct excerpt *excerpt)
{
	free(excerpt->waits);
	free(excerpt->locks);
	free(excerpt->paths);
	free(excerpt->functions);
}

/* By cause: charts of waits have those, too. */
static void put_left_out_waits(struct json *json, const struct report *report)
{
	for (size_t i = 0; i < report->balance.threads.cause_count; i++) {
		enum wait_cause cause = report->balance.threads.causes[i].cause;
		uint64_t waits = 0, wait_ns = 0;

		for (size_t k = WAITS_MAX; k < report->wait_count; k++) {
			const struct report_wait *wait = &report->waits[k];

			if (wait->cause != cause)
				continue;
			waits++;
			wait_ns += wait->wait_ns - wait->idle_ns;
		}
		if (!waits)
			continue;
		json_begin_object(json);
		json_put_string(json, "cause", wait_cause_name(cause));
		json_put_uint(json, "waits", waits);
		json_put_uint(json, "wait_ns", wait_ns);
		json_end_object(json);
	}
}

static void put_left_out(struct text *out, const struct report *report)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_key(&json, "waits");
	json_begin_array(&json);
	put_left_out_waits(&json, report);
	json_end_array(&json);
	json_put_uint(&json, "locks_with_unlockers", at_most(report->lock_count, LOCKS_WITH_UNLOCKERS_MAX));
	json_end_object(&json);
	json_fini(&json);
}

void html_add_excerpt(struct html *html, const char *name, const char *left_out, const struct report *report)
{
	struct excerpt excerpt;

	excerpt_init(&excerpt, report);
	json_view.show(&excerpt.report, &(struct view_style){ 0 }, html_part(html, name));
	if (report->wait_count > WAITS_MAX || report->lock_count > LOCKS_WITH_UNLOCKERS_MAX)
		put_left_out(html_part(html, left_out), report);
	excerpt_fini(&excerpt);
}

void html_add_report(struct html *html, const struct report *report, const struct fold_rules *fold)
{
	html_add_excerpt(html, "report", "left_out", report);
	fold_part_put(html_part(html, "folds"), report, fold);
	if (report->kernel_locks.waits || html_begins_with(html, "klock"))
		put_klocks(html_part(html, "klock"), report);
	if (report->strip_count && !html_has_part(html, "timelines"))
		timelines_put_report(html_part(html, "timelines"), report);
}
