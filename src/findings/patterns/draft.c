/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/patterns/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "findings/findings_waits.h"
#include "stacks/fold.h"

enum { SENTENCE_BYTES = 1024, NAME_BYTES = 96 };

double draft_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

double draft_lost(const struct findings *findings, double lost_ns)
{
	const struct report *report = &findings->report;

	if (lost_ns < finding_wall_min * report->target.wall_ns)
		return 0;
	return draft_share(lost_ns, report->balance.busy_ns);
}

struct report_finding *draft_add(struct findings *findings, struct draft *draft,
				 const char *pattern, const char *cause, double share,
				 const char *format, ...)
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
	((const char **)row->evidence)[row->evidence_count++] = arena_strdup(findings->arena, sentence);
}

const char *draft_name(struct findings *findings, const char *name)
{
	char cut[NAME_BYTES + 1];
	size_t length = 0;
	int depth = 0;

	if (strlen(name) <= NAME_BYTES / 2)
		return name;
	for (; *name && length < NAME_BYTES; name++) {
		if (*name == '>' || *name == ')')
			depth -= depth > 0;
		if (!depth)
			cut[length++] = *name;
		if (*name == '<' || *name == '(')
			depth++;
	}
	cut[length] = '\0';
	return arena_strdup(findings->arena, cut);
}

const char *draft_object(struct findings *findings, const char *name)
{
	size_t begin = NAME_BYTES / 3, end = strlen(name);

	if (end <= NAME_BYTES)
		return name;
	end -= NAME_BYTES - begin;
	/* Not within a character. */
	while (begin && (name[begin] & 0xc0) == 0x80)
		begin--;
	while ((name[end] & 0xc0) == 0x80)
		end++;
	return arena_printf(findings->arena, "%.*s...%s", (int)begin, name, name + end);
}

const char *findings_frame_text(struct findings *findings, const struct report_frame *frame)
{
	const char *file;

	if (!frame->function)
		return arena_printf(findings->arena, "%s+0x%llx", frame->module ? frame->module : "?",
				    (unsigned long long)frame->offset);
	if (!frame->file || !frame->line)
		return draft_name(findings, frame->function);
	file = strrchr(frame->file, '/');
	return arena_printf(findings->arena, "%s (%s:%u)", draft_name(findings, frame->function),
			    file ? file + 1 : frame->file, frame->line);
}

const char *draft_place(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	return frame && frame->function ? findings_frame_text(findings, frame) : NULL;
}

const char *draft_duration(struct findings *findings, uint64_t time_ns)
{
	struct text text = { 0 };
	const char *copy;

	text_put_duration(&text, time_ns);
	copy = arena_strdup(findings->arena, text.bytes);
	text_fini(&text);
	return copy;
}

const char *draft_counted(struct findings *findings, uint64_t count, const char *thing)
{
	return arena_printf(findings->arena, "%llu %s%s", (unsigned long long)count, thing,
			    count == 1 ? "" : "s");
}

const char *draft_lengths(struct findings *findings, uint64_t count, uint64_t wait_ns,
			  uint64_t max_ns)
{
	if (count < 2)
		return arena_printf(findings->arena, "%s of %s", draft_counted(findings, count, "wait"),
				    draft_duration(findings, wait_ns));
	return arena_printf(findings->arena, "%s of %s in the mean and %s at most",
			    draft_counted(findings, count, "wait"),
			    draft_duration(findings, wait_ns / count),
			    draft_duration(findings, max_ns));
}
