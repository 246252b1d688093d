/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes begin to be traced that pinch did not start: those that run already, and those that were awaited. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/unwind/jvms.h"
#include "collect/resolver.h"
#include "collect/span_functions.h"
#include "collect/usdt_probes.h"
#include "collect/unwind/unwinder.h"
#include "live/tracing_internal.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum { FAMILY_ROUNDS_MAX = 8, GONE_NAMED_MAX = 8 };

/* For what other processes read of the traced ones. */
static const uint64_t settle_ns_first = 1000000000;

static void read_process(struct tracing *tracing, uint32_t pid)
{
	/* First the new mappings, then the old ones: none falls between. */
	sideband_follow(tracing->sideband, pid);
	symbols_add_process(tracing->engine.symbols, pid);
	unwinder_expect_process(tracing->unwinder, pid);
	pause_take_if_due(&tracing->taking_in);
	if (tracing->resolver)
		resolver_update(tracing->resolver);
	if (tracing->functions)
		span_functions_update(tracing->functions);
	if (tracing->usdt)
		usdt_probes_update(tracing->usdt);
}

/* --- Those that come later ------------------------------------------------------------------- */

enum { KNOWN_MAX = 65536 };

static const uint64_t look_ns = 250000000; /* from one look into the control groups to the next */

/*
 * Processes that are traced. The kernel side begins by itself with those that get an awaited name; those that come into
 * a control group are looked for.
 */
struct newcomers {
	struct table *known;   /* by pid */
	struct pid_list fresh; /* nothing of theirs was read yet */
	uint64_t looked_ns;
};

static void know(struct newcomers *newcomers, uint32_t pid)
{
	if (table_count(newcomers->known) < KNOWN_MAX)
		table_put(newcomers->known, pid, newcomers);
}

/* Each list of threads has them all again. */
static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;
	struct newcomers *newcomers = data;

	if (!thread_is_traced(header->thread) || e->tid != e->pid || table_find(newcomers->known, e->pid))
		return;
	know(newcomers, e->pid);
	pid_list_add(&newcomers->fresh, e->pid);
}

/* What its parent has mapped it has, too. */
static void on_born(void *data, const struct ev_header *header)
{
	const struct ev_thread_born *e = (const struct ev_thread_born *)header;

	if (thread_is_traced(header->thread) && e->tid == e->pid)
		know(data, e->pid);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	struct newcomers *newcomers = data;

	table_take(newcomers->known, ((const struct ev_space_exit *)header)->pid);
}

static const struct event_handler handlers[] = { { EV_THREAD_FOUND, on_found },
						 { EV_THREAD_BORN, on_born },
						 { EV_SPACE_EXIT, on_exit_of },
						 { 0 } };

struct newcomers *newcomers_new(struct tracing *tracing)
{
	const struct settings *settings = tracing->settings;
	struct newcomers *newcomers;

	if (!settings->kernel.awaited_count && !settings->cgroup_count)
		return NULL;
	newcomers = xcalloc(1, sizeof(*newcomers));
	newcomers->known = table_new();
	session_subscribe(tracing->engine.session, handlers, newcomers);
	return newcomers;
}

void newcomers_free(struct newcomers *newcomers)
{
	if (!newcomers)
		return;
	table_free(newcomers->known);
	pid_list_fini(&newcomers->fresh);
	free(newcomers);
}

/* --- Those that run already -------------------------------------------------------------------- */

static int add_process(struct tracing *tracing, uint32_t pid)
{
	if (tracing->newcomers)
		know(tracing->newcomers, pid);
	read_process(tracing, pid);
	return tracing->settings->kernel.trace_all ? 0 : kernel_add_target(tracing->kernel, pid);
}

static int add_processes(struct tracing *tracing, const struct pid_list *pids)
{
	int err = 0;

	for (size_t i = 0; !err && i < pids->count; i++)
		err = add_process(tracing, pids->pids[i]);
	return err;
}

/* Of the control groups, those that are not traced yet. */
static void find_in_cgroups(struct tracing *tracing, struct pid_list *found)
{
	const struct settings *settings = tracing->settings;
	struct pid_list all = { 0 };

	for (size_t i = 0; i < settings->cgroup_count; i++)
		targets_in_cgroup(settings->cgroup_fds[i], &all);
	for (size_t i = 0; i < all.count; i++)
		if (!table_find(tracing->newcomers->known, all.pids[i]))
			pid_list_add(found, all.pids[i]);
	pid_list_fini(&all);
}

static void look_into_cgroups(struct tracing *tracing)
{
	struct pid_list found = { 0 };
	uint64_t now_ns = clock_ns();

	if (now_ns - tracing->newcomers->looked_ns < look_ns)
		return;
	tracing->newcomers->looked_ns = now_ns;
	find_in_cgroups(tracing, &found);
	if (found.count && !add_processes(tracing, &found))
		collector_list_threads(tracing->collector);
	pid_list_fini(&found);
}

