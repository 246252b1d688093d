/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did in the parts of their time that options choose, for the report: by state, by what was waited for, by thread. */
#pragma once

#include <stdbool.h>

#include "report/report.h"

struct arena;
struct fold_rules;
struct settings;

/* Begins zeroed. */
struct chosen_parts {
	bool is_asked;
	struct report_parts report;
	struct arena *arena; /* of all that it points to */
};

/*
 * Makes the history of states of the trace if there is none yet. Without --cpu and --spans it does nothing. 0, or a negative errno after a
 * message: -EINVAL: options are wrong. The caller ends it with chosen_parts_fini().
 */
int chosen_parts_find(const struct settings *settings, const char *trace_path, const struct fold_rules *fold,
		      struct chosen_parts *out);
void chosen_parts_fini(struct chosen_parts *parts);

/* Puts them into the report, which they must outlive. */
void chosen_parts_fill(const struct chosen_parts *parts, struct report *report);
