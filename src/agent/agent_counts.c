/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_counts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"

enum { LINE_BYTES = 4096 };

static const double ns_a_second = 1e9;

static void put(struct text *out, bool is_openmetrics, const char *name, bool is_counter, double value,
		const char *meaning)
{
	const char *total = is_counter ? "_total" : "", *head = is_openmetrics ? "" : total;

	text_printf(out, "# HELP pinch_agent_%s%s %s\n", name, head, meaning);
	text_printf(out, "# TYPE pinch_agent_%s%s %s\n", name, head, is_counter ? "counter" : "gauge");
	text_printf(out, "pinch_agent_%s%s %.9g\n", name, total, value);
}

void agent_counts_put(const struct agent_counts *counts, double budget, bool is_openmetrics, struct text *out)
{
	double since = counts->since_begin_ns ? (double)counts->since_begin_ns : 1;

	put(out, is_openmetrics, "windows", true, counts->windows, "Windows that were watched whole.");
	put(out, is_openmetrics, "triggered_windows", true, counts->triggered, "Of them, those that a trigger began.");
	put(out, is_openmetrics, "ignored_triggers", true, counts->ignored, "Triggers for which there was no budget.");
	put(out, is_openmetrics, "failed_windows", true, counts->failed, "Windows of which something failed.");
	put(out, is_openmetrics, "watched_seconds", true, counts->watched_ns / ns_a_second, "Time in windows.");
	put(out, is_openmetrics, "coverage", false, counts->watched_ns / since,
	    "Of the time so far, what was in windows.");
	put(out, is_openmetrics, "cpu_seconds", true, counts->cpu_ns / ns_a_second,
	    "CPU time that watching took, in the kernel, too.");
	put(out, is_openmetrics, "budget", false, budget, "Of the machine's CPU time, what watching may take.");
	put(out, is_openmetrics, "rollup_bytes", true, counts->rollup_bytes, "Size of rollups.");
	put(out, is_openmetrics, "trace_bytes", false, counts->store_bytes, "Size of the traces that are kept.");
	if (is_openmetrics)
		text_put(out, "# EOF\n");
}

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

int agent_rollup_read(const char *path, struct agent_rollup *rollup)
{
	char line[LINE_BYTES];
	FILE *file = fopen(path, "re");
	struct stat status;
	json_t *first = NULL;

	if (file && fgets(line, sizeof(line), file) && !fstat(fileno(file), &status))
		first = json_loads(line, 0, NULL);
	if (file)
		fclose(file);
	if (!json_is_object(first) || number(first, "rollup") != 1) {
		json_decref(first);
		return -EBADMSG;
	}
	*rollup = (struct agent_rollup){ number(first, "watched_ns"), number(first, "bpf_ns"), status.st_size };
	json_decref(first);
	return 0;
}
