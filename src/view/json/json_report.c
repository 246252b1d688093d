/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON view, for programs. doc/report-schema.json describes it; a change that an old
 * reader would not understand raises REPORT_SCHEMA.
 */
#include "base/json.h"

#include "report/report.h"
#include "view/json/json_parts.h"
#include "view/view.h"

enum { REPORT_SCHEMA = 1 };

#ifndef PINCH_VERSION
#define PINCH_VERSION "0"
#endif

static void put_target(struct json *json, const struct report *report)
{
	json_key(json, "target");
	json_begin_object(json);
	json_put_string(json, "command", report->target.command);
	json_key(json, "pids");
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = 0; i < report->target.pid_count; i++)
		json_uint(json, report->target.pids[i]);
	json_end_array(json);
	json_put_uint(json, "wall_ns", report->target.wall_ns);
	json_key(json, "exit_status");
	if (report->target.exit_status >= 0)
		json_int(json, report->target.exit_status);
	else
		json_null(json);
	json_put_bool(json, "is_running", report->target.is_running);
	json_end_object(json);
}

static void put_totals(struct json *json, const struct report *report)
{
	json_key(json, "totals");
	json_begin_object(json);
	json_put_uint(json, "active_ns", report->totals.active_ns);
	json_put_uint(json, "stalled_ns", report->totals.stalled_ns);
	json_put_uint(json, "critical_ns", report->totals.critical_ns);
	json_put_uint(json, "cmetric_ns", report->totals.cmetric_ns);
	json_put_uint(json, "critical_cmetric_ns", report->totals.critical_cmetric_ns);
	json_key(json, "closure_error_ns");
	json_int(json, report->totals.closure_error_ns);
	json_put_double(json, "parallelism", report->totals.parallelism);
	json_put_uint(json, "nmin", report->totals.nmin);
	json_put_bool(json, "is_nmin_default", report->totals.is_nmin_default);
	json_put_bool(json, "is_spin_inactive", report->totals.is_spin_inactive);
	json_put_uint(json, "threads", report->totals.threads);
	json_put_uint(json, "alive_max", report->totals.alive_max);
	json_put_uint(json, "switches", report->totals.switches);
	json_put_uint(json, "slices", report->totals.slices);
	json_put_uint(json, "critical_slices", report->totals.critical_slices);
	json_put_uint(json, "samples", report->totals.samples);
	json_put_uint(json, "stack_tops", report->totals.stack_tops);
	json_put_uint(json, "stalls", report->totals.stalls);
	json_put_uint(json, "paths", report->path_count_all);
	json_end_object(json);
}

static void put_parallelism(struct json *json, const struct report *report)
{
	json_key(json, "parallelism");
	json_begin_array(json);
	for (size_t i = 0; i < report->parallelism_count; i++) {
		if (!report->parallelism_ns[i])
			continue;
		json_on_one_line(json);
		json_begin_object(json);
		json_put_uint(json, "active", i);
		json_put_uint(json, "ns", report->parallelism_ns[i]);
		if (report->parallelism_spinning_ns)
			json_put_uint(json, "spinning_ns", report->parallelism_spinning_ns[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "timeline");
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = 0; i < report->timeline_count; i++)
		json_double(json, report->timeline[i]);
	json_end_array(json);
}

static void put_function(struct json *json, const struct report_function *function)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "function", function->name);
	json_put_uint(json, "count", function->count);
	json_put_uint(json, "stack_tops", function->stack_top_count);
	json_key(json, "lines");
	json_begin_array(json);
	for (size_t i = 0; i < function->line_count; i++) {
		json_begin_object(json);
		json_put_string(json, "file", function->lines[i].file);
		json_put_line_number(json, function->lines[i].line);
		json_put_uint(json, "count", function->lines[i].count);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_path(struct json *json, const struct report_path *path)
{
	json_begin_object(json);
	json_put_uint(json, "rank", path->rank);
	json_put_uint(json, "cmetric_ns", path->cmetric_ns);
	json_put_double(json, "wall_share", path->wall_share);
	json_put_uint(json, "slices", path->slices);
	json_put_uint(json, "stalled_ns", path->stalled_ns);
	json_put_string(json, "cause", path->cause);
	json_put_string(json, "group", path->group);
	json_put_bool(json, "is_estimated", path->is_estimated);
	json_put_uint(json, "threads", path->thread_count);
	json_key(json, "thread_names");
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = 0; i < path->thread_name_count; i++)
		json_string(json, path->thread_names[i]);
	json_end_array(json);
	json_put_stack(json, path->frames, path->frame_count);
	json_put_stack_end(json, path->stack_end);
	json_key(json, "functions");
	json_begin_array(json);
	for (size_t i = 0; i < path->function_count; i++)
		put_function(json, &path->functions[i]);
	json_end_array(json);
	json_end_object(json);
}

static void put_trunk(struct json *json, const struct report *report)
{
	json_key(json, "trunk");
	if (!report->trunk.frame) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_uint(json, "cmetric_ns", report->trunk.cmetric_ns);
	json_put_double(json, "wall_share", report->trunk.wall_share);
	json_put_uint(json, "paths", report->trunk.path_count);
	json_put_stack(json, report->trunk.frame, 1);
	json_end_object(json);
}

static void put_paths(struct json *json, const char *key, const struct report_path *paths, size_t count)
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		put_path(json, &paths[i]);
	json_end_array(json);
}

