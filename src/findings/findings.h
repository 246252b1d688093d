/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a report of what the analyses hold: merges equal call paths of different processes,
 * ranks, names and groups.
 *
 * Owns: the making of a report, part after part.
 * Used by: engine, query, show, live, cmd.
 */
#pragma once

#include "findings/parts/findings_input.h"
#include "report/report.h"

struct findings;

struct findings *findings_new(const struct findings_input *input);
void findings_free(struct findings *findings);

/*
 * The report, with all that the analyses know filled in: the caller adds the target, the
 * losses and the costs that only it knows of. Lives until findings_free().
 */
struct report *findings_report(struct findings *findings);
