/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/decoders.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/run_events.h"
#include "engine/trace_open.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "trace/trace_reader.h"

struct replay {
	struct trace_reader *reader;
	struct engine engine;
	struct ev_collect_run *run; /* these two are copies; NULL: the trace has none */
	struct ev_collect_end *end;
	uint64_t last_ns;
	size_t damaged_count; /* of chunks */
	bool has_names, opens_files;
	const struct wait_choice *choice;
};

static void *copy_of(const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	return memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void on_end(void *data, const struct ev_header *header)
{
	struct replay *replay = data;

	free(replay->end);
	replay->end = copy_of(header);
}

/* What is traced is the first that a trace says. */
static void find_run(struct replay *replay)
{
	const struct ev_header *header;
	int got;

	while ((got = trace_reader_next(replay->reader, &header)) == -EBADMSG)
		;
	if (got == 1 && header->subsys == TRACE_SUBSYS_COLLECT && header->event == TRACE_EVENT_COLLECT_RUN)
		replay->run = copy_of(header);
	trace_reader_seek(replay->reader, 0);
}

static int open_engine(struct replay *replay, const struct replay_options *options)
{
	static const struct event_handler handlers[] = { { EV_COLLECT_END, on_end }, { 0 } };
	const struct ev_collect_run *run = replay->run;
	int err = engine_open(&replay->engine, &(struct engine_options){
						       .stream_count = 1,
						       .nmin = run ? run->nmin : 0,
						       .has_critical_slices = options->has_critical_slices,
						       .is_spin_inactive = run && run->is_spin_inactive,
						       .keeps_strips = options->keeps_strips,
						       .is_offline = true,
						       .opens_files = options->opens_files,
						       .scripts = options->scripts,
						       .script_count = options->script_count,
						       .filter = options->filter,
					       });

	session_subscribe(replay->engine.session, handlers, replay);
	if (!err)
		decoders_set_first(replay->engine.decoders, trace_reader_extent(replay->reader)->first_ns);
	return err;
}

static void take_events(struct replay *replay)
{
	const struct ev_header *header;
	int got;

	while ((got = trace_reader_next(replay->reader, &header))) {
		if (got == 1) {
			if (header->time_ns > replay->last_ns)
				replay->last_ns = header->time_ns;
			session_hand_out(replay->engine.session, header);
		} else {
			replay->damaged_count++;
			if (got != -EBADMSG)
				break;
		}
	}
	decoders_finish(replay->engine.decoders);
	criticality_finish(replay->engine.criticality, replay->end ? replay->end->ended_ns : replay->last_ns);
}

int replay_open(const char *path, const struct replay_options *options, struct replay **out)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));
	int err = trace_open(path, &replay->reader);

	if (err)
		goto out_close;
	replay->opens_files = options->opens_files;
	replay->choice = options->choice;
	find_run(replay);
	err = open_engine(replay, options);
	if (err)
		goto out_close;
	replay->has_names = trace_take_names(replay->reader, replay->engine.symbols, &replay->damaged_count);
	take_events(replay);
	*out = replay;
	return 0;

out_close:
	replay_close(replay);
	return err;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	engine_close(&replay->engine);
	if (replay->reader)
		trace_reader_close(replay->reader);
	free(replay->run);
	free(replay->end);
	free(replay);
}

/* Of what a flight recorder kept, or a scope sent. */
static void add_late_note(const struct replay *replay, struct findings *findings)
{
	const struct trace_extent *extent = trace_reader_extent(replay->reader);
	struct text kept = { 0 };

	text_put_duration(&kept, replay->last_ns - extent->first_ns);
	if (extent->is_ring)
		findings_add_note(findings,
				  "the trace is a flight recording: only its last %s were kept; losses and cost are "
				  "those of the whole run",
				  kept.bytes);
	else
		findings_add_note(findings,
				  "the trace is from a scope: it begins when its reader connected, %s before its end; "
				  "losses and cost are those of the whole run",
				  kept.bytes);
	text_fini(&kept);
}

static void add_trace_notes(const struct replay *replay, struct findings *findings)
{
	const struct trace_extent *extent = trace_reader_extent(replay->reader);
	struct text left_out = { 0 };

	if (extent->begins_late)
		add_late_note(replay, findings);
	if (!replay->end)
		findings_add_note(findings, "the trace has no end: its writer was killed, or is still writing; the "
					    "last events are missing");
	else if (!replay->has_names)
		findings_add_note(
			findings,
			replay->opens_files
				? "the trace has no names: those shown come from files on this machine"
				: "the trace has no names: --symbols-from-files takes them from the files on this "
				  "machine");
	if (extent->has_no_forms)
		findings_add_note(findings, "the event layouts are missing from the trace: events are read with the "
					    "layouts of this version");
	if (replay->damaged_count)
		findings_add_note(findings, "%zu part%s of the trace %s damaged and left out", replay->damaged_count,
				  replay->damaged_count == 1 ? "" : "s", replay->damaged_count == 1 ? "is" : "are");
	if (trace_put_left_out(replay->reader, &left_out))
		findings_add_note(findings, "%s", left_out.bytes);
	text_fini(&left_out);
	if (!replay->damaged_count && replay->end && extent->unread_bytes)
		findings_add_note(findings, "%llu bytes after the end of the trace are ignored",
				  (unsigned long long)extent->unread_bytes);
}

static void fill_target(const struct replay *replay, struct report *report)
{
	const struct ev_collect_run *run = replay->run;

	report->target.exit_status = -1;
	if (!run)
		return;
	report->target.command = run_event_strings(run);
	report->target.pids = run->pids;
	report->target.pid_count = run->pid_count;
}

struct findings *replay_findings(struct replay *replay, size_t path_count_max)
{
	struct findings_input input = engine_findings_input(&replay->engine);
	struct findings *findings;

	input.path_count_max = path_count_max;
	input.choice = replay->choice;
	input.sample_period_ns = replay->run ? replay->run->sample_period_ns : 0;
	input.tells_kernel_apart = replay->run && replay->run->tells_kernel_apart;
	input.cpu_count = replay->run ? replay->run->cpu_count : 0;
	findings = findings_new(&input);
	fill_target(replay, findings_report(findings));
	if (replay->end)
		end_event_fill(replay->end, findings);
	add_trace_notes(replay, findings);
	return findings;
}

const struct fold_rules *replay_fold_rules(const struct replay *replay)
{
	return replay->engine.fold;
}
