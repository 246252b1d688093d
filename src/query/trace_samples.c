/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/trace_samples.h"

#include <errno.h>

#include "query/trace_states.h"
#include "session/threads.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "whatif/run_code.h"

static bool is_sample(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SAMPLE;
}

void trace_samples_read(const struct trace_states *all, struct run_code *code)
{
	struct trace_reader *file = states_file(all->states);
	const struct ev_header *header;
	int got;

	run_code_init(code);
	trace_reader_seek(file, 0);
	while ((got = trace_reader_next(file, &header)) == 1 || got == -EBADMSG)
		if (got == 1 && is_sample(header) && header->thread)
			run_code_add(code, threads_get(all->threads, header->thread)->pid,
				     (const struct ev_sched_sample *)header);
	run_code_sort(code);
}
