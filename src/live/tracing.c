/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/tracing_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "account/criticality.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "collect/clock_watch.h"
#include "collect/collector.h"
#include "collect/probe/kernel_types.h"
#include "collect/probe/klock_spec.h"
#include "collect/probe/span_spec.h"
#include "collect/cgroup_limits.h"
#include "collect/resolver.h"
#include "collect/span_functions.h"
#include "collect/usdt_probes.h"
#include "collect/machine_use.h"
#include "collect/own/own_areas.h"
#include "collect/target/cpus.h"
#include "collect/target/machine.h"
#include "collect/goroutines.h"
#include "collect/unwind/jvms.h"
#include "collect/titles.h"
#include "collect/unwind/unwinder.h"
#include "engine/recorder.h"
#include "live/memory_trace.h"
#include "engine/run_events.h"
#include "live/own_trigger.h"
#include "live/privileges.h"
#include "live/serving.h"
#include "session/backlog.h"
#include "query/report_whatifs.h"
#include "show/show.h"
#include "show/show_files.h"
#include "view/status.h"
#include "waits/sums/missing_wakeups.h"

enum {
	HIDDEN_MS_MAX = 100,          /* for the next switch of each CPU */
	HIDDEN_POLL_MS = 4,           /* events are delivered 2 ms after they were */
	END_MS_MAX = 500,             /* on a busy machine, from a process's end to its last switch */
	PRIORITY = -20,               /* as nice(2) has it */
	TAKE_IN_PERIOD_NS = 10000000, /* while other things take long */
	NMIN_ALL = 65535,             /* more are never active: every slice is critical */
};

/* For what other processes read of the traced ones. */
static const uint64_t settle_ns_last = 2000000000, java_ns_last = 3000000000;

/* Of a run that is shown in a browser, memory until its page is written. */
enum { HTML_TRACE_BYTES_MAX = 16 << 20 };

/* However long something takes, the kernel's buffers must not run over. */
static void take_pause(void *data)
{
	tracing_take_in(data);
}

/*
 * Only of a command that runs to its end it can be said how long it would have taken; a page for a browser has what
 * threads did of any run. 0: none is wanted.
 */
static uint64_t memory_trace_bytes_max(const struct settings *settings)
{
	if (settings->html_path)
		return HTML_TRACE_BYTES_MAX;
	return !settings->has_target && (show_is_asked(settings) || show_files_are_asked(settings))
		       ? REPORT_WHATIFS_TRACE_BYTES_MAX
		       : 0;
}

static int open_engine(struct tracing *tracing)
{
	const struct settings *settings = tracing->settings;
	struct engine *engine = &tracing->engine;
	int err = engine_open(engine, &(struct engine_options){
					      .stream_count = collector_stream_count(tracing->kernel),
					      .nmin = settings->kernel.nmin,
					      .has_critical_slices = settings->has_critical_slices,
					      .is_spin_inactive = settings->is_spin_inactive,
					      .keeps_strips = settings->has_tui || settings->html_path,
				      });

	/* Early: what a child shares with us counts as its memory too. */
	symbols_begin(engine->symbols);
	if (settings->asks_java)
		symbols_ask_java(engine->symbols);
	return err;
}

/* All else that listens to the engine's session. */
/* Maps can be made with fewer privileges than this needs. */
static int open_sideband(struct tracing *tracing)
{
	int err = sideband_open(&tracing->sideband);

	if (err && !machine_explain_missing())
		fail(err, "cannot follow the mappings of processes");
	return err;
}

