/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that run already begin to be traced. */
#include <errno.h>

#include "base/fail.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/unwind/jvms.h"
#include "collect/resolver.h"
#include "collect/span_functions.h"
#include "collect/unwind/unwinder.h"
#include "live/tracing_internal.h"
#include "symbol/symbol.h"

enum { FAMILY_ROUNDS_MAX = 8, GONE_NAMED_MAX = 8 };

/* For what other processes read of the traced ones. */
static const uint64_t settle_ns_first = 1000000000;

static int add_process(struct tracing *tracing, uint32_t pid)
{
	bool is_all = tracing->settings->kernel.trace_all;

	/* First the new mappings, then the old ones: none falls between. */
	sideband_follow(tracing->sideband, pid);
	symbols_add_process(tracing->engine.symbols, pid);
	if (is_all)
		unwinder_expect_process(tracing->unwinder, pid);
	else
		unwinder_add_process(tracing->unwinder, pid);
	pause_take_if_due(&tracing->taking_in);
	if (tracing->resolver)
		resolver_update(tracing->resolver);
	if (tracing->functions)
		span_functions_update(tracing->functions);
	return is_all ? 0 : kernel_add_target(tracing->kernel, pid);
}

static int add_processes(struct tracing *tracing, const struct pid_list *pids)
{
	int err = 0;

	for (size_t i = 0; !err && i < pids->count; i++)
		err = add_process(tracing, pids->pids[i]);
	return err;
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
	jvms_step(tracing->jvms);
	/* Most files are read by now. Of others, stacks are kept until they are. */
	symbols_settle(tracing->engine.symbols, settle_ns_first);
	unwinder_update(tracing->unwinder);
	note_gone(tracing, pids);
	err = collector_list_threads(tracing->collector);
	if (!err)
		tracing_list_waits(tracing);
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
