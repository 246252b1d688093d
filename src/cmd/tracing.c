/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/tracing.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/cpu_waits.h"
#include "analysis/files.h"
#include "analysis/findings.h"
#include "analysis/others.h"
#include "analysis/run_samples.h"
#include "analysis/spin_judge.h"
#include "analysis/untold.h"
#include "analysis/waits.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/resolver.h"
#include "collect/unwinder.h"
#include "session/threads.h"
#include "analysis/fold.h"
#include "view/output.h"
#include "view/status.h"
#include "view/view.h"

enum {
	POLL_MS_FIRST = 1,		/* as long as processes begin, and map libraries */
	POLL_MS_MIN = 20,
	POLL_MS_MAX = 80,
	HIDDEN_MS_MAX = 100,		/* for the next switch of a CPU */
	HIDDEN_POLL_MS = 4,		/* events are delivered 2 ms after they were */
	END_MS_MAX = 500,		/* on a busy machine, from a process's end to its last switch */
	POLL_SLACK_NS = 8000000,	/* two ticks at HZ=250 */
	POLL_SLACK_NS_FIRST = 100000,
	PENDING_BYTES_MAX = 32 << 20,
	NMIN_ALL = 65535,		/* more are never active: every slice is critical */
};

/*
 * The rings are drained before they are this full, whatever else there is to do; seldom as long as
 * hardly anything is in them, for each time a thread of the program has to make way.
 */
static const double FILL_URGENT = 0.25, FILL_HIGH = 0.05, FILL_LOW = 0.02;

struct tracing {
	const struct settings *settings;
	struct kernel *kernel;
	struct sideband *sideband;
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct symbols *symbols;
	struct run_samples *samples;
	struct spin_judge *judge;
	struct unwinder *unwinder;
	struct resolver *resolver;	/* NULL: nobody asked for names of hosts */
	struct files *files;
	struct others *others;
	struct untold *untold;
	struct waits *waits;
	struct cpu_waits *cpu_waits;
	struct criticality *criticality;
	struct collector *collector;
	struct fold_rules *fold;
	int signal_fd;
	const struct tracing_watch *watch;	/* NULL: nothing */
	uint64_t opened_ns, started_ns;
	uint64_t ended_ns, collector_cpu_ns;	/* 0: it goes on */
	int poll_ms;
	unsigned long slack_ns;
	bool has_seen_threads;
	size_t untraced_children;	/* of the processes to attach to */
};

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, uint64_t ip,
			uint64_t kernel_ip)
{
	return spin_judge_is_spin(data, thread->pid, time_ns, ip, kernel_ip);
}

