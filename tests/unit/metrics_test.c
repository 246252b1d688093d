/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of a report that grows: what falls, goes, comes twice, or is too much. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "test.h"
#include "view/metrics/metrics.h"

enum { LOCKS = 300 };

static struct metrics *metrics;
static struct text told;

static void take(const struct report *report)
{
	metrics_take(metrics, report, &(struct metrics_now){ 0 });
	told.length = 0;
	metrics_put(metrics, false, &told);
}

static bool says(const char *line)
{
	return strstr(told.bytes, line);
}

static void begin(void)
{
	metrics = metrics_new();
}

static void end(void)
{
	metrics_free(metrics);
	text_fini(&told);
	told = (struct text){ 0 };
}

static struct report_lock lock(const char *name, uint64_t wait_ns)
{
	return (struct report_lock){ .name = name, .kind = "mutex", .address = "0x1", .wait_ns = wait_ns };
}

TEST(counters_never_fall)
{
	struct report_lock locks[] = { lock("a", 1500000000) };
	struct report report = { .locks = locks, .lock_count = 1 };

	begin();
	take(&report);
	CHECK(says("pinch_lock_wait_seconds_total{lock=\"a\",kind=\"mutex\",address=\"0x1\"} 1.500000000\n"));
	locks[0].wait_ns = 1000000000;
	take(&report);
	CHECK(says("address=\"0x1\"} 1.500000000\n"));
	locks[0].wait_ns = 2000000001;
	take(&report);
	CHECK(says("address=\"0x1\"} 2.000000001\n"));
	end();
}

TEST(what_was_told_is_told_again)
{
	struct report_lock locks[] = { lock("a", 1000000000) };
	struct report_root roots[] = { { .ns = 5, .kind = ROOT_CODE, .cause = CAUSE_UNKNOWN } };
	struct report report = { .locks = locks, .lock_count = 1, .blame = { .roots = roots, .root_count = 1 } };

	begin();
	take(&report);
	CHECK(says("pinch_root_cause_seconds{"));
	report.lock_count = report.blame.root_count = 0;
	take(&report);
	CHECK(says("pinch_lock_wait_seconds_total{"));
	CHECK(!says("pinch_root_cause_seconds{"));
	end();
}

TEST(rows_of_the_same_labels_are_one)
{
	struct report_lock locks[] = { lock("a", 1), lock("a", 2) };
	struct report report = { .locks = locks, .lock_count = 2 };

	begin();
	take(&report);
	CHECK(says("address=\"0x1\"} 0.000000003\n"));
	end();
}

TEST(labels_are_escaped)
{
	struct report_lock locks[] = { lock("a\"b\\c\nd\xff", 1) };
	struct report report = { .locks = locks, .lock_count = 1 };

	begin();
	take(&report);
	CHECK(says("lock=\"a\\\"b"));
	CHECK(!says("\nd"));
	CHECK(!says("\xff"));
	end();
}

TEST(too_many_are_counted)
{
	static char names[LOCKS][8];
	static struct report_lock locks[LOCKS];
	struct report report = { .locks = locks, .lock_count = LOCKS };

	begin();
	for (int i = 0; i < LOCKS; i++) {
		snprintf(names[i], sizeof(names[i]), "l%d", i);
		locks[i] = lock(names[i], 1);
	}
	take(&report);
	/* Of two families. */
	CHECK(says("pinch_series_left_out 88\n"));
	end();
}

/* Gauges come and go without end: none takes the space of one to come. */
TEST(gauges_that_are_gone_leave_room)
{
	struct report_root root = { .ns = 1, .kind = ROOT_CODE, .cause = CAUSE_UNKNOWN };
	struct report report = { .blame = { .roots = &root, .root_count = 1 } };
	char object[16];

	begin();
	root.object = object;
	for (int i = 0; i < 1000; i++) {
		snprintf(object, sizeof(object), "o%d", i);
		take(&report);
	}
	CHECK(says("object=\"o999\""));
	CHECK(says("pinch_series_left_out 0\n"));
	end();
}

/* A group that becomes another one: nothing falls, and nothing is there twice. */
TEST(what_moves_is_told_once)
{
	struct report_thread thread = { .running_ns = 7 };
	struct report_group group = { .name = "before", .threads = &thread, .row_count = 1, .cmetric_ns = 7 };
	struct report report = { .groups = &group, .group_count = 1 };

	begin();
	take(&report);
	group.name = "after";
	group.cmetric_ns = thread.running_ns = 10;
	take(&report);
	CHECK(says("pinch_group_seconds_total{group=\"before\",state=\"running\"} 0.000000007\n"));
	CHECK(says("pinch_group_seconds_total{group=\"after\",state=\"running\"} 0.000000003\n"));
	CHECK(says("pinch_group_cmetric_seconds_total{group=\"before\"} 0.000000007\n"));
	group.cmetric_ns = thread.running_ns = 11;
	take(&report);
	CHECK(says("pinch_group_seconds_total{group=\"after\",state=\"running\"} 0.000000004\n"));
	end();
}
