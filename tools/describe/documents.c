/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "documents.h"

#include <string.h>

#include "results/results.h"

const struct document documents[DOCUMENTS] = {
	{ "report", report_type, true },
	{ "graph", result_graph_type, false },
	{ "critical-path", result_path_type, false },
	{ "spans", result_spans_type, false },
	{ "whatif", result_whatif_type, false },
	{ "compare", result_comparison_type, false },
	{ "trace", result_own_programs_type, false },
};

const struct report_type *(*const answers[ANSWERS])(void) = {
	result_viewed_type, result_now_type,   result_stretch_type,      result_means_type,
	result_state_type,  result_alike_type, result_wait_lengths_type,
};

const struct document *document_find(const char *name)
{
	for (size_t i = 0; i < DOCUMENTS; i++)
		if (!strcmp(documents[i].name, name))
			return &documents[i];
	return NULL;
}
