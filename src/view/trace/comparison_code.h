/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran on both sides of a comparison, and groups of threads over several runs: as text and as JSON. */
#pragma once

struct arena;
struct code_changes;
struct comparison;
struct configurations;
struct result_comparison_code;
struct result_configurations;
struct text;

/* All of it is borrowed. */
struct comparison_code {
	const struct code_changes *cpu;              /* functions, by CPU time */
	const struct code_changes *cmetric, *paths;  /* the same by CMetric, and call paths; NULL: of no whole runs */
	const struct configurations *configurations; /* NULL: of no whole runs */
	const char *const *traces;                   /* what the runs are called, one for each */
};

void comparison_code_put_text(struct text *out, const struct comparison *comparison,
			      const struct comparison_code *code);

/* As results, of the arena. */
const struct result_comparison_code *comparison_code_results(const struct comparison_code *code, struct arena *arena);

/* NULL: there are none. */
const struct result_configurations *configurations_results(const struct comparison_code *code, struct arena *arena);

/* The same of configurations alone. */
void configurations_put_text(struct text *out, const struct comparison_code *code);
void configurations_put_document(struct text *out, const struct comparison_code *code);
