/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events go into the trace that is made, with the numbers that threads have there. */
#include "derive/merge_events_internal.h"

#include <string.h>

#include "base/memory.h"
#include "derive/merge_threads.h"
#include "engine/carried_names.h"
#include "session/event_kinds.h"
#include "trace/trace_writer.h"

void merge_put(struct merge_events *merge, const struct ev_header *header)
{
	trace_writer_event(merge->writer, header);
	space_numbers_follow(merge->written, header);
}

struct ev_header *merge_copy_for(struct merge_events *merge, const struct ev_header *header,
				 const struct merge_thread *thread)
{
	size_t size_bytes = event_bytes(header);

	if (size_bytes > merge->copy_capacity) {
		merge->copy_capacity = 2 * size_bytes;
		merge->copy = xrealloc(merge->copy, merge->copy_capacity, 1);
	}
	memcpy(merge->copy, header, size_bytes);
	merge->copy->thread = thread ? thread->number : 0;
	return merge->copy;
}

struct merge_thread *merge_recorded(struct merge_events *merge, struct merge_source *source,
				    const struct ev_header *header)
{
	struct merge_thread *thread = merge_threads_get(merge->threads, source, header->thread);

	return thread && merge_threads_reports(thread, source, header->thread) ? thread : NULL;
}
