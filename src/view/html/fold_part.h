/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the folding rules say of the frames of a report: the page names and colours call paths as the text does. */
#pragma once

struct fold_rules;
struct report;
struct text;

/*
 * JSON: each distinct frame of which a rule says something, as [function, module, label], "-": plumbing that is shown.
 * Function and module are as the report's JSON has them, or null.
 */
void fold_part_put(struct text *out, const struct report *report, const struct fold_rules *fold);
