/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads of a trace a filter means. */
#pragma once

struct event_filter;
struct table;
struct trace_reader;

/*
 * Sets filter->threads to a table of the threads that its words name, by a number or by a name, for the caller to free in *threads; NULL:
 * it names none. A name takes a pass over the trace. 0, or -ENOENT after having said which name no thread has.
 */
int filter_threads_find(struct event_filter *filter, struct trace_reader *reader, const char *path,
			struct table **threads);
