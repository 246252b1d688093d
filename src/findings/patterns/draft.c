/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/patterns/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "findings/parts/findings_waits.h"

enum { SENTENCE_BYTES = 1024 };

double draft_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

double draft_lost(const struct findings *findings, double lost_ns)
{
	const struct report *report = &findings->report;

	if (lost_ns < finding_wall_min * report->target.wall_ns)
		return 0;
	return draft_share(lost_ns, report->balance.threads.busy_ns);
}

struct report_finding *draft_add(struct findings *findings, struct draft *draft, enum pattern pattern,
				 enum wait_cause cause, double share, const char *format, ...)
{
	struct report_finding *row = &draft->rows[draft->count];
	char title[SENTENCE_BYTES];
	va_list args;

	if (draft->count == FINDINGS_MAX)
		return NULL;
	va_start(args, format);
	vsnprintf(title, sizeof(title), format, args);
	va_end(args);
	row->title = arena_strdup(findings->arena, title);
	row->pattern = pattern;
	row->cause = cause;
	row->share = share;
	row->evidence = draft->evidence[draft->count++];
	return row;
}

void draft_say(struct findings *findings, struct report_finding *row, const char *format, ...)
{
	char sentence[SENTENCE_BYTES];
	va_list args;

	if (!row || row->evidence_count == EVIDENCE_MAX)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	for (size_t i = 0; i < row->evidence_count; i++)
		if (!strcmp(row->evidence[i], sentence))
			return;
	((const char **)row->evidence)[row->evidence_count++] = arena_strdup(findings->arena, sentence);
}

void draft_say_first(struct findings *findings, struct report_finding *row, const char *format, ...)
{
	const char **rows = (const char **)row->evidence;
	char sentence[SENTENCE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (row->evidence_count < EVIDENCE_MAX)
		row->evidence_count++;
	memmove(rows + 1, rows, (row->evidence_count - 1) * sizeof(*rows));
	rows[0] = arena_strdup(findings->arena, sentence);
}

void draft_say_blocked_on(struct findings *findings, struct report_finding *row,
			  const struct report_blocked_on *blocked_on)
{
	if (row)
		row->blocked_on = blocked_on;
	if (blocked_on && blocked_on->text)
		draft_say(findings, row, "what they waited for: %s", blocked_on->text);
}
