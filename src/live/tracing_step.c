/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a run goes on: when the rings are drained, what else is due then, and what is waited for in between. */
#include "live/tracing_internal.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "account/criticality.h"
#include "base/clock.h"
#include "collect/cgroup_limits.h"
#include "collect/clock_watch.h"
#include "collect/collector.h"
#include "collect/goroutines.h"
#include "collect/own/own_areas.h"
#include "collect/probe/loop_watch.h"
#include "collect/resolver.h"
#include "collect/span_functions.h"
#include "collect/titles.h"
#include "collect/unwind/jvms.h"
#include "collect/unwind/unwinder.h"
#include "collect/usdt_probes.h"
#include "engine/recorder.h"
#include "live/memory_trace.h"
#include "live/serving.h"
#include "session/backlog.h"
#include "view/status.h"

enum {
	OWN_FDS = 4,
	POLL_MS_EARLY = 8, /* what was due so soon is done at once */
	POLL_MS_MIN = 20,
	POLL_MS_MAX = 256,       /* the fewer visits, the warmer are the caches in them */
	POLL_MS_MAX_NEW = 80,    /* what is shown is new; and the rings of interrupts have no bell */
	POLL_MS_NAMES = 64,      /* who has them may end */
	POLL_SLACK_NS = 8000000, /* two ticks at HZ=250 */
	POLL_SLACK_NS_FIRST = 100000,
};

/*
 * How full the rings are when they are drained: sooner if more is in them, later if there is less, for each time a thread of
 * the program has to make way. One that is half full is drained at once.
 */
static const double FILL_URGENT = 0.5, FILL_HIGH = 0.2, FILL_LOW = 0.08;

static void show_status(struct tracing *tracing)
{
	bool is_behind = !backlog_is_empty(tracing->engine.backlog);
	struct kernel_counts kernel = kernel_counts(tracing->kernel);
	struct criticality_counts counts = criticality_counts(tracing->engine.criticality);
	struct status_counts status = {
		.time_ns = clock_ns() - tracing->started_ns,
		.threads = is_behind ? kernel.threads_alive : counts.alive,
		.parallelism = is_behind ? -1.0 : (double)counts.active,
		.events = session_counts(tracing->engine.session).delivered,
		.lost = is_behind ? kernel.lost : counts.lost_records,
	};

	status_show(&status);
}

static void hear(struct tracing *tracing)
{
	unsigned int bells = kernel_hush(tracing->kernel);

	if (bells & 1u << BELL_TABLES)
		tracing->poll_ms = POLL_MS_FIRST;
	if (bells & 1u << BELL_NAMES && tracing->poll_ms > POLL_MS_NAMES)
		tracing->poll_ms = POLL_MS_NAMES;
	if (bells & 1u << BELL_LOOPS)
		loop_watch_begin(kernel_loop_watch(tracing->kernel), clock_ns());
	if (bells & (1u << BELL_FULL | 1u << BELL_OWN))
		tracing->polled_ns = 0;
}

