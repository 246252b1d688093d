/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code as the verdict: what runs while few other threads do. */
#pragma once

#include "findings/verdict/verdict_words.h"

struct findings;

/*
 * So much of the wall time makes a call path the verdict that nobody waited for; and so much has to have run of what threads were
 * blocked on. verdict_trunk_min: so much, what paths have in common.
 */
static const double verdict_code_min = 0.2, verdict_trunk_min = 0.5;

/* So many samples have to have met code, or slices to have ended there: fewer tell where it was, not where it is for long. */
enum { CODE_EVIDENCE_MIN = 5 };

/* The call path, or what most of them have in common, that ran while few others did; no frames: none stands out. */
struct verdict_code verdict_main_code(struct findings *findings);

/*
 * Where the verdict is another finding: that code becomes a finding, too, after the first one, unless a finding is about it.
 * Moves report->findings.
 */
void verdict_add_code(struct findings *findings, const struct verdict_code *code);