void tracing_take_newcomers(struct tracing *tracing)
{
	struct newcomers *newcomers = tracing->newcomers;

	if (!newcomers || tracing->settings->kernel.trace_all)
		return;
	for (size_t i = 0; i < newcomers->fresh.count; i++)
		read_process(tracing, newcomers->fresh.pids[i]);
	pid_list_fini(&newcomers->fresh);
	if (tracing->settings->cgroup_count)
		look_into_cgroups(tracing);
}

/*
 * What a target starts is followed by the kernel side. Children that were there before are looked for until none is
 * new: those that are found last may have started others meanwhile.
 */
static int add_children(struct tracing *tracing, const struct pid_list *targets)
{
	bool is_wanted = !tracing->settings->has_no_children && !tracing->settings->kernel.threads_only;
	struct pid_list all = { 0 };
	size_t count = targets->count;
	int err = 0;

	for (size_t i = 0; i < targets->count; i++)
		pid_list_add(&all, targets->pids[i]);
	for (int round = 0; !err && count && round < FAMILY_ROUNDS_MAX; round++) {
		struct pid_list found = { 0 };

		targets_find_descendants(&all, &found);
		for (size_t i = 0; i < found.count; i++) {
			pid_list_add(&tracing->children, found.pids[i]);
			pid_list_add(&all, found.pids[i]);
		}
		count = is_wanted ? found.count : 0;
		if (count)
			err = add_processes(tracing, &found);
		pid_list_fini(&found);
	}
	pid_list_fini(&all);
	return err;
}

static void note_gone(struct tracing *tracing, const struct pid_list *targets)
{
	const struct pid_list *gone = &tracing->settings->gone;

	for (size_t i = 0; i < gone->count; i++)
		pid_list_add(&tracing->gone, gone->pids[i]);
	for (size_t i = 0; i < targets->count; i++)
		if (!targets_is_there(targets->pids[i]))
			pid_list_add(&tracing->gone, targets->pids[i]);
}

int tracing_add_processes(struct tracing *tracing, const struct pid_list *pids)
{
	bool is_all = tracing->settings->kernel.trace_all;
	int err;

	if (is_all)
		sideband_follow_all(tracing->sideband);
	err = add_processes(tracing, pids);
	if (!err && !is_all)
		err = add_children(tracing, pids);
	if (err)
		return err;
	/* After all else that is asked about files: who waits for an answer would wait for the tables asked for before, too. */
	if (!is_all)
		unwinder_add_expected(tracing->unwinder);
	jvms_step(tracing->jvms);
	/* Most files are read by now. Of others, stacks are kept until they are. */
	symbols_settle(tracing->engine.symbols, settle_ns_first);
	unwinder_update(tracing->unwinder);
	note_gone(tracing, pids);
	err = collector_list_threads(tracing->collector);
	/* Of all processes, their unwind tables would be needed. */
	if (!err && !is_all)
		collector_list_waits(tracing->collector);
	/* Waiting for the end of what has ended already would take for ever. */
	if (!err && !is_all && !kernel_counts(tracing->kernel).threads_alive)
		err = fail_plain(-ESRCH, "the target has ended: no thread is left to trace");
	return err;
}

static void put_children(const struct tracing *tracing, struct text *notes)
{
	size_t count = tracing->children.count;
	const struct settings *settings = tracing->settings;
	bool is_one = count == 1;

	if (!count)
		return;
	if (settings->has_no_children || settings->kernel.threads_only)
		text_printf(notes, "%zu child process%s of the target ran already and %s not traced: %s leaves %s out",
			    count, is_one ? "" : "es", is_one ? "is" : "are",
			    settings->has_no_children ? "--no-children" : "--threads-only", is_one ? "it" : "them");
	else
		text_printf(notes,
			    "%zu child process%s of the target ran already and %s traced, too (--no-children: not)",
			    count, is_one ? "" : "es", is_one ? "is" : "are");
	text_put_bytes(notes, "", 1);
}

static void put_gone(const struct tracing *tracing, struct text *notes)
{
	const struct pid_list *gone = &tracing->gone;
	size_t count = gone->count < GONE_NAMED_MAX ? gone->count : GONE_NAMED_MAX;

	if (!gone->count)
		return;
	text_put(notes, gone->count == 1 ? "process " : "processes ");
	for (size_t i = 0; i < count; i++)
		text_printf(notes, "%s%u", i ? ", " : "", gone->pids[i]);
	if (count < gone->count)
		text_printf(notes, " and %zu more", gone->count - count);
	text_put(notes, gone->count == 1 ? " was not there when tracing began: skipped"
					 : " were not there when tracing began: skipped");
	text_put_bytes(notes, "", 1);
}

void tracing_put_target_notes(const struct tracing *tracing, struct text *notes)
{
	put_children(tracing, notes);
	put_gone(tracing, notes);
}
