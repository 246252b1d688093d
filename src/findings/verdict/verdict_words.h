/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The three lines of a verdict. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct findings;
struct report_blocked_code;
struct report_finding;
struct report_go_process;
struct report_goroutine_wait;
struct report_frame;
struct report_path;
struct report_verdict;

/* Code that ran while few threads were active; frame_count 0: none stands out. */
struct verdict_code {
	const struct report_frame *frames;
	size_t frame_count;
	double wall_share;
	const struct report_path *path; /* NULL: what several have in common */
};

/* What a verdict is made of: a finding; or else goroutines; or else code; or else nothing. */
struct verdict_basis {
	const struct report_finding *finding;           /* NULL: none */
	bool is_followed;                               /* the verdict is what the finding's waits lead to */
	const struct report_blocked_code *taken_by;     /* that has the CPUs which threads wait for; NULL: not known */
	const struct report_go_process *go;             /* NULL: no goroutines are held back */
	const struct report_goroutine_wait *goroutines; /* of go, where; NULL: they could run */
	const struct report_goroutine_wait
		*holder; /* what keeps the one that has their lock; NULL: it runs, or is not known */
	const struct report_goroutine_wait
		*polled_for; /* for whom a thread of Go's runtime polls, as the finding says; NULL: for none */
	struct verdict_code code;
};

/* "f, called by g" of a path; NULL: it has no name. _clause: with a comma after g, for more of a sentence. Of the findings' arena. */
const char *verdict_place(struct findings *findings, const struct report_frame *frames, size_t count);
const char *verdict_place_clause(struct findings *findings, const struct report_frame *frames, size_t count);

/* Fills in verdict->lines; all else of the verdict and of the report is there. They live in the arena of the findings. */
void verdict_put_lines(struct findings *findings, struct report_verdict *verdict, const struct verdict_basis *basis);
