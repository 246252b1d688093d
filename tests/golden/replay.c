/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays a scenario (scenario.h) through a session and prints the account of the criticality analysis.
 * Lines that are not events:
 *
 *	options nmin=N threads_max=N paths_max=N pending=BYTES waits=1 rivals=1
 *		klocks=1 spins=IP
 *	advance NS		deliver all before NS
 *	finish NS		end the account there (default: at the last event)
 *	timeline N		show the mean parallelism in N equal parts
 *
 * A thread that is sampled at the ip spins= is not active from there on. With PEEK in the environment
 * the account is examined after each event: that changes nothing. With OUTSIDE threads that are not
 * traced have numbers, and more of them come and go: that changes nothing either.
 */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/criticality.h"
#include "klocks/klocks.h"
#include "externals.h"
#include "scenario.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "waits/cpu_waits.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"

static void push(struct replay *replay, const char *ns)
{
	struct scenario_event e;
	uint64_t time_ns;

	scenario_read_event(ns, &e);
	time_ns = e.event.header.time_ns;
	if (time_ns > replay->last_ns)
		replay->last_ns = time_ns;
	if (getenv("OUTSIDE"))
		name_externals(&e.event);
	replay->refused += session_push(replay->session, e.stream, &e.event, e.size_bytes) == -ENOSPC;
	/* One more that comes late would be counted as such. */
	if (getenv("OUTSIDE") && !replay->is_bounded && time_ns == replay->last_ns)
		push_external(replay->session, e.stream, time_ns);
}

/*
 * Looks at the account in the middle of it, as a report does that is shown while the program runs:
 * its waits add up to the time that threads were blocked.
 */
static void peek(void *data, const struct ev_header *header)
{
	struct replay *replay = data;
	const struct thread_metrics *thread;
	uint64_t blocked_ns = 0, waited_ns = 0;
	size_t cursor = 0;

	criticality_advance(replay->criticality, header->time_ns);
	criticality_count_open_waits(replay->criticality);
	while ((thread = criticality_next_thread(replay->criticality, &cursor)))
		blocked_ns += thread->blocked_ns;
	for (enum wait_cause cause = 0; replay->waits && cause < CAUSES; cause++)
		waited_ns += waits_by_cause(replay->waits, cause).wait_ns;
	criticality_uncount_open_waits(replay->criticality);
	if (replay->waits && blocked_ns != waited_ns)
		scenario_stop("at %llu: blocked for %llu, waited for %llu", (unsigned long long)header->time_ns,
			      (unsigned long long)blocked_ns, (unsigned long long)waited_ns);
}

/* After every event of every kind; the last to subscribe, it comes when the others have had it. */
static void start_peeking(struct replay *replay)
{
	struct event_handler handler[2] = { { 0, peek }, { 0, NULL } };

	for (const struct scenario_kind *kind = scenario_kinds; kind->name; kind++) {
		handler[0].id = kind->id;
		if (strncmp(kind->name, "nonsense", 8) != 0)
			session_subscribe(replay->session, handler, replay);
	}
}

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			const struct ev_sched_sample *before)
{
	const struct replay *replay = data;

	(void)thread;
	(void)time_ns;
	(void)before;
	return e->ip == replay->spin_ip && !e->kernel_ip;
}

static void start(struct replay *replay, struct keys *keys)
{
	struct criticality_options options = {
		.nmin = key_number(keys, "nmin", 0),
		.threads_max = key_number(keys, "threads_max", 0),
		.paths_max = key_number(keys, "paths_max", 0),
	};
	bool has_waits = key_number(keys, "waits", 0), has_rivals = key_number(keys, "rivals", 0);
	bool has_klocks = key_number(keys, "klocks", 0);

	replay->spin_ip = key_number(keys, "spins", 0);
	if (replay->spin_ip) {
		options.is_spinning = is_spinning;
		options.spin_data = replay;
	}
	replay->is_bounded = key_text(keys, "pending", NULL);
	replay->session = session_new(SCENARIO_STREAMS, key_number(keys, "pending", 1 << 20));
	keys_end(keys);
	replay->threads = threads_new(replay->session);
	replay->stacks = stacks_new(replay->session, 0);
	options.stacks = replay->stacks;
	replay->files = files_new(replay->session, 0);
	replay->others = others_new(replay->session);
	options.missing = replay->missing = missing_wakeups_new(replay->session);
	if (has_waits)
		options.waits = replay->waits = waits_new(replay->files, replay->others, replay->missing);
	if (has_rivals)
		replay->cpu_waits = cpu_waits_new(replay->session, replay->others);
	if (has_klocks)
		replay->klocks = klocks_new(replay->session, replay->threads);
	replay->criticality = criticality_new(replay->session, replay->threads, &options);
	if (getenv("PEEK"))
		start_peeking(replay);
}

static void on_word(void *data, const char *word)
{
	struct replay *replay = data;
	struct keys keys = { .count = 0 };

	if (!strcmp(word, "options")) {
		if (replay->session)
			scenario_stop("options come first");
		keys_parse(&keys);
		start(replay, &keys);
		return;
	}
	if (!replay->session)
		start(replay, &keys);
	if (!strcmp(word, "advance"))
		session_advance(replay->session, scenario_number(scenario_word("the time")));
	else if (!strcmp(word, "finish"))
		replay->finish_ns = scenario_number(scenario_word("the time"));
	else if (!strcmp(word, "timeline"))
		replay->timeline_count = scenario_number(scenario_word("the number of parts"));
	else
		push(replay, word);
}

static void end(struct replay *replay)
{
	criticality_free(replay->criticality);
	waits_free(replay->waits);
	cpu_waits_free(replay->cpu_waits);
	klocks_free(replay->klocks);
	others_free(replay->others);
	missing_wakeups_free(replay->missing);
	files_free(replay->files);
	stacks_free(replay->stacks);
	threads_free(replay->threads);
	session_free(replay->session);
}

int main(int argc, char **argv)
{
	struct replay replay = { 0 };

	if (argc != 2)
		return fprintf(stderr, "Usage: replay SCENARIO\n"), 2;
	scenario_read(argv[1], on_word, &replay);
	if (!replay.session)
		scenario_stop("no events");
	session_finish(replay.session);
	criticality_finish(replay.criticality, replay.finish_ns ? replay.finish_ns : replay.last_ns);
	replay_print(&replay);
	end(&replay);
	return 0;
}
