/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sources tell after the end of the trace that is made: of that, only what is about the time before. */
#include "derive/merge_events_internal.h"

#include "base/table.h"

static void note_moved(struct merge_source *source, const struct ev_header *header)
{
	if (header->thread)
		table_put(source->moved, header->thread, source);
	if (header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SWITCH &&
	    ((const struct ev_sched_switch *)header)->next)
		table_put(source->moved, ((const struct ev_sched_switch *)header)->next, source);
}

static bool is_of_before(const struct merge_source *source, const struct ev_header *header)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_STACK:
	case TRACE_SUBSYS_RESOURCE:
		return true;
	case TRACE_SUBSYS_COLLECT:
		return header->event == TRACE_EVENT_COLLECT_END;
	case TRACE_SUBSYS_THREAD:
		return header->event == TRACE_EVENT_THREAD_WAITS && !table_find(source->moved, header->thread);
	default:
		return false;
	}
}

bool merge_is_told_after(struct merge_events *merge, struct merge_source *source, struct merge_event *event)
{
	if (!is_of_before(source, &event->header)) {
		note_moved(source, &event->header);
		return false;
	}
	event->time_ns = event->header.time_ns = merge->end_ns;
	return true;
}
