/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reports of whole runs that are compared. */
#pragma once

#include <stddef.h>

#include "compare/code_changes.h"
#include "compare/configurations.h"
#include "compare/side_code.h"

struct comparison;
struct settings;

enum { COMPARED_TRACES_MAX = 16 };

/* The struct begins zeroed. */
struct compare_reports {
	struct replay *replays[COMPARED_TRACES_MAX];
	struct findings *findings[COMPARED_TRACES_MAX];
	const struct report *reports[COMPARED_TRACES_MAX];
	const char *paths[COMPARED_TRACES_MAX]; /* of the traces; borrowed */
	size_t count;                           /* 0: there are none */
	struct configurations configurations;
	/* Of two: what has another CMetric. */
	struct side_code functions[2], call_paths[2];
	struct code_changes function_changes, path_changes;
};

/* Reads the traces; 0, or a negative errno after a message. The caller closes it in either case. */
int compare_reports_open(struct compare_reports *reports, const struct settings *settings, char **paths, size_t count,
			 size_t path_count_max);
void compare_reports_close(struct compare_reports *reports);

/* Of two reports: finds the changes. */
void compare_reports_find(struct compare_reports *reports, const struct comparison *comparison);
