/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a stack, and who ended a wait, in words: for the text view and the terminal UI. */
#include "view/text/text_frames.h"

#include <string.h>

#include "report/report.h"
#include "stacks/fold.h"
#include "view/page.h"

const struct report_frame *text_path_caller(const struct report_path *path, const struct fold_rules *fold)
{
	const struct report_frame *headline = text_path_headline(path, fold);

	if (!path->samples || !headline || !headline->function)
		return NULL;
	for (const struct report_frame *frame = headline + 1; frame < path->frames + path->frame_count; frame++)
		if (frame->function && !fold_is_plumbing(fold, frame) &&
		    strcmp(frame->function, headline->function) != 0)
			return frame;
	return NULL;
}

void text_put_path_basis(struct text *text, const struct report_path *path, bool has_unicode)
{
	if (path->samples) {
		text_put_count(text, path->samples);
		text_put(text, path->samples == 1 ? " sample, " : " samples, ");
		text_put(text, has_unicode ? "± " : "+- ");
		text_put_duration(text, path->error_ns);
	} else {
		text_put_count(text, path->slices);
		text_put(text, path->slices == 1 ? " critical slice" : " critical slices");
	}
}

void text_frame_name(struct text *text, const struct report_frame *frame)
{
	text_put(text, "");
	if (frame->function && *frame->function)
		text_put(text, frame->function);
	else if (frame->module && *frame->module)
		text_printf(text, "%s+0x%llx", frame->module, (unsigned long long)frame->offset);
	else
		text_put(text, "code outside any file");
}

const struct report_frame *text_headline(const struct report_frame *frames, size_t count, const struct fold_rules *fold)
{
	return fold_find_headline(fold, frames, count);
}

const struct report_frame *text_path_headline(const struct report_path *path, const struct fold_rules *fold)
{
	return text_headline(path->frames, path->frame_count, fold);
}

void text_put_frame_function(struct page *page, const struct report_frame *frame, uint32_t columns_max)
{
	struct text name = { 0 };

	text_frame_name(&name, frame);
	page_put_function(page, name.bytes, columns_max);
	text_fini(&name);
}

void text_put_frame_place(struct page *page, const struct report_frame *frame)
{
	page_color(page, PAGE_DIM);
	if (frame->file && *frame->file)
		page_put_location(page, frame->file, frame->line, page_columns_left(page));
	else if (frame->is_kernel)
		page_put(page, "kernel");
	else if (frame->module && frame->function)
		page_put_name(page, frame->module, page_columns_left(page));
	page_color(page, PAGE_PLAIN);
}

static bool has_place(const struct report_frame *frame)
{
	return (frame->file && *frame->file) || frame->is_kernel || (frame->module && frame->function);
}

void text_put_frame(struct page *page, const struct report_frame *frame, uint32_t columns_max)
{
	text_put_frame_function(page, frame, columns_max);
	if (!has_place(frame))
		return;
	page_put(page, "  ");
	text_put_frame_place(page, frame);
}

size_t text_repeat_count(const struct report_frame *frames, size_t count)
{
	size_t i = 1;

	while (i < count && frames->function && frames[i].function && !strcmp(frames->function, frames[i].function) &&
	       frames->line == frames[i].line && frames->is_inlined == frames[i].is_inlined &&
	       frames->is_tail_call == frames[i].is_tail_call)
		i++;
	return i;
}

bool text_is_new_label(const char *const *labels, size_t count, const char *label)
{
	size_t length = strlen(label);

	for (size_t i = 0; i < count; i++) {
		size_t other = strlen(labels[i]);

		if (other >= length && !strcmp(labels[i] + other - length, label))
			return false;
	}
	return true;
}

void text_put_headline(struct page *page, const struct report_frame *frames, size_t count,
		       const struct fold_rules *fold)
{
	const struct report_frame *frame = text_headline(frames, count, fold);

	if (frame)
		text_put_frame(page, frame, page_columns_left(page) * 3 / 5);
	else
		page_put(page, "no stack");
}

/* NULL: a thread did it. */
static const char *without_thread(const struct report_waker *waker)
{
	static const char *const words[] = {
		[WAKER_TIMER] = "timed out",
		[WAKER_DISK] = "ended by the disk",
		[WAKER_NETWORK] = "ended by the network",
		[WAKER_INTERRUPT] = "ended by an interrupt",
		[WAKER_NONE] = "still waiting at the end",
		[WAKER_LOST] = "ended by something whose record was lost",
		[WAKER_HIDDEN] = "ended by a thread that the kernel hides from tracers",
	};

	return words[waker->context];
}

static const char *before_thread(const struct report_waker *waker)
{
	switch (waker->context) {
	case WAKER_EXIT:
		return "the end of ";
	case WAKER_PROCESS:
		return "another program's ";
	case WAKER_KERNEL:
		return "the kernel's ";
	case WAKER_SIGNAL:
		return "a signal from ";
	default:
		return "";
	}
}

void text_put_waker(struct page *page, const struct report_waker *waker, const struct fold_rules *fold)
{
	enum { NAME_COLUMNS = 18 };
	const char *words = without_thread(waker);

	page_put_share(page, waker->share, 8);
	page_put(page, "  ");
	if (words) {
		page_put_name(page, words, page_columns_left(page));
		return;
	}
	page_put(page, "ended by ");
	page_put(page, before_thread(waker));
	page_put(page, waker->names ? "threads " : "thread ");
	page_put_name(page, waker->names ? waker->names : waker->name ? waker->name : "?", NAME_COLUMNS);
	if (waker->frame_count && page_columns_left(page) > 20) {
		page_put(page, "  ");
		text_put_headline(page, waker->frames, waker->frame_count, fold);
	}
}

void text_put_blocked_on(struct page *page, const struct report_blocked_on *blocked_on, const char *indent)
{
	struct text text = { 0 };

	if (!blocked_on || !blocked_on->text)
		return;
	text_put(&text, "what they waited for: ");
	page_text_name(page, &text, blocked_on->text);
	page_paragraph(page, indent, text.bytes);
	text_fini(&text);
}
