/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks of the graph that the filter of a reader's script chooses: the events that it chooses in the list. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lanes/lane_marks.h"
#include "rows/row_bits.h"

struct event_list;
struct event_rows;
struct reply;
struct request;

struct script_marks {
	const struct mark_choice *choice; /* NULL: all events */
	struct mark_choice own;
	struct event_rows *rows;
	struct row_bits bits; /* of the chunk, + 1 */
	size_t chunk;         /* 0: of none */
};

/*
 * Counts rows for a moment, as event_list_of_script() does, without the lock: lanes and what is shown may be others then. Valid until the lock
 * is given away again. False: the reply says what is wrong. script_marks_fini() in any case.
 */
bool script_marks_choose(struct event_list *list, const struct request *request, struct reply *reply,
			 struct script_marks *marks);
void script_marks_fini(struct script_marks *marks);