static int open_listeners(struct tracing *tracing)
{
	const struct settings *settings = tracing->settings;
	struct engine *engine = &tracing->engine;
	int err = 0;

	tracing->kernel_types = kernel_types_new(kernel_types_known(tracing->kernel));
	symbols_set_kernel_types(engine->symbols, kernel_types_member, tracing->kernel_types);
	kernel_tell_names(tracing->kernel, engine->symbols);
	tracing->unwinder = unwinder_new(engine->session, engine->symbols,
					 &(struct unwinder_options){
						 .chunks_fd = kernel_unwind_chunks_fd(tracing->kernel),
						 .spaces_fd = kernel_unwind_spaces_fd(tracing->kernel),
						 .depth = settings->kernel.depth,
					 });
	tracing->newcomers = newcomers_new(tracing);
	tracing->titles = titles_new(engine->session, engine->symbols);
	tracing->cgroups = cgroup_limits_new(engine->session);
	tracing->machine_use = machine_use_new(engine->session, engine->symbols);
	tracing->goroutines = goroutines_new(engine->session, engine->symbols);
	tracing->jvms = jvms_new(engine->session, engine->symbols, tracing->unwinder);
	tracing->collector = collector_new(engine->session, tracing->kernel, tracing->sideband);
	tracing->own_areas = own_areas_new(engine->session, collector_own_stream(tracing->collector), engine->symbols,
					   engine->present);
	collector_set_own_areas(tracing->collector, tracing->own_areas);
	if (settings->own_trigger.longer_ns)
		tracing->own_trigger =
			own_trigger_new(engine->session, engine->present, tracing->own_areas, &settings->own_trigger);
	tracing->taking_in = (struct pause){ take_pause, tracing, TAKE_IN_PERIOD_NS, 0 };
	tracing_set_pause(tracing, NULL);
	err = serving_begin(tracing->serving, engine);
	if (!err && settings->trace_path)
		err = recorder_open(engine, settings->trace_path, &settings->ring, &tracing->recorder);
	else if (!err && memory_trace_bytes_max(settings))
		tracing->memory = memory_trace_new(engine, memory_trace_bytes_max(settings), &tracing->recorder);
	sampling_watch_open(&tracing->sampling, engine->session);
	return err;
}

/* Signals are read from a descriptor from here on; the kernel side must not be left waiting. */
static int open_signals(struct tracing *tracing)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGCHLD);
	if (tracing->settings->has_tui) {
		sigaddset(&signals, SIGWINCH);
		sigaddset(&signals, SIGTSTP);
		sigaddset(&signals, SIGCONT);
	}
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	tracing->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return tracing->signal_fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static int open_kernel(struct tracing *tracing)
{
	struct kernel_options options = tracing->settings->kernel;
	int err = 0;

	options.spans = &tracing->settings->spans;
	options.usdt = &tracing->settings->usdt;
	if (tracing->settings->counts_acquisitions) {
		tracing->klock_spec = klock_spec_new();
		err = klock_spec_add_user(tracing->klock_spec);
		options.acquisitions = tracing->klock_spec;
	}
	/* It counts what spins as active, so it cannot tell which slices will be critical. */
	if (tracing->settings->is_spin_inactive)
		options.nmin = NMIN_ALL;
	return err ? err : kernel_open(&options, &tracing->kernel);
}

static int check_clock(void)
{
	int err = clock_begin();

	return err ? fail_plain(err,
				"cannot trace: it is not known how far the clock of this time namespace is from the "
				"kernel's; start pinch from a shell in it, or outside of it")
		   : 0;
}

int tracing_open(const struct settings *settings, struct tracing **out)
{
	struct tracing *tracing = xcalloc(1, sizeof(*tracing));
	int err;

	tracing->settings = settings;
	tracing->opened_ns = clock_ns();
	tracing->suspended_ns = clock_suspended_ns();
	tracing->signal_fd = -1;
	err = check_clock();
	if (!err)
		err = show_check(settings);
	if (!err)
		err = open_signals(tracing);
	if (!err)
		err = open_kernel(tracing);
	/* Its processes have this one's priority, and are made before there are threads. */
	if (!err)
		err = open_engine(tracing);
	/* None of these processes has its sockets. */
	if (!err)
		err = serving_open(&settings->stream, &tracing->serving);
	if (!err && settings->clocks.peer_count)
		err = clock_watch_open(settings->clocks.peers, settings->clocks.peer_count, &tracing->clocks);
	/*
	 * On a busy machine the kernel would take ten times as long to verify programs; and a reader that waits for the CPU behind its
	 * targets would lose records.
	 */
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	if (!err)
		err = kernel_begin_load(tracing->kernel);
	if (!err)
		err = open_sideband(tracing);
	if (!err)
		err = open_listeners(tracing);
	if (!err)
		err = kernel_attach(tracing->kernel);
	if (!err && settings->kernel.follows_hosts)
		tracing->resolver = resolver_new(tracing->engine.session, tracing->engine.symbols, tracing->kernel);
	if (!err && span_specs_have(&settings->spans, SPAN_OF_FUNCTION))
		tracing->functions = span_functions_new(tracing->engine.session, tracing->engine.symbols,
							tracing->kernel, &settings->spans);
	if (!err && settings->usdt.count)
		tracing->usdt = usdt_probes_new(tracing->engine.session, tracing->engine.symbols, tracing->kernel,
						&settings->usdt);
	if (err)
		goto out_close;
	engine_connect(&tracing->engine);
	*out = tracing;
	return 0;

out_close:
	tracing_close(tracing);
	return err;
}

