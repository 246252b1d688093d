/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/klock_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "stacks/fold.h"
#include "report/report_frame.h"

static const char builtin_rules[] =
#include "klock_rules.inc"
	;

static const char takes_locks[] = ".";

struct klock_words {
	struct fold_rules *rules;
};

struct klock_words *klock_words_new(void)
{
	struct klock_words *words = xcalloc(1, sizeof(*words));

	words->rules = fold_rules_of(builtin_rules);
	return words;
}

void klock_words_free(struct klock_words *words)
{
	if (!words)
		return;
	fold_rules_free(words->rules);
	free(words);
}

/* The frame that wanted the lock; label: what its rule says of it, or NULL. */
static const struct report_frame *frame_of(const struct klock_words *words, const struct report_frame *frames,
					   size_t count, const char **label)
{
	for (size_t i = 0; i < count && frames[i].is_kernel; i++) {
		*label = frames[i].function ? fold_find_label(words->rules, &frames[i]) : NULL;
		if (!*label || strcmp(*label, takes_locks))
			return &frames[i];
	}
	*label = NULL;
	return NULL;
}

const struct report_frame *klock_words_wanting(const struct klock_words *words, const struct report_frame *frames,
					       size_t count)
{
	const char *label;

	return frame_of(words, frames, count, &label);
}

const char *klock_words_name(const struct klock_words *words, const struct report_frame *frames, size_t count)
{
	const char *label;

	frame_of(words, frames, count, &label);
	return label;
}
