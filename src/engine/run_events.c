/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/run_events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "collect/probe/span_spec.h"
#include "findings/findings.h"
#include "options/settings.h"
#include "session/session.h"

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void run_event_hand_out(struct session *session, uint64_t begin_ns, const struct settings *settings,
			const struct outcome *outcome)
{
	const struct kernel_options *options = &settings->kernel;
	size_t pid_bytes = outcome->pid_count * sizeof(*outcome->pids);
	struct ev_collect_run *e;
	struct text text = { 0 };
	struct utsname system;

	uname(&system);
	text_put(&text, outcome->command);
	text_put_bytes(&text, "", 1);
	text_put(&text, system.nodename);
	text_put_bytes(&text, "", 1);
	text_put(&text, system.release);
	text_put_bytes(&text, "", 1);
	e = xcalloc(1, sizeof(*e) + pid_bytes + text.length);
	*e = (struct ev_collect_run){
		.header = { .time_ns = begin_ns, .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_RUN },
		.realtime_ns = realtime_ns(),
		.sample_period_ns = options->sample_period_ns,
		.nmin = options->nmin,
		.tells_kernel_apart = options->kernel_stacks,
		.is_spin_inactive = settings->is_spin_inactive,
		.cpu_count = sysconf(_SC_NPROCESSORS_CONF),
		.pid_count = outcome->pid_count,
		.text_bytes = text.length,
		.tells_system = options->tells_system,
	};
	memcpy(e->pids, outcome->pids, pid_bytes);
	memcpy((char *)e->pids + pid_bytes, text.bytes, text.length);
	session_hand_out(session, &e->header);
	text_fini(&text);
	free(e);
}

static void span_event_hand_out(struct session *session, uint64_t begin_ns, uint32_t span, const struct span_spec *spec)
{
	struct ev_span_name *e;
	struct text text = { 0 };

	text_put(&text, spec->name);
	text_put_bytes(&text, "", 1);
	text_put(&text, spec->text);
	text_put_bytes(&text, "", 1);
	e = xcalloc(1, sizeof(*e) + text.length);
	*e = (struct ev_span_name){
		.header = { .time_ns = begin_ns, .subsys = TRACE_SUBSYS_SPAN, .event = TRACE_EVENT_SPAN_NAME },
		.span = span,
		.text_bytes = text.length,
		.kind = spec->kind,
	};
	memcpy(e->text, text.bytes, text.length);
	session_hand_out(session, &e->header);
	text_fini(&text);
	free(e);
}

void span_events_hand_out(struct session *session, uint64_t begin_ns, const struct span_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		span_event_hand_out(session, begin_ns, i, &specs->list[i]);
}

const char *run_event_strings(const struct ev_collect_run *e)
{
	return (const char *)(e->pids + e->pid_count);
}

/* What both directions below copy: a field of the event, and where the report has it. */
static const struct {
	size_t in_event, in_report;
} counters[] = {
#define COUNTER(name, place)                                                          \
	{                                                                             \
		offsetof(struct ev_collect_end, name), offsetof(struct report, place) \
	}
	COUNTER(samples_lost, losses.samples),
	COUNTER(mappings_lost, losses.mappings),
	COUNTER(hidden, losses.hidden),
	COUNTER(malformed, losses.malformed),
	COUNTER(late, losses.late),
	COUNTER(threads_untracked, losses.threads_untracked),
	COUNTER(stacks, stacks.taken),
	COUNTER(stack_frames, stacks.frames),
	COUNTER(stacks_unwound_late, stacks.unwound_late),
	COUNTER(stack_ns, stacks.ns),
	COUNTER(stack_median_ns, stacks.median_ns),
	COUNTER(unwind_tables, stacks.tables),
	COUNTER(unwind_table_bytes, stacks.table_bytes),
	COUNTER(bpf_ns, cost.bpf_ns),
	COUNTER(bpf_runs, cost.bpf_runs),
	COUNTER(collector_cpu_ns, cost.collector_cpu_ns),
	COUNTER(peak_rss_bytes, cost.peak_rss_bytes),
	COUNTER(startup_ns, cost.startup_ns),
	COUNTER(post_processing_ns, cost.post_processing_ns),
	COUNTER(events, cost.events),
	COUNTER(event_bytes, cost.event_bytes),
	COUNTER(events_deferred, cost.events_deferred),
#undef COUNTER
};

enum { COUNTERS = sizeof(counters) / sizeof(*counters) };
_Static_assert(sizeof(((struct ev_collect_end *)0)->stack_ends) == sizeof(((struct report *)0)->stacks.ends),
	       "one for each enum stack_end");

struct ev_collect_end *end_event_new(const struct session *session, uint64_t ended_ns, const struct report *report,
				     const struct text *notes)
{
	struct ev_collect_end *e = xcalloc(1, sizeof(*e) + notes->length);
	uint64_t time_ns = session_time_ns(session);

	*e = (struct ev_collect_end){
		.header = { .time_ns = time_ns > ended_ns ? time_ns : ended_ns,
			    .subsys = TRACE_SUBSYS_COLLECT,
			    .event = TRACE_EVENT_COLLECT_END },
		.ended_ns = ended_ns,
		.exit_status = report->target.exit_status,
		.text_bytes = notes->length,
	};
	for (size_t i = 0; i < COUNTERS; i++)
		memcpy((char *)e + counters[i].in_event, (char *)report + counters[i].in_report, sizeof(uint64_t));
	memcpy(e->stack_ends, report->stacks.ends, sizeof(e->stack_ends));
	if (notes->length)
		memcpy(e->notes, notes->bytes, notes->length);
	return e;
}

void end_event_hand_out(struct session *session, uint64_t ended_ns, const struct report *report,
			const struct text *notes)
{
	struct ev_collect_end *e = end_event_new(session, ended_ns, report, notes);

	session_hand_out(session, &e->header);
	free(e);
}

void notes_fill(const char *notes, size_t size_bytes, struct findings *findings)
{
	for (size_t at = 0; at < size_bytes; at += strlen(notes + at) + 1)
		findings_add_note(findings, "%s", notes + at);
}

void end_event_fill(const struct ev_collect_end *e, struct findings *findings)
{
	struct report *report = findings_report(findings);

	report->target.exit_status = e->exit_status;
	for (size_t i = 0; i < COUNTERS; i++)
		memcpy((char *)report + counters[i].in_report, (char *)e + counters[i].in_event, sizeof(uint64_t));
	memcpy(report->stacks.ends, e->stack_ends, sizeof(e->stack_ends));
	notes_fill(e->notes, e->text_bytes, findings);
}
