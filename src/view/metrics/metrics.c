/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/metrics/metrics.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report.h"

enum { SERIES_MAX = 256, PARTS_MAX = 3, NS_DIGITS = 9, NS_A_SECOND = 1000000000 };

/* A SHARED counter's series are all there in each report, and what one of them loses another one has got. */
enum metric_type { COUNTER, SHARED, GAUGE };
enum metric_unit { SECONDS, BYTES, ONE, SHARE };

/* clang-format off */
#define FAMILY(name, type, unit, meaning) FAMILY_##name,
enum metric_family {
#include "view/metrics/metric_families.def"
	FAMILIES,
};
#undef FAMILY

static const struct {
	const char *name, *meaning;
	enum metric_type type;
	enum metric_unit unit;
} families[] = {
#define FAMILY(name, type, unit, meaning) { #name, meaning, type, unit },
#include "view/metrics/metric_families.def"
#undef FAMILY
};
/* clang-format on */

static const char *const unit_names[] = { [SECONDS] = "seconds", [BYTES] = "bytes" };

struct series {
	char *labels;      /* "" or "{a=\"b\"}" */
	uint64_t key;      /* of family and labels */
	uint64_t value;    /* as it is written */
	uint64_t now;      /* in the report of this turn: of rows with the same labels, the sum */
	uint64_t last;     /* in the one before */
	unsigned int part; /* of a family: what one of its series loses, others of this part have got */
	uint32_t turn;
};

struct family {
	struct series list[SERIES_MAX];
	size_t count;
	uint64_t moved[PARTS_MAX]; /* what series have lost, and none has got so far */
};

struct metrics {
	struct family families[FAMILIES];
	struct table *by_labels; /* of all families */
	struct text labels;      /* that are being made */
	uint64_t left_out;
	uint32_t turn;
};

struct metrics *metrics_new(void)
{
	struct metrics *metrics = xcalloc(1, sizeof(*metrics));

	metrics->by_labels = table_new();
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < FAMILIES; i++)
		for (size_t k = 0; k < metrics->families[i].count; k++)
			free(metrics->families[i].list[k].labels);
	table_free(metrics->by_labels);
	text_fini(&metrics->labels);
	free(metrics);
}

/* --- Labels ------------------------------------------------------------------------------------- */

/* What names things is escaped first, as everywhere: so only what the format itself needs is left. */
static void put_label(struct metrics *metrics, const char *name, const char *value)
{
	struct text shown = { 0 };

	text_put_escaped(&shown, value ? value : "");
	text_printf(&metrics->labels, "%s%s=\"", metrics->labels.length ? "," : "{", name);
	for (size_t i = 0; i < shown.length; i++) {
		if (shown.bytes[i] == '"' || shown.bytes[i] == '\\')
			text_put(&metrics->labels, "\\");
		text_put_bytes(&metrics->labels, shown.bytes + i, 1);
	}
	text_put(&metrics->labels, "\"");
	text_fini(&shown);
}

/* A gauge that the last report did not have is not written any more: its space is for another one. */
static struct series *reuse(struct metrics *metrics, struct family *family)
{
	for (size_t i = 0; i < family->count; i++) {
		struct series *series = &family->list[i];

		if (series->turn == metrics->turn)
			continue;
		table_take(metrics->by_labels, series->key);
		free(series->labels);
		return series;
	}
	return NULL;
}

static struct series *add_series(struct metrics *metrics, enum metric_family of, uint64_t key, const char *labels)
{
	struct family *family = &metrics->families[of];
	struct series *series = NULL;

	if (family->count < SERIES_MAX)
		series = &family->list[family->count++];
	else if (families[of].type == GAUGE)
		series = reuse(metrics, family);
	if (!series) {
		metrics->left_out++;
		return NULL;
	}
	*series = (struct series){ .labels = xstrdup(labels), .key = key };
	table_put(metrics->by_labels, key, series);
	return series;
}

/* A figure with the labels made so far, which are none then. */
static void put_part(struct metrics *metrics, enum metric_family of, unsigned int part, uint64_t value)
{
	const char *labels;
	struct series *series;
	uint64_t key;

	if (metrics->labels.length)
		text_put(&metrics->labels, "}");
	labels = metrics->labels.length ? metrics->labels.bytes : "";
	key = hash_string(hash_u64(of), labels);
	series = table_find(metrics->by_labels, key);
	if (!series)
		series = add_series(metrics, of, key, labels);
	metrics->labels.length = 0;
	if (!series)
		return;
	series->now = (series->turn == metrics->turn ? series->now : 0) + value;
	series->turn = metrics->turn;
	series->part = part;
}

