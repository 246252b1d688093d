/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/report_tui.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fail.h"
#include "engine/replay.h"
#include "findings/findings.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "query/trace_states_make.h"
#include "tui/rows/graphs.h"
#include "tui/tui.h"
#include "tui/ui.h"

enum { PATHS_MAX = 1000 }; /* unless --top says otherwise */

static const uint64_t pause_interval_ns = 10000000;

struct viewer {
	const struct settings *settings;
	const char *path;
	struct replay *replay;
	struct tui *tui;
	int signal_fd;
	struct states_waiter waiter;
	bool wants_quit;
	bool has_states;
	int states_err; /* there are none: it has been said */
	struct trace_states states;
};

/* --- The user ------------------------------------------------------------------------------- */

static const int signals[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT,
};

static sigset_t signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	return set;
}

static int open_signals(struct viewer *viewer)
{
	sigset_t set = signal_set();

	viewer->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (viewer->signal_fd < 0)
		return fail(-errno, "cannot wait for signals");
	sigprocmask(SIG_BLOCK, &set, NULL);
	return 0;
}

static void close_signals(struct viewer *viewer)
{
	sigset_t set = signal_set();

	close(viewer->signal_fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void take_signals(struct viewer *viewer)
{
	struct signalfd_siginfo info;

	while (read(viewer->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			tui_resize(viewer->tui);
			break;
		case SIGTSTP:
			tui_suspend(viewer->tui);
			break;
		case SIGCONT:
			tui_resume(viewer->tui);
			break;
		default:
			viewer->wants_quit = true;
		}
	}
}

static void look(struct viewer *viewer)
{
	take_signals(viewer);
	tui_update(viewer->tui);
	viewer->wants_quit |= tui_wants_quit(viewer->tui);
}

/* While a graph is made. */
static void take_pause(void *data)
{
	struct viewer *viewer = data;

	look(viewer);
	viewer->waiter.is_cancelled = viewer->wants_quit;
}

static void look_on(struct viewer *viewer)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = viewer->signal_fd, .events = POLLIN },
	};

	look(viewer);
	while (!viewer->wants_quit) {
		poll(fds, sizeof(fds) / sizeof(*fds), tui_wait_ms(viewer->tui));
		look(viewer);
	}
}

/* --- Graphs --------------------------------------------------------------------------------- */

static int open_states(struct viewer *viewer)
{
	if (viewer->has_states || viewer->states_err)
		return viewer->states_err;
	viewer->states_err = trace_states_open_waiting(viewer->path, viewer->settings->opens_files, &viewer->waiter,
						       &viewer->states);
	viewer->has_states = !viewer->states_err;
	return viewer->states_err;
}

static int make_tree(void *data, uint32_t thread, bool is_merged, struct graphs_tree *out)
{
	struct viewer *viewer = data;
	struct chosen_threads all = { 0 };
	int err = open_states(viewer);

	if (!err && !thread)
		err = chosen_threads_find(viewer->settings, viewer->path, &viewer->states, &all);
	if (err)
		return err;
	out->labels = trace_states_labels(&viewer->states, replay_fold_rules(viewer->replay), is_merged);
	graph_of_threads(viewer->states.states, thread ? &thread : all.numbers, thread ? 1 : all.count,
			 &(struct graph_options){
				 .from_ns = trace_states_time(&viewer->states, 0),
				 .to_ns = UINT64_MAX,
				 .share_min = viewer->settings->graph.share_min,
				 .merges_contexts = is_merged,
				 .key_of = graph_label_key,
				 .key_data = out->labels,
			 },
			 &out->graph);
	chosen_threads_fini(&all);
	return 0;
}

static int make_path(void *data, uint32_t thread, bool is_merged, struct graphs_path *out)
{
	struct viewer *viewer = data;
	struct chosen_threads all = { 0 };
	int err = open_states(viewer);

	if (!err && !thread)
		err = chosen_threads_find(viewer->settings, viewer->path, &viewer->states, &all);
	if (err)
		return err;
	out->thread = thread ? thread : all.numbers[0];
	out->first_ns = trace_states_time(&viewer->states, 0);
	out->labels = trace_states_labels(&viewer->states, replay_fold_rules(viewer->replay), is_merged);
	critical_path_of(viewer->states.states, out->thread, out->first_ns, UINT64_MAX, &out->path);
	chosen_threads_fini(&all);
	return 0;
}

/* --- The whole ------------------------------------------------------------------------------ */

static void set_report(struct viewer *viewer, const struct report *report)
{
	tui_set_report(viewer->tui, report);
	tui_set_status(viewer->tui, &(struct ui_status){
					    .command = report->target.command ? report->target.command : viewer->path,
					    .time_ns = report->target.wall_ns,
					    .lost = report->losses.records,
					    .is_over = true,
					    .exit_status = report->target.exit_status,
				    });
}

static int show(struct viewer *viewer, const struct report *report)
{
	int err = tui_open(
		&(struct tui_options){
			.fold = replay_fold_rules(viewer->replay),
			.graphs = &(struct graphs_source){ viewer, make_tree, make_path },
			.first_page = viewer->settings->first_page,
		},
		&viewer->tui);

	if (err)
		return err;
	set_report(viewer, report);
	look_on(viewer);
	tui_close(viewer->tui);
	if (viewer->has_states)
		trace_states_close(&viewer->states);
	return 0;
}

int report_tui(const struct settings *settings, const char *path, struct replay *replay)
{
	struct viewer viewer = { .settings = settings, .path = path, .replay = replay };
	struct findings *findings;
	int err;

	viewer.waiter.pause = (struct pause){ take_pause, &viewer, pause_interval_ns, 0 };
	findings = replay_findings(replay, settings->has_path_count ? settings->path_count_max : PATHS_MAX);
	err = open_signals(&viewer);
	if (!err) {
		err = show(&viewer, findings_report(findings));
		close_signals(&viewer);
	}
	findings_free(findings);
	return err;
}
