/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of keys, and of what rows mean. */
#include <stdio.h>

#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/terminal/keys.h"

static void add_rows(struct rows *rows)
{
	static const char *const words[] = {
		"CMetric: each moment of the wall time is split evenly among the threads",
		"active in it (running or runnable); what a thread or a call path gets",
		"is its CMetric. It is largest where the program is least parallel.",
		"Lost: time that threads waited, without idle waits (no work to do).",
		"Criticality of an unlock: the CMetric that the releasing thread got during",
		"the wait. CPU wait: runnable, waiting for a CPU. ~: an estimate.",
	};
	char line[128];
	size_t number = 0;

	for (const struct key_help *help = key_helps; help->keys; help++) {
		snprintf(line, sizeof(line), "%-22s%s", help->keys, help->words);
		rows_add_text(rows, NULL, number++, line);
	}
	rows_add_text(rows, NULL, number++, "");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		rows_add_text(rows, NULL, number++, words[i]);
}

const struct tui_page help_page = {
	.name = "HELP",
	.add_rows = add_rows,
};