void tracing_close(struct tracing *tracing)
{
	if (!tracing)
		return;
	status_stop();
	recorder_close(tracing->recorder);
	serving_close(tracing->serving);
	memory_trace_free(tracing->memory);
	collector_free(tracing->collector);
	own_trigger_free(tracing->own_trigger);
	own_areas_free(tracing->own_areas);
	sampling_watch_close(&tracing->sampling);
	span_functions_free(tracing->functions);
	usdt_probes_free(tracing->usdt);
	resolver_free(tracing->resolver);
	titles_free(tracing->titles);
	cgroup_limits_free(tracing->cgroups);
	machine_use_free(tracing->machine_use);
	goroutines_free(tracing->goroutines);
	jvms_free(tracing->jvms);
	clock_watch_close(tracing->clocks);
	unwinder_free(tracing->unwinder);
	engine_close(&tracing->engine);
	kernel_types_free(tracing->kernel_types);
	sideband_close(tracing->sideband);
	kernel_close(tracing->kernel);
	klock_spec_free(tracing->klock_spec);
	newcomers_free(tracing->newcomers);
	pid_list_fini(&tracing->children);
	pid_list_fini(&tracing->gone);
	if (tracing->signal_fd >= 0)
		close(tracing->signal_fd);
	free(tracing);
}

void tracing_begin(struct tracing *tracing, const struct outcome *outcome)
{
	run_event_hand_out(tracing->engine.session, tracing->opened_ns, tracing->settings, outcome);
	span_events_hand_out(tracing->engine.session, tracing->opened_ns, &tracing->settings->spans);
}

int tracing_expect_program(struct tracing *tracing, const char *program)
{
	int err = tracing->functions ? span_functions_expect(tracing->functions, program) : 0;

	return err || !tracing->usdt ? err : usdt_probes_expect(tracing->usdt, program);
}

int tracing_add_command(struct tracing *tracing, pid_t pid)
{
	int err;

	sideband_follow(tracing->sideband, pid);
	err = kernel_add_command(tracing->kernel, pid);
	/* Those that are not traced. */
	if (!err && tracing->settings->kernel.tells_system)
		err = collector_list_threads(tracing->collector);
	return err;
}

/* Of all processes, their unwind tables would be needed. */
static void list_waits(struct tracing *tracing)
{
	if (!tracing->settings->kernel.trace_all)
		collector_list_waits(tracing->collector);
}

int tracing_begin_trace(struct tracing *tracing)
{
	return recorder_begin(tracing->recorder);
}

void tracing_start(struct tracing *tracing, bool has_command)
{
	privileges_give_up(tracing->settings, has_command);
	machine_use_begin(tracing->machine_use);
	tracing->started_ns = clock_ns();
	tracing->started_cpu_ns = clock_cpu_ns();
	tracing->poll_ms = POLL_MS_FIRST;
	if (!tracing->settings->is_quiet && !tracing->settings->has_tui)
		status_start();
}

void tracing_set_watch(struct tracing *tracing, const struct tracing_watch *watch)
{
	tracing->watch = watch;
}

void tracing_set_pause(struct tracing *tracing, struct pause *pause)
{
	symbols_set_pause(tracing->engine.symbols, pause ? pause : &tracing->taking_in);
}

void tracing_take_in(struct tracing *tracing)
{
	if (!tracing->ended_ns)
		collector_take_in(tracing->collector);
}

const struct fold_rules *tracing_fold_rules(const struct tracing *tracing)
{
	return tracing->engine.fold;
}

struct tracing_counts tracing_counts(const struct tracing *tracing)
{
	struct criticality_counts counts = criticality_counts(tracing->engine.criticality);
	uint64_t end_ns = tracing->ended_ns ? tracing->ended_ns : clock_ns();

