/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of programs' own as marks on lines: of more than there is space for, each n-th is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct own_marks;
struct text;
struct trace_reader;

/* max: how many are kept; the schemas are those of the trace, whose next event is its first one then. */
struct own_marks *own_marks_new(struct trace_reader *trace, size_t max);
void own_marks_free(struct own_marks *marks);

/* From here on there are none. */
void own_marks_clear(struct own_marks *marks);

/* Takes an event in that belongs on a line; one that nothing describes is none. */
void own_marks_add(struct own_marks *marks, const struct ev_user_event *e, uint32_t line);

/* Takes a wake-up in, of the thread on a line. Of more than there is space for, the first ones are kept. */
void own_marks_add_wake(struct own_marks *marks, uint64_t time_ns, uint32_t line);

size_t own_marks_count(const struct own_marks *marks);

/*
 * Puts {"names", "marks", "left_out", "unread"}: a mark is its line, ns since begin_ns, the number of its name, and its argument;
 * unread: how many events of any kind were not looked at. If there are wake-ups, also "wakes", each its line and ns since begin_ns, and
 * "wakes_left_out". If some of the unread ones will be read once they are counted, also "is_counted": false.
 */
void own_marks_put_json(const struct own_marks *marks, uint64_t begin_ns, uint64_t unread, bool is_counted,
			struct text *out);
