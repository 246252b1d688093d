/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewer_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "serve/answer.h"
#include "serve/part_pages.h"
#include "serve/viewer.h"

static const char second_prefix[] = "/b";

struct viewer_pair {
	struct viewer_sides sides;
	struct part_pages *pages;
};

struct viewer_pair *viewer_pair_new(const struct viewer_sides *sides)
{
	struct viewer_pair *pair = xcalloc(1, sizeof(*pair));

	pair->sides = *sides;
	pair->pages = part_pages_new(sides->first_path, sides->opens_files);
	return pair;
}

void viewer_pair_free(struct viewer_pair *pair)
{
	if (!pair)
		return;
	part_pages_free(pair->pages);
	free(pair);
}

/* The page itself is of both: there is none below the prefix. */
static bool is_of_second(const char *path)
{
	size_t length = sizeof(second_prefix) - 1;

	return !strncmp(path, second_prefix, length) && path[length] == '/' && path[length + 1];
}

void viewer_pair_answer(void *data, const struct request *request, struct reply *reply)
{
	struct viewer_pair *pair = data;
	struct request below = *request;

	if (!request->is_post && !strcmp(request->path, "/compare")) {
		part_pages_compare(pair->pages, pair->sides.second_path, request, reply);
	} else if (is_of_second(request->path)) {
		below.path += sizeof(second_prefix) - 1;
		viewer_answer(pair->sides.second, &below, reply);
	} else {
		viewer_answer(pair->sides.first, request, reply);
	}
}
