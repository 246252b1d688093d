/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_ends.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "engine/run_events.h"

/* --- What is traced ------------------------------------------------------------------------------ */

static bool has_pid(const struct text *pids, const void *pid)
{
	for (size_t at = 0; at < pids->length; at += sizeof(uint32_t))
		if (!memcmp(pids->bytes + at, pid, sizeof(uint32_t)))
			return true;
	return false;
}

static void add_pids(struct text *pids, const struct ev_collect_run *run)
{
	for (size_t i = 0; i < run->pid_count; i++) {
		const uint32_t *pid = &run->pids[i];

		if (!has_pid(pids, pid))
			text_put_bytes(pids, (const char *)pid, sizeof(*pid));
	}
}

/* "./a and ./b". */
static void add_command(struct text *commands, const char *command)
{
	if (commands->length && strstr(commands->bytes, command))
		return;
	if (commands->length)
		text_put(commands, " and ");
	text_put(commands, command);
}

static void put_string(struct text *out, const char *string)
{
	text_put(out, string);
	text_put_bytes(out, "", 1);
}

static const struct ev_collect_run *earliest_run(const struct merge_source *sources, size_t count)
{
	const struct ev_collect_run *first = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct ev_collect_run *run = sources[i].run;

		if (run && (!first || run->header.time_ns < first->header.time_ns))
			first = run;
	}
	return first;
}

struct ev_collect_run *merged_run(const struct merge_source *sources, size_t count, const struct merge_hosts *hosts)
{
	const struct ev_collect_run *first = earliest_run(sources, count);
	struct text pids = { 0 }, commands = { 0 };
	struct ev_collect_run *run;
	const char *kernel;
	bool tells_system = false;

	if (!first)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (sources[i].run) {
			add_pids(&pids, sources[i].run);
			add_command(&commands, run_event_strings(sources[i].run));
			tells_system |= sources[i].run->tells_system;
		}
	kernel = run_event_strings(first) + strlen(run_event_strings(first)) + 1;
	kernel += strlen(kernel) + 1;
	text_put_bytes(&commands, "", 1);
	put_string(&commands, merge_hosts_names(hosts));
	put_string(&commands, kernel);
	run = xcalloc(1, sizeof(*run) + pids.length + commands.length);
	*run = *first;
	run->tells_system = tells_system;
	if (merge_hosts_count(hosts) > 1)
		run->cpu_count = merge_hosts_cpu_count(hosts);
	run->pid_count = pids.length / sizeof(uint32_t);
	run->text_bytes = commands.length;
	if (pids.length)
		memcpy(run->pids, pids.bytes, pids.length);
	memcpy((char *)run->pids + pids.length, commands.bytes, commands.length);
	text_fini(&pids);
	text_fini(&commands);
	return run;
}

/* --- How it ended ---------------------------------------------------------------------------------- */

static bool has_sentence(const struct text *notes, const char *sentence)
{
	for (size_t at = 0; at < notes->length; at += strlen(notes->bytes + at) + 1)
		if (!strcmp(notes->bytes + at, sentence))
			return true;
	return false;
}

static void add_notes(struct text *notes, const struct ev_collect_end *end)
{
	const char *at = end->notes, *behind = at + end->text_bytes;

	for (; at < behind; at += strlen(at) + 1)
		if (!has_sentence(notes, at))
			put_string(notes, at);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Each pinch has seen what the kernel hides, all others count their own. */
static void add_counts(struct ev_collect_end *sum, const struct ev_collect_end *end)
{
	sum->ended_ns = greater(sum->ended_ns, end->ended_ns);
	sum->header.time_ns = greater(sum->header.time_ns, end->header.time_ns);
	if (sum->exit_status == UINT32_MAX || !sum->exit_status)
		sum->exit_status = end->exit_status == UINT32_MAX ? sum->exit_status : end->exit_status;
	sum->samples_lost += end->samples_lost;
	sum->mappings_lost += end->mappings_lost;
	sum->hidden = greater(sum->hidden, end->hidden);
	sum->malformed += end->malformed;
	sum->late += end->late;
	sum->threads_untracked += end->threads_untracked;
	if (end->stacks > sum->stacks / 2)
		sum->stack_median_ns = end->stack_median_ns;
	sum->stacks += end->stacks;
	sum->stack_frames += end->stack_frames;
	for (size_t i = 0; i < sizeof(sum->stack_ends) / sizeof(*sum->stack_ends); i++)
		sum->stack_ends[i] += end->stack_ends[i];
	sum->stacks_unwound_late += end->stacks_unwound_late;
	sum->stack_ns += end->stack_ns;
	sum->unwind_tables += end->unwind_tables;
	sum->unwind_table_bytes += end->unwind_table_bytes;
	sum->bpf_ns += end->bpf_ns;
	sum->bpf_runs += end->bpf_runs;
	sum->collector_cpu_ns += end->collector_cpu_ns;
	sum->peak_rss_bytes += end->peak_rss_bytes;
	sum->startup_ns += end->startup_ns;
	sum->post_processing_ns += end->post_processing_ns;
	sum->events += end->events;
	sum->event_bytes += end->event_bytes;
	sum->events_deferred += end->events_deferred;
}

static void add_joined(struct text *notes, uint64_t joined)
{
	struct text note = { 0 };

	text_put_count(&note, joined);
	text_put(&note, joined == 1 ? " wait" : " waits");
	text_put(
		&note,
		" for data of another host: the thread that sent it is taken to be the one that waits at the other end "
		"of the connection");
	if (joined)
		put_string(notes, note.bytes);
	text_fini(&note);
}

static void add_order(struct text *notes, struct merge_order order)
{
	struct text note = { 0 };

	if (order.corrected) {
		text_put(&note,
			 "messages between hosts would have come before they were sent: the clocks were corrected "
			 "within their uncertainty");
		put_string(notes, note.bytes);
		note.length = 0;
	}
	if (order.left) {
		text_put_count(&note, order.left);
		text_put(&note, " messages between hosts come before they were sent, by up to ");
		text_put_duration(&note, order.left_ns_max);
		text_put(&note, ": the clocks are not known well enough");
		put_string(notes, note.bytes);
	}
	text_fini(&note);
}

struct ev_collect_end *merged_end(const struct merge_source *sources, size_t count, const struct merge_hosts *hosts,
				  uint64_t joined)
{
	struct ev_collect_end sum = {
		.header = { .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_END },
		.exit_status = UINT32_MAX,
	}, *end;
	struct text notes = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!sources[i].end) {
			text_fini(&notes);
			return NULL;
		}
		add_counts(&sum, sources[i].end);
		add_notes(&notes, sources[i].end);
	}
	add_joined(&notes, joined);
	add_order(&notes, merge_hosts_order(hosts));
	end = xcalloc(1, sizeof(*end) + notes.length);
	*end = sum;
	end->text_bytes = notes.length;
	if (notes.length)
		memcpy(end->notes, notes.bytes, notes.length);
	text_fini(&notes);
	return end;
}