static void put(struct metrics *metrics, enum metric_family of, uint64_t value)
{
	put_part(metrics, of, 0, value);
}

/* --- Figures ------------------------------------------------------------------------------------ */

static void take_groups(struct metrics *metrics, const struct report *report)
{
	static const char *const names[PARTS_MAX] = { "running", "runnable", "blocked" };

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];
		uint64_t ns[PARTS_MAX] = { 0 };

		for (size_t k = 0; k < group->row_count; k++) {
			ns[0] += group->threads[k].running_ns;
			ns[1] += group->threads[k].cpu_wait_ns;
			ns[2] += group->threads[k].blocked_ns;
		}
		for (unsigned int k = 0; k < PARTS_MAX; k++) {
			put_label(metrics, "group", group->name);
			put_label(metrics, "state", names[k]);
			put_part(metrics, FAMILY_group_seconds, k, ns[k]);
		}
		put_label(metrics, "group", group->name);
		put(metrics, FAMILY_group_cmetric_seconds, group->cmetric_ns);
	}
}

static void take_causes(struct metrics *metrics, const struct report_thread_balance *balance)
{
	for (size_t i = 0; i < balance->cause_count; i++) {
		const struct report_cause *cause = &balance->causes[i];
		const char *name = wait_cause_name(cause->cause);

		put_label(metrics, "cause", name);
		put_label(metrics, "idle", "false");
		put(metrics, FAMILY_wait_seconds, cause->wait_ns - cause->idle_ns);
		put_label(metrics, "cause", name);
		put_label(metrics, "idle", "true");
		put(metrics, FAMILY_wait_seconds, cause->idle_ns);
		put_label(metrics, "cause", name);
		put(metrics, FAMILY_waits, cause->waits);
	}
}

static void put_lock_labels(struct metrics *metrics, const struct report_lock *lock)
{
	put_label(metrics, "lock", lock->name ? lock->name : lock->where);
	put_label(metrics, "kind", lock->kind);
	put_label(metrics, "address", lock->address);
}

static void take_locks(struct metrics *metrics, const struct report *report)
{
	for (size_t i = 0; i < report->lock_count; i++) {
		put_lock_labels(metrics, &report->locks[i]);
		put(metrics, FAMILY_lock_wait_seconds, report->locks[i].wait_ns);
		put_lock_labels(metrics, &report->locks[i]);
		put(metrics, FAMILY_lock_waits, report->locks[i].waits);
	}
}

/* Without figures, which would make a new series each time. */
static void put_cause_labels(struct metrics *metrics, const char *kind, const char *object,
			     const struct report_frame *frame)
{
	put_label(metrics, "kind", kind);
	put_label(metrics, "object", object);
	put_label(metrics, "function", !frame ? NULL : frame->function ? frame->function : frame->module);
}

static void take_roots(struct metrics *metrics, const struct report_blame *blame)
{
	for (size_t i = 0; i < blame->root_count; i++) {
		const struct report_root *root = &blame->roots[i];

		put_cause_labels(metrics, root_kind_name(root->kind), root->object,
				 root->frame_count ? root->frames : NULL);
		put_label(metrics, "cause", wait_cause_name(root->cause));
		put(metrics, FAMILY_root_cause_seconds, root->ns);
	}
}

static void take_verdict(struct metrics *metrics, const struct report_verdict *verdict)
{
	if (!verdict->line_count)
		return;
	put_cause_labels(metrics, verdict_kind_name(verdict->kind), verdict->object,
			 verdict->cause_frame_count ? verdict->cause_path : NULL);
	put_label(metrics, "thread", verdict->blocker ? verdict->blocker->name : NULL);
	put_label(metrics, "confidence", confidence_name(verdict->confidence));
	put(metrics, FAMILY_verdict_share, (uint64_t)(verdict->share * NS_A_SECOND));
}

static void take_totals(struct metrics *metrics, const struct report *report)
{
	put_label(metrics, "version", PINCH_VERSION);
	put(metrics, FAMILY_build, 1);
	put(metrics, FAMILY_wall_seconds, report->target.wall_ns);
	put(metrics, FAMILY_active_seconds, report->totals.active_ns);
	put(metrics, FAMILY_stalled_seconds, report->totals.stalled_ns);
	put(metrics, FAMILY_threads_seen, report->totals.threads);
	put(metrics, FAMILY_switches, report->totals.switches);
	put(metrics, FAMILY_collector_cpu_seconds, report->cost.collector_cpu_ns);
	put(metrics, FAMILY_bpf_seconds, report->cost.bpf_ns);
	put(metrics, FAMILY_events, report->cost.events);
	put(metrics, FAMILY_resident_peak_bytes, report->cost.peak_rss_bytes);
	put(metrics, FAMILY_lost_records, report->losses.records);
	put(metrics, FAMILY_gap_seconds, report->losses.gap_ns);
}

