/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames of a stack are boilerplate, and which of them wait with the CPU: rules that are
 * built in (share/fold.rules) and those of the user, which go first. Labels live until
 * fold_rules_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fold_rules;
struct report_frame;

/* The built-in rules. */
struct fold_rules *fold_rules_new(void);

/* Rules of another kind, built in too, that look the same. */
struct fold_rules *fold_rules_of(const char *text);
void fold_rules_free(struct fold_rules *rules);

/*
 * Adds the rules of a file; they go before those that are there. A line that makes no sense
 * costs a warning and is skipped. -errno, after a message, when the file cannot be read.
 */
int fold_rules_add_file(struct fold_rules *rules, const char *path);

/*
 * Adds $PINCH_FOLD_RULES, or else ~/.config/pinch/fold.rules ($XDG_CONFIG_HOME is heeded).
 * A missing file is an error only when the variable names it.
 */
int fold_rules_add_user(struct fold_rules *rules);

/* The label of the boilerplate that a frame belongs to, or NULL. */
const char *fold_find_label(const struct fold_rules *rules, const struct report_frame *frame);

/* True when a path must not be named after this frame: boilerplate, libc, the kernel. */
bool fold_is_plumbing(const struct fold_rules *rules, const struct report_frame *frame);

/*
 * Of a stack, innermost frame first, the one that it is named after: the innermost of the user's own
 * code that has a name; if none has, what called it, if that has one and does not fold, else itself; where all is
 * boilerplate the call by which it left the innermost library, else the innermost frame outside the kernel. NULL only
 * when count is 0.
 */
const struct report_frame *fold_find_headline(const struct fold_rules *rules, const struct report_frame *frames,
					      size_t count);

/* True when a function busy-waits by calling others, or does nothing but give the CPU away. */
bool fold_is_spin(const struct fold_rules *rules, const struct report_frame *frame);