	return (struct tracing_counts){
		.time_ns = end_ns - tracing->started_ns,
		.threads = counts.alive,
		.active = counts.active,
		.lost = counts.lost_records,
	};
}

static void catch_up(struct tracing *tracing)
{
	backlog_catch_up(tracing->engine.backlog, 0, &tracing->taking_in);
}

static bool has_thread_of(struct tracing *tracing, uint32_t pid)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	catch_up(tracing);
	while ((metrics = criticality_next_thread(tracing->engine.criticality, &cursor)))
		if (metrics->is_alive && metrics->thread && metrics->thread->pid == pid)
			return true;
	return false;
}

void tracing_await_end(struct tracing *tracing, uint32_t pid)
{
	uint64_t limit_ns = clock_ns() + END_MS_MAX * 1000000ull;

	tracing->ended_cpu_ns = clock_cpu_ns();
	tracing->command_ended_ns = clock_ns();
	while (!tracing->ended_ns && has_thread_of(tracing, pid) && clock_ns() < limit_ns) {
		poll(NULL, 0, POLL_MS_FIRST);
		collector_poll(tracing->collector);
	}
}

void tracing_restore_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGQUIT);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

bool tracing_is_time_over(const struct tracing *tracing)
{
	uint64_t duration_ns = tracing->settings->duration_ns;

	return duration_ns && clock_ns() - tracing->started_ns >= duration_ns;
}

bool tracing_is_target_gone(struct tracing *tracing)
{
	struct criticality_counts counts;

	if (tracing->settings->kernel.trace_all || kernel_counts(tracing->kernel).threads_alive)
		return false;
	catch_up(tracing);
	counts = criticality_counts(tracing->engine.criticality);
	/* The first events may be a thread's birth and its end, while others have not been listed. */
	return counts.threads && !counts.alive;
}

static bool has_odd(const struct tracing *tracing)
{
	const struct missing_wakeups *missing = tracing->engine.missing;

	return missing_wakeups_count(missing, MISSING_CHANGE, MISSING_ODD) ||
	       missing_wakeups_count(missing, MISSING_WAKER, MISSING_ODD);
}

/*
 * Where a kernel hides threads, the next switch of a CPU shows that it had one: what it did last would
 * stay without a reason. A CPU that has nothing to do has none for long, unless somebody comes.
 */
static void await_hidden(struct tracing *tracing)
{
	uint64_t limit_ns = clock_ns() + HIDDEN_MS_MAX * 1000000ull;

	if (!kernel_counts(tracing->kernel).hidden && !has_odd(tracing))
		return;
	catch_up(tracing);
	poll(NULL, 0, HIDDEN_POLL_MS);
	collector_poll(tracing->collector);
	while (has_odd(tracing) && clock_ns() < limit_ns) {
		cpus_visit();
		poll(NULL, 0, HIDDEN_POLL_MS);
		collector_poll(tracing->collector);
		catch_up(tracing);
	}
}

void tracing_finish(struct tracing *tracing)
{
	if (tracing->ended_ns)
		return;
	if (!tracing->ended_cpu_ns)
		tracing->ended_cpu_ns = clock_cpu_ns();
	await_hidden(tracing);
	tracing->ended_ns = clock_ns();
	status_stop();
	list_waits(tracing);
	collector_list_listeners(tracing->collector);
	kernel_detach(tracing->kernel);
	if (tracing->klock_spec)
		collector_list_holds(tracing->collector);
	collector_finish(tracing->collector);
	deferral_end(&tracing->deferral, tracing->engine.backlog, NULL);
	titles_finish(tracing->titles);
	cgroup_limits_finish(tracing->cgroups);
	machine_use_finish(tracing->machine_use);
	clock_watch_finish(tracing->clocks, tracing->engine.session);
	symbols_finish_java(tracing->engine.symbols, java_ns_last);
	symbols_settle(tracing->engine.symbols, settle_ns_last);
	unwinder_finish(tracing->unwinder);
	jvms_finish(tracing->jvms);
	symbols_settle(tracing->engine.symbols, settle_ns_last); /* it has found frames */
	criticality_finish(tracing->engine.criticality, tracing->ended_ns);
}
