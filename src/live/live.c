/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pause.h"
#include "collect/collector.h"
#include "engine/run_events.h"
#include "findings/findings.h"
#include "tui/terminal/output_lines.h"
#include "tui/tui.h"
#include "tui/ui.h"

enum {
	PATHS_MAX = 1000, /* unless --top says otherwise */
	OUTPUT_BYTES_AT_ONCE = 256 << 10,
	PIPE_BYTES = 1 << 20,
	WATCHES = 2,
	COST_MAX_DIVISOR = 10, /* reports take a tenth of a CPU at most */
};

static const uint64_t report_interval_ns = 500000000, status_interval_ns = 200000000, output_interval_ns = 10000000,
		      pause_interval_ns = 10000000, interrupt_grace_ns = 1000000000;

struct live {
	struct live_options options;
	struct tui *tui;
	struct output_lines *output; /* NULL: there is no command */
	struct findings *shown;      /* NULL: none yet */
	struct pollfd fds[WATCHES];  /* keys, and the command's output */
	struct tracing_watch watch;
	struct pause pause;
	bool is_over;                   /* no more tracing */
	bool is_final, is_status_final; /* what is shown will not change any more */
	bool wants_end, wants_quit;
	bool has_output; /* the command, or what it started, may write more */
	uint64_t report_due_ns, status_due_ns, output_due_ns;
	uint64_t end_due_ns; /* after Ctrl-C; 0: none */
};

static void read_output(struct live *live)
{
	size_t left = OUTPUT_BYTES_AT_ONCE;
	char bytes[16384];
	ssize_t n = 0;

	if (!live->has_output || clock_ns() < live->output_due_ns)
		return;
	while (left && (n = read(live->options.output_fd, bytes, sizeof(bytes))) > 0) {
		output_lines_add(live->output, bytes, (size_t)n);
		left -= (size_t)n < left ? (size_t)n : left;
	}
	live->output_due_ns = clock_ns() + output_interval_ns;
	if (left < OUTPUT_BYTES_AT_ONCE)
		tui_note_output(live->tui);
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		live->has_output = false;
}

static bool is_status_due(const struct live *live)
{
	return live->is_over ? !live->is_status_final : !tui_is_paused(live->tui);
}

static bool is_report_due(const struct live *live)
{
	return !tui_is_paused(live->tui) && !live->is_final;
}

/* Who reads that it has ended takes the figures for the last ones. */
static bool is_end_shown(const struct live *live)
{
	return live->is_over && (live->is_final || tui_is_paused(live->tui));
}

static void show_status(struct live *live)
{
	bool is_running = live->options.has_command && live->options.outcome->exit_status < 0;
	struct tracing_counts counts;

	if (!is_status_due(live) || clock_ns() < live->status_due_ns)
		return;
	live->is_status_final = live->is_over && live->is_final && !is_running;
	live->status_due_ns = clock_ns() + status_interval_ns;
	counts = tracing_counts(live->options.tracing);
	tui_set_status(live->tui, &(struct ui_status){
					  .command = live->options.command,
					  .time_ns = counts.time_ns,
					  .threads = counts.threads,
					  .active = counts.active,
					  .lost = counts.lost,
					  .is_over = is_end_shown(live),
					  .is_command_running = is_running,
					  .exit_status = live->options.outcome->exit_status,
				  });
}

/* In the middle of long work: the user, the command and the kernel's buffers do not wait. */
static void take_pause(void *data)
{
	struct live *live = data;

	tracing_take_in(live->options.tracing);
	read_output(live);
	tui_update(live->tui);
}

static size_t path_count_max(const struct live *live)
{
	const struct settings *settings = live->options.settings;

	return settings->has_path_count ? settings->path_count_max : PATHS_MAX;
}

/*
 * So seldom that all of them take a tenth of a CPU at most; looking up what code is called, once
 * for each place of it, is another process's.
 */
static void make_report(struct live *live)
{
	uint64_t begin_ns = clock_ns(), begin_cpu_ns = clock_cpu_ns(), wait_ns;
	struct findings *made;

	made = tracing_findings(live->options.tracing, live->options.outcome, path_count_max(live), &live->pause);
	tui_set_report(live->tui, findings_report(made));
	findings_free(live->shown);
	live->shown = made;
	wait_ns = (clock_cpu_ns() - begin_cpu_ns) * COST_MAX_DIVISOR;
	if (wait_ns < report_interval_ns)
		wait_ns = report_interval_ns;
	live->report_due_ns = begin_ns + wait_ns;
}

static void show_report(struct live *live)
{
	if (!is_report_due(live) || clock_ns() < live->report_due_ns)
		return;
	make_report(live);
	live->is_final = live->is_over;
}

