/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_activities_fixture.h"

#include "report/report.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { US = 1000, MS = 1000000 };

static const struct report_activity activities[] = {
	{
		.name = "request",
		.count = 15210,
		.total_ns = 5400ull * MS,
		.p50_ns = 290 * US,
		.p99_ns = 2 * MS,
		.max_ns = 118 * MS,
		.max_at_ns = 1530ull * MS,
		.max_tid = 814,
		.max_thread = "shop-worker-3",
	},
	{
		.script = "share/scripts/mutex.lua",
		.name = "mutex held",
		.count = 30114,
		.total_ns = 912ull * MS,
		.p50_ns = 9 * US,
		.p99_ns = 210 * US,
		.max_ns = 31 * MS,
		.max_at_ns = 1610ull * MS,
		.max_tid = 813,
		.max_thread = "shop-worker-2",
	},
	{
		.script = "startup.lua",
		.name = "startup",
		.count = 1,
		.total_ns = 40 * MS,
		.p50_ns = 40 * MS,
		.p99_ns = 40 * MS,
		.max_ns = 40 * MS,
		.max_at_ns = -2 * MS,
	},
};

static const struct report_hint hints[] = {
	{
		.kind = HINT_UNENDED,
		.name = "shop.REQUEST",
		.count = 1,
		.others = 15210,
		.at_ns = 1210ull * MS,
		.tid = 813,
		.thread = "shop-worker-2",
	},
	{
		.kind = HINT_ORDER,
		.name = "shop.COMMIT, then shop.LOOK",
		.count = 2,
		.others = 15208,
		.at_ns = 1530ull * MS,
		.tid = 814,
		.thread = "shop-worker-3",
	},
	{
		.kind = HINT_LENGTH,
		.name = "request",
		.count = 1,
		.others = 15209,
		.ns = 118 * MS,
		.usual_ns = 2 * MS,
		.at_ns = 1530ull * MS,
		.tid = 814,
		.thread = "shop-worker-3",
	},
	{
		.kind = HINT_SILENCE,
		.name = "shop.LOOK",
		.count = 1,
		.others = 15208,
		.ns = 310 * MS,
		.usual_ns = 1 * MS,
		.at_ns = 1800ull * MS,
		.tid = 813,
		.thread = "shop-worker-2",
	},
	{
		.kind = HINT_BURST,
		.name = "shop.RETRY",
		.count = 4020,
		.others = 12,
		.ns = 10 * MS,
		.at_ns = 1820ull * MS,
	},
};

void report_activities_set(struct report *report)
{
	report->activities = activities;
	report->activity_count = COUNT(activities);
	report->hints = hints;
	report->hint_count = COUNT(hints);
}

void report_activities_set_hostile(struct report *report, const char *evil)
{
	static struct report_hint hint = {
		.kind = HINT_LENGTH,
		.count = UINT32_MAX,
		.others = UINT32_MAX,
		.ns = INT64_MAX,
		.usual_ns = INT64_MAX,
		.at_ns = INT64_MIN,
		.tid = UINT32_MAX,
	};
	static struct report_activity activity = {
		.count = UINT32_MAX,
		.total_ns = INT64_MAX,
		.p50_ns = INT64_MAX,
		.p99_ns = INT64_MAX,
		.max_ns = INT64_MAX,
		.max_at_ns = INT64_MIN,
		.max_tid = UINT32_MAX,
	};

	activity.name = activity.script = activity.max_thread = evil;
	report->activities = &activity;
	report->activity_count = 1;
	hint.name = hint.thread = evil;
	report->hints = &hint;
	report->hint_count = 1;
}
