/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the report of a whole run says of the CMetric of its code. */
#pragma once

struct fold_rules;
struct report;
struct side_code;

/* Adds to code, which is empty, the CMetric of functions, at any number of active threads. */
void reported_code_add_functions(struct side_code *code, const struct report *report, const struct fold_rules *fold);

/*
 * The same of call paths, as the report ranks them: by critical CMetric if report.code.is_critical. One is called
 * "function < caller", both of the program's own: only self counts.
 */
void reported_code_add_paths(struct side_code *code, const struct report *report, const struct fold_rules *fold);
