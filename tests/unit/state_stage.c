/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state_stage.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "session/session.h"
#include "session/threads.h"
#include "states/state_log.h"
#include "states/states.h"
#include "trace/trace_writer.h"
#include "waits/files.h"
#include "waits/others.h"

void state_stage_open(struct state_stage *stage)
{
	state_stage_open_naming(stage, NULL);
}

void state_stage_open_naming(struct state_stage *stage, state_stage_cause_fn *cause_of)
{
	int err;

	*stage = (struct state_stage){ .session = session_new(1, 1 << 20) };
	snprintf(stage->path, sizeof(stage->path), TEST_OUTPUT "/states.%d", (int)getpid());
	stage->threads = threads_new(stage->session);
	stage->files = files_new(stage->session, 0);
	stage->others = others_new(stage->session);
	err = trace_writer_open(stage->path, &stage->writer);
	assert(!err);
	stage->log = state_log_new(stage->writer, &(struct state_log_options){
							  .threads = stage->threads,
							  .files = stage->files,
							  .others = stage->others,
							  .cause_of = cause_of,
						  });
	stage->listener = state_log_listener(stage->log);
}

void state_stage_finish(struct state_stage *stage, uint64_t end_ns)
{
	int err;

	state_log_finish(stage->log, end_ns);
	err = trace_writer_close(stage->writer);
	assert(!err);
	err = states_open(stage->path, &stage->states);
	assert(!err);
}

void state_stage_close(struct state_stage *stage)
{
	states_close(stage->states);
	state_log_free(stage->log);
	others_free(stage->others);
	files_free(stage->files);
	threads_free(stage->threads);
	session_free(stage->session);
	unlink(stage->path);
}