static void put_thread(struct json *json, const struct report_thread *thread, const char *group)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "tid", thread->tid);
	json_put_uint(json, "pid", thread->pid);
	json_put_uint(json, "host_tid", thread->host_tid);
	json_put_uint(json, "host_pid", thread->host_pid);
	json_put_string(json, "name", thread->name ? thread->name : "");
	json_put_string(json, "group", group);
	json_put_uint(json, "threads", thread->thread_count > 1 ? thread->thread_count : 1);
	json_put_uint(json, "cmetric_ns", thread->cmetric_ns);
	json_put_uint(json, "cmetric_oncpu_ns", thread->cmetric_oncpu_ns);
	json_put_uint(json, "running_ns", thread->running_ns);
	json_put_uint(json, "runnable_ns", thread->runnable_ns);
	json_put_uint(json, "inactive_ns", thread->inactive_ns);
	json_put_uint(json, "blocked_ns", thread->blocked_ns);
	json_put_uint(json, "slices", thread->slices);
	json_put_uint(json, "critical_slices", thread->critical_slices);
	json_put_uint(json, "stalls_ended_ns", thread->stalls_ended_ns);
	json_end_object(json);
}

static void put_groups(struct json *json, const struct report *report)
{
	json_key(json, "groups");
	json_begin_array(json);
	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];

		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "name", group->name);
		json_put_bool(json, "is_start_function", group->is_start_function);
		json_put_uint(json, "threads", group->thread_count);
		json_put_uint(json, "cmetric_ns", group->cmetric_ns);
		json_put_double(json, "imbalance", group->imbalance);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "threads");
	json_begin_array(json);
	for (size_t i = 0; i < report->group_count; i++)
		for (size_t j = 0; j < report->groups[i].row_count; j++)
			put_thread(json, &report->groups[i].threads[j], report->groups[i].name);
	json_end_array(json);
}

static void put_losses(struct json *json, const struct report *report)
{
	json_key(json, "losses");
	json_begin_object(json);
	json_put_uint(json, "samples", report->losses.samples);
	json_put_uint(json, "records", report->losses.records);
	json_put_uint(json, "gaps", report->losses.gaps);
	json_put_uint(json, "gap_ns", report->losses.gap_ns);
	json_put_uint(json, "malformed", report->losses.malformed);
	json_put_uint(json, "late", report->losses.late);
	json_put_uint(json, "unordered", report->losses.unordered);
	json_put_uint(json, "hidden", report->losses.hidden);
	json_put_uint(json, "stacks_unreadable", report->losses.stacks_unreadable);
	json_put_uint(json, "stacks_not_kept", report->losses.stacks_not_kept);
	json_put_double(json, "keep_min", report->losses.keep_min);
	json_put_uint(json, "stacks_resent", report->losses.stacks_resent);
	json_put_uint(json, "mappings", report->losses.mappings);
	json_put_uint(json, "threads_untracked", report->losses.threads_untracked);
	json_end_object(json);
}

static void put_stacks(struct json *json, const struct report *report)
{
	json_key(json, "stacks");
	json_begin_object(json);
	json_put_uint(json, "taken", report->stacks.taken);
	json_put_uint(json, "frames", report->stacks.frames);
	json_put_uint(json, "complete", report->stacks.ends[STACK_COMPLETE]);
	json_put_uint(json, "truncated", report->stacks.ends[STACK_TRUNCATED]);
	json_put_uint(json, "no_table", report->stacks.ends[STACK_NO_TABLE]);
	json_put_uint(json, "unreadable", report->stacks.ends[STACK_UNREADABLE]);
	json_put_uint(json, "unwound_late", report->stacks.unwound_late);
	json_put_uint(json, "ns", report->stacks.ns);
	json_put_uint(json, "median_ns", report->stacks.median_ns);
	json_put_uint(json, "tables", report->stacks.tables);
	json_put_uint(json, "table_bytes", report->stacks.table_bytes);
	json_end_object(json);
}

static void put_cost(struct json *json, const struct report *report)
{
	json_key(json, "cost");
	json_begin_object(json);
	json_put_uint(json, "bpf_ns", report->cost.bpf_ns);
	json_put_uint(json, "bpf_runs", report->cost.bpf_runs);
	json_put_uint(json, "collector_cpu_ns", report->cost.collector_cpu_ns);
	json_put_uint(json, "peak_rss_bytes", report->cost.peak_rss_bytes);
	json_put_uint(json, "startup_ns", report->cost.startup_ns);
	json_put_uint(json, "post_processing_ns", report->cost.post_processing_ns);
	json_put_uint(json, "events", report->cost.events);
	json_put_uint(json, "event_bytes", report->cost.event_bytes);
	json_end_object(json);
}

static void put_pinch(struct json *json)
{
	json_key(json, "pinch");
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "version", PINCH_VERSION);
	json_put_uint(json, "schema", REPORT_SCHEMA);
	json_end_object(json);
}

static void json_show(const struct report *report, const struct view_style *style, struct text *out)
{
	struct json json;

	(void)style;
	json_init(&json, out);
	json_begin_object(&json);
	put_pinch(&json);
	put_target(&json, report);
	put_totals(&json, report);
	put_losses(&json, report);
	put_stacks(&json, report);
	put_cost(&json, report);
	put_parallelism(&json, report);
	put_paths(&json, "paths", report->paths, report->path_count);
	put_paths(&json, "stall_paths", report->stall_paths, report->stall_path_count);
	put_trunk(&json, report);
	json_put_waits(&json, report);
	json_put_klocks(&json, report);
	put_groups(&json, report);
	json_key(&json, "notes");
	json_begin_array(&json);
	for (size_t i = 0; i < report->note_count; i++)
		json_string(&json, report->notes[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
}

const struct view json_view = {
	.name = "json",
	.summary = "for programs: everything, as doc/report-schema.json describes",
	.show = json_show,
};
