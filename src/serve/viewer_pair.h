/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two traces for the page of the viewer, which compares them: requests are answered by the viewer of the first trace, those below /b by
 * that of the second, and /compare is what pinch compare makes of a part of each.
 */
#pragma once

#include <stdbool.h>

struct reply;
struct request;
struct viewer;
struct viewer_pair;

/* What it is made of; all are borrowed. */
struct viewer_sides {
	struct viewer *first, *second;
	const char *first_path, *second_path; /* of the traces */
	bool opens_files;                     /* as of viewers */
};

struct viewer_pair *viewer_pair_new(const struct viewer_sides *sides);
void viewer_pair_free(struct viewer_pair *pair);

/* data: the pair. May be called by several threads. */
void viewer_pair_answer(void *data, const struct request *request, struct reply *reply);