int live_open(const struct live_options *options, struct live **out)
{
	struct live *live = xcalloc(1, sizeof(*live));
	int err;

	live->options = *options;
	if (options->has_command)
		live->output = output_lines_new();
	live->has_output = options->output_fd >= 0;
	err = tui_open(
		&(struct tui_options){
			.fold = tracing_fold_rules(options->tracing),
			.output = live->output,
			.first_page = options->settings->first_page,
		},
		&live->tui);
	if (err)
		goto out_close;
	if (live->has_output)
		fcntl(options->output_fd, F_SETPIPE_SZ, PIPE_BYTES);
	live->pause = (struct pause){ take_pause, live, pause_interval_ns, 0 };
	live->watch = (struct tracing_watch){ live->fds, WATCHES, -1 };
	tracing_set_watch(options->tracing, &live->watch);
	tracing_set_pause(options->tracing, &live->pause);
	/* First it has to have something to tell. */
	live->report_due_ns = clock_ns() + report_interval_ns / 2;
	*out = live;
	return 0;

out_close:
	live_close(live);
	return err;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	tracing_set_watch(live->options.tracing, NULL);
	tracing_set_pause(live->options.tracing, NULL);
	tui_close(live->tui);
	findings_free(live->shown);
	output_lines_free(live->output);
	free(live);
}

/* Until the earlier of two moments; -1: for ever. */
static int sooner(int wait_ms, uint64_t due_ns)
{
	uint64_t time_ns = clock_ns();
	uint64_t left_ms = due_ns > time_ns ? (due_ns - time_ns) / 1000000 + 1 : 0;

	return wait_ms < 0 || left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms;
}

/* A command that writes without end gets its turn as often as all others. */
static void choose_watch(struct live *live)
{
	bool may_read = live->has_output && clock_ns() >= live->output_due_ns;
	int wait_ms = tui_wait_ms(live->tui);

	live->fds[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	live->fds[1] = (struct pollfd){ .fd = may_read ? live->options.output_fd : -1, .events = POLLIN };
	if (live->has_output && !may_read)
		wait_ms = sooner(wait_ms, live->output_due_ns);
	if (is_report_due(live))
		wait_ms = sooner(wait_ms, live->report_due_ns);
	if (is_status_due(live))
		wait_ms = sooner(wait_ms, live->status_due_ns);
	if (live->end_due_ns && !live->is_over)
		wait_ms = sooner(wait_ms, live->end_due_ns);
	live->watch.wait_ms_max = wait_ms;
}

/*
 * Ctrl-C ends the tracing. The command gets it as well, and is traced to its end if that is soon.
 */
static void on_interrupt(struct live *live)
{
	if (live->is_over || live->wants_end || live->end_due_ns) {
		live->wants_quit = true;
	} else if (live->options.has_command) {
		live->end_due_ns = clock_ns() + interrupt_grace_ns;
		tui_set_message(live->tui, "the command received the Ctrl-C too: tracing ends when it does, or after "
					   "one second");
	} else {
		live->wants_end = true;
	}
}

static void on_signal(struct live *live, int number, pid_t sender)
{
	switch (number) {
	case SIGINT:
		/* Sent to pinch alone it is for the command. */
		if (!sender || !live->options.has_command)
			on_interrupt(live);
		break;
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT:
		live->wants_quit = true;
		break;
	case SIGWINCH:
		tui_resize(live->tui);
		break;
	case SIGTSTP:
		tui_suspend(live->tui);
		break;
	case SIGCONT:
		tui_resume(live->tui);
		break;
	}
}

int live_step(struct live *live, pid_t *sender)
{
	int number;

	choose_watch(live);
	if (live->is_over)
		number = tracing_wait_signal(live->options.tracing, -1, sender);
	else
		number = tracing_step(live->options.tracing, sender);
	if (number)
		on_signal(live, number, *sender);
	if (live->end_due_ns && clock_ns() >= live->end_due_ns)
		live->wants_end = true;
	read_output(live);
	show_status(live);
	tui_update(live->tui);
	show_report(live);
	tui_update(live->tui);
	return number;
}

bool live_wants_end(const struct live *live)
{
	return live->wants_end;
}

void live_end(struct live *live)
{
	if (live->is_over)
		return;
	tracing_finish(live->options.tracing);
	live->is_over = true;
	live->status_due_ns = live->report_due_ns = 0;
}

bool live_is_over(const struct live *live)
{
	return live->is_over;
}

bool live_wants_quit(const struct live *live)
{
	return live->wants_quit || tui_wants_quit(live->tui);
}