static int open_engine(struct tracing *tracing)
{
	struct criticality_options options = {
		.nmin = tracing->settings->kernel.nmin,
		.keeps_strips = tracing->settings->has_tui,
	};

	tracing->session = session_new(collector_stream_count(tracing->kernel), PENDING_BYTES_MAX);
	tracing->threads = threads_new(tracing->session);
	tracing->stacks = stacks_new(tracing->session, 0);
	tracing->symbols = symbols_new(tracing->session);
	symbols_use_cache(tracing->symbols);
	symbols_follow_stacks(tracing->symbols, tracing->threads);
	tracing->unwinder = unwinder_new(tracing->session, tracing->symbols,
					 &(struct unwinder_options){
		.chunks_fd = kernel_unwind_chunks_fd(tracing->kernel),
		.spaces_fd = kernel_unwind_spaces_fd(tracing->kernel),
		.depth = tracing->settings->kernel.depth,
	});
	tracing->fold = fold_rules_new();
	tracing->samples = run_samples_new();
	tracing->judge = spin_judge_new(tracing->symbols, tracing->fold);
	tracing->files = files_new(tracing->session, 0);
	tracing->others = others_new(tracing->session);
	tracing->untold = untold_new(tracing->session);
	tracing->waits = waits_new(tracing->files, tracing->others, tracing->untold);
	tracing->cpu_waits = cpu_waits_new(tracing->session, tracing->others);
	options.stacks = tracing->stacks;
	options.waits = tracing->waits;
	options.untold = tracing->untold;
	options.samples = tracing->samples;
	if (tracing->settings->is_spin_inactive) {
		options.is_spinning = is_spinning;
		options.spin_data = tracing->judge;
	}
	tracing->criticality = criticality_new(tracing->session, tracing->threads, &options);
	tracing->collector = collector_new(tracing->session, tracing->kernel, tracing->sideband);
	return fold_rules_add_user(tracing->fold);
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
	signal(SIGCHLD, SIG_DFL);	/* ignored, it would not come */
	tracing->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return tracing->signal_fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static int open_kernel(struct tracing *tracing)
{
	struct kernel_options options = tracing->settings->kernel;

	/* It counts what spins as active, so it cannot tell which slices will be critical. */
	if (tracing->settings->is_spin_inactive)
		options.nmin = NMIN_ALL;
	return kernel_open(&options, &tracing->kernel);
}

int tracing_open(const struct settings *settings, struct tracing **out)
{
	struct tracing *tracing = xcalloc(1, sizeof(*tracing));
	int err;

	tracing->settings = settings;
	tracing->opened_ns = now_ns();
	tracing->signal_fd = -1;
	err = output_check(settings->text_path);
	if (!err && settings->json_path)
		err = output_check(settings->json_path);
	if (!err)
		err = open_signals(tracing);
	if (!err)
		err = open_kernel(tracing);
	if (!err)
		err = sideband_open(&tracing->sideband);
	if (!err)
		err = open_engine(tracing);
	if (!err)
		err = kernel_attach(tracing->kernel);
	if (!err && settings->kernel.follows_hosts)
		tracing->resolver = resolver_new(tracing->session, tracing->symbols,
						 tracing->kernel);
	if (err)
		goto out_close;
	/* A reader that waits for the CPU behind its targets would lose records. */
	setpriority(PRIO_PROCESS, 0, -20);
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
	collector_free(tracing->collector);
	criticality_free(tracing->criticality);
	spin_judge_free(tracing->judge);
	run_samples_free(tracing->samples);
	waits_free(tracing->waits);
	cpu_waits_free(tracing->cpu_waits);
	others_free(tracing->others);
	untold_free(tracing->untold);
	files_free(tracing->files);
	resolver_free(tracing->resolver);
	unwinder_free(tracing->unwinder);
	symbols_free(tracing->symbols);
	stacks_free(tracing->stacks);
	threads_free(tracing->threads);
	session_free(tracing->session);
	sideband_close(tracing->sideband);
	kernel_close(tracing->kernel);
	fold_rules_free(tracing->fold);
	if (tracing->signal_fd >= 0)
		close(tracing->signal_fd);
	free(tracing);
}

int tracing_add_command(struct tracing *tracing, pid_t pid)
{
	sideband_follow(tracing->sideband, pid);
	return kernel_add_command(tracing->kernel, pid);
}

/* Of all processes, their unwind tables would be needed. */
static void list_waits(struct tracing *tracing)
{
	if (!tracing->settings->kernel.trace_all)
		collector_list_waits(tracing->collector);
}

int tracing_add_processes(struct tracing *tracing, const struct pid_list *pids)
{
	int err;

	if (tracing->settings->kernel.trace_all)
		sideband_follow_all(tracing->sideband);
	for (size_t i = 0; i < pids->count; i++) {
		/* First the new mappings, then the old ones: none falls between. */
		sideband_follow(tracing->sideband, pids->pids[i]);
		symbols_add_process(tracing->symbols, pids->pids[i]);
		unwinder_add_process(tracing->unwinder, pids->pids[i]);
		if (tracing->resolver)
			resolver_add_process(tracing->resolver, pids->pids[i]);
		if (!tracing->settings->kernel.trace_all) {
			err = kernel_add_target(tracing->kernel, pids->pids[i]);
			if (err)
				return err;
		}
	}
	if (!tracing->settings->kernel.trace_all)
		tracing->untraced_children = targets_count_children(pids);
	err = collector_list_threads(tracing->collector);
	if (!err)
		list_waits(tracing);
	/* Waiting for the end of what has ended already would take for ever. */
	if (!err && !tracing->settings->kernel.trace_all &&
	    !kernel_counts(tracing->kernel).threads_alive)
		err = fail_plain(-ESRCH, "the target has no thread left to trace: it has ended");
	return err;
}

void tracing_start(struct tracing *tracing)
{
	tracing->started_ns = now_ns();
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
	symbols_set_pause(tracing->symbols, pause);
}

void tracing_take_in(struct tracing *tracing)
{
	if (!tracing->ended_ns)
		collector_take_in(tracing->collector);
}

const struct fold_rules *tracing_fold_rules(const struct tracing *tracing)
{
	return tracing->fold;
}

struct tracing_counts tracing_counts(const struct tracing *tracing)
{
	struct criticality_totals totals = criticality_totals(tracing->criticality);
	uint64_t end_ns = tracing->ended_ns ? tracing->ended_ns : now_ns();

	return (struct tracing_counts){
		.time_ns = end_ns - tracing->started_ns,
		.threads = totals.alive_count,
		.active = criticality_active_count(tracing->criticality),
		.lost = totals.lost_records,
	};
}

static void show_status(struct tracing *tracing)
{
	struct criticality_totals totals = criticality_totals(tracing->criticality);
	struct status_counts counts = {
		.time_ns = now_ns() - tracing->started_ns,
		.threads = totals.alive_count,
		.parallelism = criticality_active_count(tracing->criticality),
		.events = session_counts(tracing->session).delivered,
		.lost = totals.lost_records,
	};

	status_show(&counts);
}

int tracing_wait_signal(struct tracing *tracing, int wait_ms, pid_t *sender)
{
	const struct tracing_watch *watch = tracing->watch;
	struct pollfd poll_fds[2 + TRACING_WATCH_MAX] = {
		{ .fd = tracing->signal_fd, .events = POLLIN },
		{ .fd = kernel_bell_fd(tracing->kernel), .events = POLLIN },
	};
	size_t watch_count = watch ? watch->count : 0;
	struct signalfd_siginfo info;

	/* However often it rings, that is as often as we look. */
	if ((wait_ms >= 0 && wait_ms <= POLL_MS_FIRST) || tracing->ended_ns)
		poll_fds[1].fd = -1;
	for (size_t i = 0; i < watch_count; i++)
		poll_fds[2 + i] = watch->fds[i];
	if (watch && watch->wait_ms_max >= 0 && (wait_ms < 0 || watch->wait_ms_max < wait_ms))
		wait_ms = watch->wait_ms_max;
	poll(poll_fds, 2 + watch_count, wait_ms);
	for (size_t i = 0; i < watch_count; i++)
		watch->fds[i].revents = poll_fds[2 + i].revents;
	if (poll_fds[1].revents & POLLIN) {
		kernel_hush(tracing->kernel);
		tracing->poll_ms = POLL_MS_FIRST;
	}
	if (read(tracing->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	*sender = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE ? info.ssi_pid : 0;
	return info.ssi_signo;
}

/* Long naps may end at a tick of the kernel: a timer's interrupt costs more than a poll. */
static void choose_slack(struct tracing *tracing)
{
	unsigned long slack_ns = tracing->poll_ms < POLL_MS_MIN ? POLL_SLACK_NS_FIRST
								: POLL_SLACK_NS;

	if (tracing->slack_ns != slack_ns)
		prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
	tracing->slack_ns = slack_ns;
}

/* How long to wait until the next poll. */
static int next_wait_ms(struct tracing *tracing)
{
	double fill = collector_fill(tracing->collector);

	if (unwinder_update(tracing->unwinder)) {
		kernel_allow_memory(tracing->kernel);
		tracing->poll_ms = POLL_MS_FIRST;
	} else if (fill > FILL_HIGH && tracing->poll_ms > POLL_MS_MIN) {
		tracing->poll_ms = POLL_MS_MIN;
	} else if (fill < FILL_LOW && tracing->poll_ms < POLL_MS_MAX) {
		tracing->poll_ms *= 2;
	}
	choose_slack(tracing);
	return fill > FILL_URGENT ? 0 : tracing->poll_ms;
}

int tracing_step(struct tracing *tracing, pid_t *sender)
{
	collector_poll(tracing->collector);
	if (tracing->resolver)
		resolver_update(tracing->resolver);
	if (!tracing->settings->is_quiet && status_is_due())
		show_status(tracing);
	return tracing_wait_signal(tracing, next_wait_ms(tracing), sender);
}

static bool has_thread_of(const struct tracing *tracing, uint32_t pid)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(tracing->criticality, &cursor)))
		if (metrics->is_alive && metrics->thread && metrics->thread->pid == pid)
			return true;
	return false;
}