/* --- What is written ---------------------------------------------------------------------------- */

/* Locks that the report has no more are those with less time than others: they have what they had. */
static void tell_counter(const struct metrics *metrics, struct series *series)
{
	if (series->turn == metrics->turn && series->now > series->value)
		series->value = series->now;
}

/*
 * A thread that gets another name is of another group from then on, with all that it ever did; and why a thread waits may be known
 * late. What was written stays with the series that had it: so no counter falls, and their sum is that of the report.
 */
static void tell_shared(const struct metrics *metrics, struct family *family)
{
	for (size_t i = 0; i < family->count; i++) {
		struct series *series = &family->list[i];

		if (series->turn != metrics->turn)
			series->now = 0;
		if (series->now < series->last)
			family->moved[series->part] += series->last - series->now;
	}
	for (size_t i = 0; i < family->count; i++) {
		struct series *series = &family->list[i];
		uint64_t *moved = &family->moved[series->part];
		uint64_t rise = series->now > series->last ? series->now - series->last : 0;
		uint64_t told = rise < *moved ? rise : *moved;

		*moved -= told;
		series->value += rise - told;
		series->last = series->now;
	}
}

static void tell(struct metrics *metrics)
{
	for (size_t i = 0; i < FAMILIES; i++) {
		struct family *family = &metrics->families[i];

		if (families[i].type == SHARED)
			tell_shared(metrics, family);
		for (size_t k = 0; families[i].type == COUNTER && k < family->count; k++)
			tell_counter(metrics, &family->list[k]);
		for (size_t k = 0; families[i].type == GAUGE && k < family->count; k++)
			family->list[k].value = family->list[k].now;
	}
}

void metrics_take(struct metrics *metrics, const struct report *report, const struct metrics_now *now)
{
	metrics->turn++;
	metrics->left_out = 0;
	take_totals(metrics, report);
	put(metrics, FAMILY_threads_alive, now->threads_alive);
	put(metrics, FAMILY_threads_active, now->threads_active);
	take_groups(metrics, report);
	take_causes(metrics, &report->balance.threads);
	take_locks(metrics, report);
	take_roots(metrics, &report->blame);
	take_verdict(metrics, &report->verdict);
	put(metrics, FAMILY_series_left_out, metrics->left_out);
	tell(metrics);
}

/* --- The text ----------------------------------------------------------------------------------- */

static void put_head(enum metric_family of, bool is_openmetrics, struct text *out)
{
	const char *total = families[of].type != GAUGE && !is_openmetrics ? "_total" : "";
	const char *unit = unit_names[families[of].unit];

	text_printf(out, "# HELP pinch_%s%s %s\n", families[of].name, total, families[of].meaning);
	text_printf(out, "# TYPE pinch_%s%s %s\n", families[of].name, total,
		    families[of].type == GAUGE ? "gauge" : "counter");
	if (unit && is_openmetrics)
		text_printf(out, "# UNIT pinch_%s %s\n", families[of].name, unit);
}

static void put_value(enum metric_unit unit, uint64_t value, struct text *out)
{
	bool is_whole = unit == BYTES || unit == ONE;

	text_put_decimal(out, is_whole ? value : value / NS_A_SECOND, 1);
	if (is_whole)
		return;
	text_put(out, ".");
	text_put_decimal(out, value % NS_A_SECOND, NS_DIGITS);
}

/* A gauge that the last report did not have is none. */
static bool is_told(const struct metrics *metrics, enum metric_family of, const struct series *series)
{
	return families[of].type != GAUGE || series->turn == metrics->turn;
}

void metrics_put(const struct metrics *metrics, bool is_openmetrics, struct text *out)
{
	for (unsigned int of = 0; of < FAMILIES; of++) {
		put_head(of, is_openmetrics, out);
		for (size_t i = 0; i < metrics->families[of].count; i++) {
			const struct series *series = &metrics->families[of].list[i];

			if (!is_told(metrics, of, series))
				continue;
			text_printf(out, "pinch_%s%s%s ", families[of].name, families[of].type == GAUGE ? "" : "_total",
				    series->labels);
			put_value(families[of].unit, series->value, out);
			text_put(out, "\n");
		}
	}
	if (is_openmetrics)
		text_put(out, "# EOF\n");
}
