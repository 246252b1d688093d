/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/stack_words.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/frames_key.h"
#include "report/report_frame.h"

enum { KNOWN_BYTES_MAX = 16 << 20 };

struct stack_words {
	struct arena *arena;
	struct table *known; /* lines, by frames_key() */
	size_t known_bytes;
	struct text line;
};

struct stack_words *stack_words_new(void)
{
	struct stack_words *words = xcalloc(1, sizeof(*words));

	words->arena = arena_new();
	words->known = table_new();
	return words;
}

void stack_words_free(struct stack_words *words)
{
	if (!words)
		return;
	arena_free(words->arena);
	table_free(words->known);
	text_fini(&words->line);
	free(words);
}

const char *stack_words_of(struct stack_words *words, const struct report_frame *frames, size_t count)
{
	uint64_t key = frames_key(frames, count);
	char *line = table_find(words->known, key);

	if (line)
		return line;
	words->line.length = 0;
	report_frames_put(&words->line, frames, count);
	if (words->known_bytes + words->line.length > KNOWN_BYTES_MAX)
		return words->line.bytes;
	words->known_bytes += words->line.length;
	line = arena_strdup(words->arena, words->line.bytes);
	table_put(words->known, key, line);
	return line;
}
