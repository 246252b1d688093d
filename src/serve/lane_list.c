/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/lane_list.h"

#include <stdlib.h>

#include "lanes/lanes.h"
#include "serve/answer.h"

enum { WORDS_BYTES_MAX = 12 * LANES_AT_ONCE_MAX };

static bool read_id(const char **at, size_t count, uint32_t *id)
{
	char *end;
	unsigned long value;

	if (**at < '0' || **at > '9')
		return false;
	value = strtoul(*at, &end, 10);
	*at = end;
	*id = value;
	return value < count;
}

static bool add_range(struct lane_list *list, uint32_t first, uint32_t last)
{
	if (last < first || last - first >= LANES_AT_ONCE_MAX - list->count)
		return false;
	while (first <= last)
		list->ids[list->count++] = first++;
	return true;
}

bool lane_list_read(const struct request *request, const struct lanes *lanes, struct lane_list *out)
{
	return lane_list_read_below(request, lanes->count, out);
}

bool lane_list_read_below(const struct request *request, size_t count, struct lane_list *out)
{
	char words[WORDS_BYTES_MAX];
	const char *at = words;
	uint32_t first, last;

	out->count = 0;
	if (!request_text(request, "lanes", words, sizeof(words)))
		return false;
	for (;; at++) {
		if (!read_id(&at, count, &first))
			return false;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_id(&at, count, &last))
				return false;
		}
		if (!add_range(out, first, last))
			return false;
		if (*at != ',')
			return !*at;
	}
}
