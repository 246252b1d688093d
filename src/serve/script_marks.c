/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/script_marks.h"

#include "rows/event_rows.h"
#include "serve/answer.h"
#include "serve/event_list.h"

enum { WORD_BYTES = 32 };

static bool load(void *data, size_t chunk, uint32_t *count)
{
	struct script_marks *marks = data;

	if (marks->chunk != chunk + 1) {
		marks->chunk = 0;
		if (event_rows_bits(marks->rows, chunk, &marks->bits))
			return false;
		marks->chunk = chunk + 1;
	}
	*count = marks->bits.count;
	return true;
}

static bool has(void *data, uint32_t at)
{
	const struct script_marks *marks = data;

	return row_bits_has(&marks->bits, at);
}

bool script_marks_choose(struct event_list *list, const struct request *request, struct reply *reply,
			 struct script_marks *marks)
{
	char word[WORD_BYTES];

	*marks = (struct script_marks){ .own = { .load = load, .has = has, .data = marks } };
	if (!request_text(request, "script", word, sizeof(word)))
		return true;
	marks->rows = event_list_of_script(list, request, reply);
	marks->choice = &marks->own;
	return marks->rows;
}

void script_marks_fini(struct script_marks *marks)
{
	row_bits_fini(&marks->bits);
}
