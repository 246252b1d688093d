/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report on one screen: what comes first of it, in at most so many lines, as long as lines are of usual width.
 * Whatever is left out is in the verbose report.
 */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "stacks/fold.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

/* EVIDENCE_MAX, FRAMES_MAX: of a finding, which has room for FINDING_LINES. NOTES_MAX: the others are counted. */
enum {
	LINES_MAX = 40,
	FINDING_LINES = 12,
	FINDINGS_MAX = 5,
	EVIDENCE_MAX = 2,
	FRAMES_MAX = 3,
	PATHS_MAX = 3,
	NOTES_MAX = 3,
	HINTS_SHOWN_MAX = 3
};

static size_t count_lines(const struct text *text, size_t from)
{
	size_t count = 0;

	for (size_t i = from; i < text->length; i++)
		count += text->bytes[i] == '\n';
	return count;
}

/* --- A part that may have no room -------------------------------------------------------------------- */

/* Drawn on a page of its own, of the same style. */
struct part {
	struct page page;
	struct text out;
};

static struct page *part_begin(struct part *part, const struct page *page)
{
	*part = (struct part){ 0 };
	page_init(&part->page, page->style, &part->out);
	return &part->page;
}

/* Keeps it if it has at most so many lines, which are taken off *left; else it is empty, and false. */
static bool part_keep(struct part *part, size_t lines_max, size_t *left)
{
	size_t lines = count_lines(&part->out, 0);

	if (lines > lines_max || lines > *left) {
		part->out.length = 0;
		return false;
	}
	*left -= lines;
	return true;
}

static void part_fini(struct part *part)
{
	page_fini(&part->page);
	text_fini(&part->out);
}

static void part_put(struct part *part, struct page *page)
{
	text_put_bytes(page->out, part->out.length ? part->out.bytes : "", part->out.length);
	part_fini(part);
}

/* --- Code -------------------------------------------------------------------------------------------- */

/* "take (a.c:3) < serve < main": the program's own functions, innermost first; true: there was one. */
static bool put_frames(struct page *page, struct text *text, const struct report_frame *frames, size_t count)
{
	enum { NAME_COLUMNS_MAX = 40 };
	const struct report_frame *first = fold_find_headline(page->style->fold, frames, count);
	struct text name = { 0 };
	size_t named = 0;

	for (const struct report_frame *frame = first; frame && frame < frames + count && named < FRAMES_MAX; frame++) {
		if (!frame->function || (frame != first && fold_is_plumbing(page->style->fold, frame)))
			continue;
		text_put(text, named++ ? " < " : "");
		name.length = 0;
		text_frame_name(&name, frame);
		page_text_function(page, text, name.bytes, NAME_COLUMNS_MAX);
		if (frame == first && frame->file && frame->line) {
			text_put(text, " (");
			page_text_location(page, text, frame->file, frame->line);
			text_put(text, ")");
		}
	}
	text_fini(&name);
	return named;
}

static void show_code(struct page *page, const struct report *report, const struct report_finding *finding)
{
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;
	const struct report_path *path = finding->path_rank && finding->path_rank <= report->path_count
						 ? &report->paths[finding->path_rank - 1]
						 : NULL;
	struct text text = { 0 };

	text_put(&text, "at ");
	if (path ? put_frames(page, &text, path->frames, path->frame_count)
		 : wait && put_frames(page, &text, wait->frames, wait->frame_count)) {
		page_color(page, PAGE_DIM);
		page_paragraph(page, "       ", text.bytes);
	}
	text_fini(&text);
}

/* --- Findings ---------------------------------------------------------------------------------------- */

static void show_finding(struct page *page, const struct report *report, size_t index, size_t evidence_max)
{
	const struct report_finding *finding = &report->findings[index];
	struct text text = { 0 };
	char label[32];

	snprintf(label, sizeof(label), "%3zu  ", index + 1);
	page_text_share(&text, finding->share);
	text_put(&text, ": ");
	page_text_name(page, &text, finding->title);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, label, text.bytes);
	for (size_t i = 0; i < finding->evidence_count && i < evidence_max; i++) {
		text.length = 0;
		page_text_name(page, &text, finding->evidence[i]);
		page_paragraph(page, "       ", text.bytes);
	}
	show_code(page, report, finding);
	text_fini(&text);
}

/* The verdict has the evidence of the one that it is about. */
static size_t evidence_of(const struct report *report, size_t index, size_t evidence_max)
{
	const struct report_verdict *verdict = &report->verdict;
	bool is_said = verdict->line_count && strstr(verdict->lines[0], report->findings[index].title);

	return is_said ? 0 : evidence_max;
}

/* Returns how many of them were put on the page, in at most so many lines, each with so much evidence. */
static size_t add_findings(struct page *page, const struct report *report, size_t evidence_max, size_t left)
{
	size_t count = report->finding_count < FINDINGS_MAX ? report->finding_count : FINDINGS_MAX, shown = 0;

	for (bool has_room = true; shown < count && has_room; shown += has_room) {
		struct part part;

		show_finding(part_begin(&part, page), report, shown, evidence_of(report, shown, evidence_max));
		has_room = part_keep(&part, SIZE_MAX, &left);
		part_put(&part, page);
	}
	return shown;
}

static void show_rest(struct page *page, size_t count, const char *what)
{
	page_color(page, PAGE_DIM);
	page_pad_to(page, 4);
	page_put_ellipsis(page);
	page_printf(page, " %zu more %s", count, what);
	page_end_line(page);
}

