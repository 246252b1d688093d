/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What would have made a run shorter, for its report: a first estimate, from a trace that is not too large. */
#pragma once

#include <stdbool.h>

#include "report/report.h"

struct arena;
struct fold_rules;
struct wait_choice;

/* Larger traces are not replayed for a report. */
enum { REPORT_WHATIFS_MAX = 3, REPORT_WHATIFS_TRACE_BYTES_MAX = 1 << 20 };

/* The struct begins zeroed. */
struct report_whatifs {
	struct report_whatif list[REPORT_WHATIFS_MAX];
	size_t count;
	struct arena *arena; /* of names */
};

/*
 * Finds none unless the trace is that of a whole run without losses and its replay can be trusted; report: of that
 * run. choice: only changes of its waits; NULL: any. Nothing of it stays on the disk. The caller ends it with report_whatifs_fini().
 */
void report_whatifs_find(const char *trace_path, bool opens_files, const struct fold_rules *fold,
			 const struct report *report, const struct wait_choice *choice, struct report_whatifs *out);
void report_whatifs_fini(struct report_whatifs *whatifs);

/* Puts them into the report, which they must outlive. */
void report_whatifs_fill(const struct report_whatifs *whatifs, struct report *report);