void tracing_await_end(struct tracing *tracing, uint32_t pid)
{
	uint64_t limit_ns = now_ns() + END_MS_MAX * 1000000ull;

	while (!tracing->ended_ns && has_thread_of(tracing, pid) && now_ns() < limit_ns) {
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

	return duration_ns && now_ns() - tracing->started_ns >= duration_ns;
}

bool tracing_is_target_gone(const struct tracing *tracing)
{
	struct criticality_totals totals = criticality_totals(tracing->criticality);

	return totals.thread_count && !totals.alive_count;
}

static uint64_t cpu_time_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

/* Not getrusage()'s: that one includes what this process was before its exec. */
static uint64_t peak_rss_bytes(void)
{
	unsigned long long kilobytes = 0;
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

static void add_kernel_counts(struct tracing *tracing, struct report *report)
{
	struct kernel_counts counts = kernel_counts(tracing->kernel);
	struct session_counts session = session_counts(tracing->session);

	report->losses.samples = counts.samples_lost;
	report->losses.hidden = counts.hidden;
	report->losses.malformed = session.malformed;
	report->losses.late = session.late;
	report->losses.mappings = sideband_lost(tracing->sideband);
	report->losses.threads_untracked = counts.threads_untracked;
	report->cost.events = session.delivered;
	report->cost.event_bytes = session.pushed_bytes;
	report->cost.bpf_ns = counts.run_ns;
	report->cost.bpf_runs = counts.runs;
}

static void add_stack_counts(struct tracing *tracing, struct report *report)
{
	struct kernel_counts kernel = kernel_counts(tracing->kernel);
	struct unwinder_counts engine = unwinder_counts(tracing->unwinder);

	for (size_t end = 0; end < STACK_ENDS; end++) {
		report->stacks.ends[end] = kernel.stack_ends[end] + engine.stack_ends[end];
		report->stacks.taken += report->stacks.ends[end];
		report->stacks.unwound_late += engine.stack_ends[end];
	}
	report->stacks.frames = kernel.stack_frames + engine.stack_frames;
	report->stacks.ns = kernel.stack_ns;
	report->stacks.median_ns = kernel.stack_median_ns;
	report->stacks.tables = engine.tables;
	report->stacks.table_bytes = engine.table_bytes;
}

static int show(struct tracing *tracing, const struct report *report)
{
	const struct settings *settings = tracing->settings;
	struct view_style style;
	struct text text = { 0 };
	int err = 0, json_err = 0;

	if (settings->json_path) {
		json_view.show(report, &(struct view_style){ 0 }, &text);
		json_err = output_write(settings->json_path, &text);
		text_fini(&text);
	}
	if ((!settings->is_quiet && !settings->has_tui) || settings->text_path) {
		style = settings->text_path ? (struct view_style){ .has_unicode = true,
							.full_paths = VIEW_FULL_PATHS_DEFAULT }
					    : view_style_for(STDERR_FILENO);
		style.fold = tracing->fold;
		style.is_verbose = settings->is_verbose;
		style.pages = settings->pages;
		text_view.show(report, &style, &text);
		err = output_write(settings->text_path, &text);
		text_fini(&text);
	}
	return err ? err : json_err;
}

/*
 * Where a kernel hides threads, the next switch of a CPU shows that it had one: what it did last would
 * stay without a reason.
 */
static void await_hidden(struct tracing *tracing)
{
	uint64_t limit_ns = now_ns() + HIDDEN_MS_MAX * 1000000ull;

	if (!kernel_counts(tracing->kernel).hidden)
		return;
	do {
		poll(NULL, 0, HIDDEN_POLL_MS);
		collector_poll(tracing->collector);
	} while (untold_count(tracing->untold, UNTOLD_CHANGE, UNTOLD_ODD) && now_ns() < limit_ns);
}

void tracing_finish(struct tracing *tracing)
{
	if (tracing->ended_ns)
		return;
	await_hidden(tracing);
	tracing->collector_cpu_ns = cpu_time_ns();
	tracing->ended_ns = now_ns();
	status_stop();
	list_waits(tracing);
	kernel_detach(tracing->kernel);
	collector_finish(tracing->collector);
	criticality_finish(tracing->criticality, tracing->ended_ns);
}

static struct findings_input findings_input(struct tracing *tracing, size_t path_count_max,
					    struct pause *pause)
{
	return (struct findings_input){
		.criticality = tracing->criticality,
		.stacks = tracing->stacks,
		.waits = tracing->waits,
		.cpu_waits = tracing->cpu_waits,
		.files = tracing->files,
		.symbols = tracing->symbols,
		.fold = tracing->fold,
		.nmin = tracing->settings->kernel.nmin,
		.sample_period_ns = tracing->settings->kernel.sample_period_ns,
		.path_count_max = path_count_max,
		.tells_kernel_apart = tracing->settings->kernel.kernel_stacks,
		.pause = pause,
		.samples = tracing->samples,
		.judge = tracing->judge,
		.is_spin_inactive = tracing->settings->is_spin_inactive,
	};
}

/* What goes on is counted up to where all events are known. */
static struct findings *find(struct tracing *tracing, const struct findings_input *input)
{
	struct findings *findings;

	if (tracing->ended_ns)
		return findings_new(input);
	criticality_advance(tracing->criticality, collector_delivered_ns(tracing->collector));
	criticality_count_open_waits(tracing->criticality);
	findings = findings_new(input);
	criticality_uncount_open_waits(tracing->criticality);
	return findings;
}

struct findings *tracing_findings(struct tracing *tracing, const struct outcome *outcome,
				  size_t path_count_max, struct pause *pause)
{
	struct findings_input input = findings_input(tracing, path_count_max, pause);
	uint64_t begin_ns = now_ns();
	struct findings *findings = find(tracing, &input);
	struct report *report = findings_report(findings);
	bool is_over = tracing->ended_ns;
	const char *note;

	report->target.command = outcome->command;
	report->target.pids = outcome->pids;
	report->target.pid_count = outcome->pid_count;
	report->target.exit_status = outcome->exit_status;
	add_kernel_counts(tracing, report);
	add_stack_counts(tracing, report);
	note = kernel_sampling_note(tracing->kernel);
	if (note)
		findings_add_note(findings, "%s", note);
	note = tracing->resolver ? resolver_note(tracing->resolver) : NULL;
	if (note)
		findings_add_note(findings, "%s", note);
	if (tracing->untraced_children)
		findings_add_note(findings, "%zu child process%s of the target ran already and %s not "
				  "traced: give %s numbers to -p, too, or use -n NAME",
				  tracing->untraced_children,
				  tracing->untraced_children == 1 ? "" : "es",
				  tracing->untraced_children == 1 ? "is" : "are",
				  tracing->untraced_children == 1 ? "its" : "their");
	report->cost.startup_ns = tracing->started_ns - tracing->opened_ns;
	report->cost.collector_cpu_ns = is_over ? tracing->collector_cpu_ns : cpu_time_ns();
	report->cost.peak_rss_bytes = peak_rss_bytes() + symbols_memory_bytes(tracing->symbols);
	report->cost.post_processing_ns = now_ns() - (is_over ? tracing->ended_ns : begin_ns);
	return findings;
}

int tracing_report(struct tracing *tracing, const struct outcome *outcome)
{
	const struct settings *settings = tracing->settings;
	struct findings *findings;
	int err = 0;

	tracing_finish(tracing);
	if (settings->has_tui && !settings->text_path && !settings->json_path)
		goto out_save;		/* the terminal has shown it */
	findings = tracing_findings(tracing, outcome, tracing->settings->path_count_max, NULL);
	err = show(tracing, findings_report(findings));
	findings_free(findings);

out_save:
	symbols_save_cache(tracing->symbols);
	return err;
}
