/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a page that have a pattern: found a few at a time, since each is made for it. */
#include "tui/model_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "view/view.h"

enum { SEARCH_COLUMNS = VIEW_WIDTH_MAX };

void model_search(struct model *model, const char *pattern, bool is_backwards, bool is_here)
{
	struct search *search = &model->search;
	size_t count = model_count(model), cursor = model_cursor(model);

	if (pattern) {
		free(search->pattern);
		search->pattern = xstrdup(pattern);
	}
	search->state = SEARCH_FAILED;
	if (search->pattern && *search->pattern && count)
		search->state = SEARCH_GOING_ON;
	search->is_backwards = is_backwards;
	search->left = count;
	if (!count)
		return;
	if (is_here)
		search->at = cursor;
	else
		search->at = (cursor + (is_backwards ? count - 1 : 1)) % count;
}

/* Capitals in the pattern mean themselves only, as in less with -i. */
static bool has_pattern(const char *line, const char *pattern)
{
	for (const char *c = pattern; *c; c++)
		if (isupper((unsigned char)*c))
			return strstr(line, pattern);
	return strcasestr(line, pattern);
}

enum search_state model_search_on(struct model *model, size_t rows_max)
{
	struct search *search = &model->search;
	size_t count = model_count(model);
	struct text line = { 0 };

	for (; search->state == SEARCH_GOING_ON && rows_max; rows_max--) {
		if (!search->left || !count) {
			search->state = SEARCH_FAILED;
			break;
		}
		search->at %= count;
		search->left--;
		line.length = 0;
		model_format_row(model, search->at, SEARCH_COLUMNS, false, &line);
		if (has_pattern(line.bytes, search->pattern)) {
			search->state = SEARCH_FOUND;
			model_select(model, search->at);
		} else {
			search->at = (search->at + (search->is_backwards ? count - 1 : 1)) % count;
		}
	}
	text_fini(&line);
	return search->state;
}

const char *model_pattern(const struct model *model)
{
	return model->search.pattern;
}