/* With less evidence where there is no room for all of them with more. */
static void show_findings(struct page *page, const struct report *report, size_t *left)
{
	size_t begin = page->out->length, shown = 0, rest;
	struct part part;

	if (!report->finding_count || *left < 5)
		return;
	page_heading(page, "Findings", "share of non-idle thread time lost");
	*left -= count_lines(page->out, begin) + 1; /* and the line that counts the rest */
	for (size_t evidence = EVIDENCE_MAX + 1; evidence--;) {
		shown = add_findings(part_begin(&part, page), report, evidence, *left);
		if (!evidence || shown == report->finding_count || shown == FINDINGS_MAX)
			break;
		part_fini(&part);
	}
	*left -= count_lines(&part.out, 0);
	part_put(&part, page);
	rest = report->finding_count - shown;
	if (rest)
		show_rest(page, rest, rest == 1 ? "finding" : "findings");
}

/* Whether what ran is the answer, or would have to become faster. */
static bool is_about_code(const struct report *report)
{
	enum verdict_kind kind = report->verdict.kind;

	return !report->finding_count || kind == VERDICT_CODE || kind == VERDICT_CPU || kind == VERDICT_CPU_LIMIT;
}

/* Where no wait stands out, the code that ran. */
static void show_paths(struct page *page, const struct report *report, size_t *left)
{
	struct part part;
	struct page *out;
	size_t shown = 0;

	if (!report->path_count || !is_about_code(report))
		return;
	out = part_begin(&part, page);
	page_heading(out, "Call paths by CMetric",
		     report->code.is_critical ? "share of the wall time while few threads were active"
					      : "share of the wall time");
	for (size_t i = 0; i < report->path_count && i < PATHS_MAX; i++) {
		const struct report_path *path = &report->paths[i];
		struct text text = { 0 };
		char label[32];

		snprintf(label, sizeof(label), "%3zu  ", i + 1);
		page_text_share(&text, path->wall_share);
		text_put(&text, ": ");
		if (put_frames(out, &text, path->frames, path->frame_count)) {
			page_paragraph(out, label, text.bytes);
			shown++;
		}
		text_fini(&text);
	}
	if (!shown) { /* none has a name */
		part_fini(&part);
		return;
	}
	part_keep(&part, SIZE_MAX, left);
	part_put(&part, page);
}

/* --- The end ----------------------------------------------------------------------------------------- */

static void show_notes(struct page *page, const struct report *report, size_t shown_max)
{
	size_t shown = report->note_count < shown_max ? report->note_count : shown_max;

	for (size_t i = 0; i < shown; i++) {
		struct text text = { 0 };

		page_text_name(page, &text, report->notes[i]);
		page_paragraph(page, i ? "           " : "Notes      ", text.bytes);
		text_fini(&text);
	}
	if (shown < report->note_count)
		show_rest(page, report->note_count - shown, report->note_count - shown == 1 ? "note" : "notes");
}

/* As many of them as there is room for. */
static void add_notes(struct part *notes, const struct page *page, const struct report *report, size_t lines_max,
		      size_t *left)
{
	for (size_t shown = NOTES_MAX;; shown--) {
		show_notes(part_begin(notes, page), report, shown);
		if (!shown || count_lines(&notes->out, 0) <= lines_max)
			break;
		part_fini(notes);
	}
	part_keep(notes, SIZE_MAX, left);
}

/* As many of them as there is room for, and at least one. */
static void add_hints(struct part *hints, const struct page *page, const struct report *report, size_t lines_max,
		      size_t *left)
{
	for (size_t shown = HINTS_SHOWN_MAX;; shown--) {
		text_hints_show(part_begin(hints, page), report, shown);
		if (shown == 1 || count_lines(&hints->out, 0) <= lines_max)
			break;
		part_fini(hints);
	}
	part_keep(hints, SIZE_MAX, left);
}

static void show_end(struct page *page, const struct report *report)
{
	page_end_line(page);
	text_losses_show(page, report);
}

static void show_more(struct page *page)
{
	page_color(page, PAGE_DIM);
	page_paragraph(
		page, "More       ",
		"-v: waits, locks, files, call paths, threads, totals; --page NAME: one of them; --html FILE: for "
		"a browser; pinch report takes these of a trace");
}

static size_t without(size_t all, size_t reserved)
{
	return all > reserved ? all - reserved : 0;
}

void text_brief_show(struct page *page, const struct report *report)
{
	struct part whatifs, activities, hints, losses, notes, more;
	size_t left;

	text_balance_show(page, report);
	left = without(LINES_MAX, count_lines(page->out, 0));
	show_end(part_begin(&losses, page), report);
	show_more(part_begin(&more, page));
	left = without(left, count_lines(&losses.out, 0) + count_lines(&more.out, 0));
	add_notes(&notes, page, report, without(left, FINDING_LINES), &left);
	text_whatifs_show(part_begin(&whatifs, page), report);
	part_keep(&whatifs, without(left, FINDING_LINES), &left);
	text_activities_show(part_begin(&activities, page), report);
	part_keep(&activities, SIZE_MAX, &left);
	add_hints(&hints, page, report, without(left, FINDING_LINES), &left);
	show_findings(page, report, &left);
	show_paths(page, report, &left);
	part_put(&whatifs, page);
	part_put(&activities, page);
	part_put(&hints, page);
	part_put(&losses, page);
	part_put(&notes, page);
	part_put(&more, page);
}