int tracing_wait_signal(struct tracing *tracing, int wait_ms, pid_t *sender)
{
	const struct tracing_watch *watch = tracing->watch;
	struct pollfd poll_fds[OWN_FDS + TRACING_WATCH_MAX] = {
		{ .fd = tracing->signal_fd, .events = POLLIN },
		{ .fd = kernel_doorbell_fd(tracing->kernel), .events = POLLIN },
		{ .fd = symbols_poll_fd(tracing->engine.symbols), .events = POLLIN },
		{ .fd = serving_poll_fd(tracing->serving), .events = POLLIN },
	};
	size_t watch_count = watch ? watch->count : 0;
	struct signalfd_siginfo info;

	/* However often it rings, that is as often as we look. */
	if ((wait_ms >= 0 && wait_ms <= POLL_MS_FIRST) || tracing->ended_ns)
		poll_fds[1].fd = -1;
	for (size_t i = 0; i < watch_count; i++)
		poll_fds[OWN_FDS + i] = watch->fds[i];
	if (watch && watch->wait_ms_max >= 0 && (wait_ms < 0 || watch->wait_ms_max < wait_ms))
		wait_ms = watch->wait_ms_max;
	poll(poll_fds, OWN_FDS + watch_count, wait_ms);
	for (size_t i = 0; i < watch_count; i++)
		watch->fds[i].revents = poll_fds[OWN_FDS + i].revents;
	if (poll_fds[1].revents & POLLIN)
		hear(tracing);
	if (read(tracing->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	*sender = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE ? info.ssi_pid : 0;
	return info.ssi_signo;
}

/* Long naps may end at a tick of the kernel: a timer's interrupt costs more than a poll. */
static void choose_slack(struct tracing *tracing)
{
	bool is_soon = tracing->poll_ms < POLL_MS_MIN ||
		       own_areas_due_ns(tracing->own_areas) < clock_ns() + POLL_MS_MIN * 1000000ull;
	unsigned long slack_ns = is_soon ? POLL_SLACK_NS_FIRST : POLL_SLACK_NS;

	if (tracing->slack_ns != slack_ns)
		prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
	tracing->slack_ns = slack_ns;
}

/* Of two times; -1: never. */
static int sooner(int first_ms, int second_ms)
{
	return second_ms < 0 || (first_ms >= 0 && first_ms < second_ms) ? first_ms : second_ms;
}

/* In how many ms the rings are to be drained: soon, when the last thread has ended. */
static int batch_wait_ms(const struct tracing *tracing)
{
	bool has_ended = !kernel_counts(tracing->kernel).threads_alive;
	int poll_ms = has_ended && tracing->poll_ms > POLL_MS_MIN ? POLL_MS_MIN : tracing->poll_ms;
	uint64_t due_ns = tracing->polled_ns + poll_ms * 1000000ull, now_ns = clock_ns();

	/* Rings of programs are small, and no bell rings when one is nearly full. */
	if (own_areas_due_ns(tracing->own_areas) < due_ns)
		due_ns = own_areas_due_ns(tracing->own_areas);
	if (collector_fill(tracing->collector) > FILL_URGENT || due_ns < now_ns)
		return 0;
	return (int)((due_ns - now_ns + 999999) / 1000000);
}

/* Chooses when the rings are drained next, by how full they were. */
static void choose_batch(struct tracing *tracing)
{
	const struct settings *settings = tracing->settings;
	int poll_ms_max = settings->has_tui || settings->kernel.tells_system ? POLL_MS_MAX_NEW : POLL_MS_MAX;
	double fill = collector_fill(tracing->collector);

	if (fill > FILL_HIGH && tracing->poll_ms > POLL_MS_MIN)
		tracing->poll_ms /= 2;
	else if (fill < FILL_LOW && tracing->poll_ms < poll_ms_max)
		tracing->poll_ms *= 2;
}

static void take_batch(struct tracing *tracing)
{
	if (batch_wait_ms(tracing) > POLL_MS_EARLY) {
		collector_look(tracing->collector);
		return;
	}
	tracing->polled_ns = clock_ns();
	kernel_await_names(tracing->kernel);
	collector_poll(tracing->collector);
	choose_batch(tracing);
}

/* Until there are tables for all code that runs, copies of stacks come instead: they fill the rings. */
static void update_unwinder(struct tracing *tracing)
{
	if (!unwinder_update(tracing->unwinder))
		return;
	kernel_allow_memory(tracing->kernel);
	tracing->poll_ms = POLL_MS_FIRST;
}

/* How long to wait until there is something to do. */
static int next_wait_ms(struct tracing *tracing)
{
	int wait_ms = batch_wait_ms(tracing);

	choose_slack(tracing);
	wait_ms = sooner(wait_ms, goroutines_wait_ms(tracing->goroutines));
	wait_ms = sooner(wait_ms, jvms_wait_ms(tracing->jvms));
	return sooner(wait_ms, collector_wait_ms(tracing->collector));
}

/* Who looks at a report, and who decides by an analysis, wants all of them at once. */
static void defer(struct tracing *tracing)
{
	if (!tracing->settings->has_tui && !tracing->settings->is_spin_inactive)
		deferral_step(&tracing->deferral, tracing->engine.backlog,
			      session_counts(tracing->engine.session).delivered, clock_ns(), &tracing->taking_in);
}

static void list_long_waits(struct tracing *tracing)
{
	if (!tracing->settings->kernel.trace_all)
		collector_list_long_waits(tracing->collector);
}

int tracing_step(struct tracing *tracing, pid_t *sender)
{
	take_batch(tracing);
	defer(tracing);
	list_long_waits(tracing);
	symbols_step(tracing->engine.symbols);
	titles_step(tracing->titles);
	cgroup_limits_step(tracing->cgroups);
	goroutines_step(tracing->goroutines);
	jvms_step(tracing->jvms);
	clock_watch_step(tracing->clocks, tracing->engine.session);
	tracing_take_newcomers(tracing);
	if (tracing->resolver)
		resolver_update(tracing->resolver);
	if (tracing->functions)
		span_functions_update(tracing->functions);
	if (tracing->usdt)
		usdt_probes_update(tracing->usdt);
	recorder_step(tracing->recorder, clock_ns());
	serving_step(tracing->serving, tracing);
	memory_trace_step(tracing->memory, tracing->recorder);
	update_unwinder(tracing);
	sampling_watch_step(&tracing->sampling, &tracing->engine, tracing->kernel, clock_ns());
	if (!tracing->settings->is_quiet && status_is_due())
		show_status(tracing);
	return tracing_wait_signal(tracing, next_wait_ms(tracing), sender);
}
