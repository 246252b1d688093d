/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a stack, and who ended a wait, in words: for the text view and the terminal UI. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fold_rules;
struct page;
struct report_blocked_on;
struct report_frame;
struct report_path;
struct report_waker;
struct text;

/*
 * The frame that a path is named after (fold_find_headline()). NULL when the path has no frames.
 */
const struct report_frame *text_path_headline(const struct report_path *path, const struct fold_rules *fold);
const struct report_frame *text_headline(const struct report_frame *frames, size_t count,
					 const struct fold_rules *fold);

/* Of code that ran, the user's own function that called it; else NULL. */
const struct report_frame *text_path_caller(const struct report_path *path, const struct fold_rules *fold);

/* What the figures of a path are made of: "45 samples, ± 19 ms", "3 critical slices". */
void text_put_path_basis(struct text *text, const struct report_path *path, bool has_unicode);

/* The function and place of a frame, the name in at most so many columns. */
void text_put_frame(struct page *page, const struct report_frame *frame, uint32_t columns_max);

/* A frame's function, or module+0xoffset when it has no name. */
void text_frame_name(struct text *text, const struct report_frame *frame);
void text_put_frame_function(struct page *page, const struct report_frame *frame, uint32_t columns_max);

/* File and line, else what is known of where the code lies. */
void text_put_frame_place(struct page *page, const struct report_frame *frame);

/* The frame that the stack is named after. */
void text_put_headline(struct page *page, const struct report_frame *frames, size_t count,
		       const struct fold_rules *fold);

/* Direct recursion: how many frames from the first on are the same. */
size_t text_repeat_count(const struct report_frame *frames, size_t count);

/* A label that ends an earlier one ("thread start", "C++ thread start") adds nothing. */
bool text_is_new_label(const char *const *labels, size_t count, const char *label);

/* Its share of the waiting, who it is and where it was. */
void text_put_waker(struct page *page, const struct report_waker *waker, const struct fold_rules *fold);

/* A line of what threads were blocked on, below a row; nothing if nothing is known of it. */
void text_put_blocked_on(struct page *page, const struct report_blocked_on *blocked_on, const char *indent);
