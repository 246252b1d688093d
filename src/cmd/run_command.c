/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "cmd/run_command.h"
#include "collect/target/command_user.h"
#include "collect/target/launch.h"
#include "engine/run_events.h"
#include "live/command_output.h"
#include "live/live.h"
#include "live/tracing.h"
#include "options/settings.h"
#include "tui/tui.h"

/* What the command's end means to a shell: its exit status, or 128 + its signal. */
static int exit_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static bool is_passed_on(int signal_number)
{
	return signal_number == SIGHUP || signal_number == SIGINT || signal_number == SIGQUIT ||
	       signal_number == SIGTERM;
}

/*
 * The terminal sends its signals to the command as well, which decides what to do; those that
 * somebody sent to pinch alone are passed on. -1 while the command runs, else its status.
 */
static int on_signal(int signal_number, pid_t sender, pid_t pid)
{
	int wait_status;

	if (signal_number == SIGCHLD || !signal_number) {
		if (waitpid(pid, &wait_status, WNOHANG) == pid)
			return exit_status_of(wait_status);
	} else if (is_passed_on(signal_number) && sender && sender != pid) {
		kill(pid, signal_number);
	}
	return -1;
}

static void put_command(struct text *text, char *const *arguments)
{
	for (size_t i = 0; arguments[i]; i++) {
		text_put(text, i ? " " : "");
		text_put(text, arguments[i]);
	}
}

/* A run of a command. */
struct run {
	const struct settings *settings;
	struct tracing *tracing;
	struct launch *launch;
	struct command_output *output; /* NULL: the command has its own */
	struct command_user *user;     /* as whom the command runs; NULL: who runs pinch */
	struct outcome outcome;
	struct text command;
	uint32_t pid;
};

/* What the command does with a signal, if anything; and whether it has ended. */
static void note_signal(struct run *run, int signal_number, pid_t sender)
{
	if (run->outcome.exit_status >= 0)
		return;
	run->outcome.exit_status = on_signal(signal_number, sender, run->pid);
	if (run->outcome.exit_status >= 0)
		tracing_await_end(run->tracing, run->pid);
}

static void trace_to_end(struct run *run)
{
	int signal_number;
	pid_t sender;

	while (run->outcome.exit_status < 0 && !tracing_is_time_over(run->tracing)) {
		signal_number = tracing_step(run->tracing, &sender);
		note_signal(run, signal_number, sender);
	}
}

/* Shows it while it goes on, and then until the user has seen enough. */
static int watch(struct run *run)
{
	int err, signal_number;
	struct live *live;
	pid_t sender;

	err = live_open(
		&(struct live_options){
			.tracing = run->tracing,
			.settings = run->settings,
			.outcome = &run->outcome,
			.command = run->command.bytes,
			.has_command = true,
			.output_fd = command_output_fd(run->output),
		},
		&live);
	if (err)
		return err;
	while (!live_wants_quit(live)) {
		signal_number = live_step(live, &sender);
		note_signal(run, signal_number, sender);
		if (run->outcome.exit_status >= 0 || live_wants_end(live) || tracing_is_time_over(run->tracing))
			live_end(live);
	}
	live_close(live);
	return 0;
}

/* Neither --duration nor leaving the terminal UI ends the command. */
static void wait_for_command(struct run *run)
{
	struct pollfd output = { .fd = command_output_fd(run->output), .events = POLLIN };
	struct tracing_watch watch = { &output, run->output != NULL, -1 };
	int signal_number;
	pid_t sender;

	tracing_set_watch(run->tracing, &watch);
	while (run->outcome.exit_status < 0) {
		signal_number = tracing_wait_signal(run->tracing, -1, &sender);
		note_signal(run, signal_number, sender);
		if (run->output && !command_output_pass(run->output))
			output.fd = -1;
	}
	tracing_set_watch(run->tracing, NULL);
}

/* What it cannot do may be what another user could: it says which one it is. */
static int report_not_started(const struct run *run, const char *command, enum launch_step step, int err)
{
	if (step == LAUNCH_USER) {
		fail(err, "cannot run %s as user %s", command, run->user->name);
		return EXIT_PINCH_FAILED;
	}
	if (run->user)
		fail(err, "cannot run %s as user %s", command, run->user->name);
	else
		fail(err, "cannot run %s", command);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

static int run_and_trace(struct run *run, char *const *arguments)
{
	enum launch_step step;
	int err;

	put_command(&run->command, arguments);
	run->outcome.command = run->command.bytes;
	tracing_begin(run->tracing, &run->outcome);
	err = tracing_expect_program(run->tracing, arguments[0]);
	if (!err)
		err = tracing_add_command(run->tracing, run->pid);
	if (err)
		return EXIT_PINCH_FAILED;
	tracing_start(run->tracing, true);
	err = launch_go(run->launch, &step);
	if (err)
		return report_not_started(run, arguments[0], step, err);
	/* Without it the command runs nevertheless: its exit status is pinch's failure then. */
	tracing_begin_trace(run->tracing);
	command_output_begin(run->output);
	if (run->settings->has_tui)
		err = watch(run);
	else
		trace_to_end(run);
	if (run->outcome.exit_status >= 0)
		tracing_restore_signals();
	if (!err)
		err = tracing_report(run->tracing, &run->outcome);
	wait_for_command(run);
	return err && err != -EPIPE ? EXIT_PINCH_FAILED : run->outcome.exit_status;
}

/* What the command writes is no part of a trace that goes there. */
static void keep_from_trace(const struct settings *settings, struct inheritance *inheritance)
{
	const char *path = settings->trace_path;

	if (path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")))
		inheritance->output_fd = STDERR_FILENO;
}

/* Without a terminal for it nothing is started, let alone traced. */
static int open_output(const struct settings *settings, struct inheritance *inheritance, struct command_output **out)
{
	if (!settings->has_tui)
		return 0;
	if (tui_check())
		return EXIT_USAGE;
	return command_output_open(inheritance, out) ? EXIT_PINCH_FAILED : 0;
}

static int find_user(struct run *run)
{
	const struct sudo_words sudo = { getenv("SUDO_UID"), getenv("SUDO_GID"), getenv("SUDO_USER") };
	const struct settings *settings = run->settings;
	int err;

	if (settings->user)
		return command_user_find(settings->user, &run->user);
	err = command_user_of_sudo(&sudo, &run->user);
	if (!err && run->user && !settings->is_quiet)
		fail_plain(0,
			   "the command runs as %s, who called sudo; use --user root to run it "
			   "as root",
			   run->user->name);
	return err;
}

static int start(struct run *run, struct inheritance *inheritance, char *const *arguments)
{
	int status;

	keep_from_trace(run->settings, inheritance);
	if (find_user(run))
		return EXIT_PINCH_FAILED;
	inheritance->user = run->user;
	status = open_output(run->settings, inheritance, &run->output);
	if (status)
		return status;
	/* Before anything is opened or changed that the command must not inherit. */
	if (launch_new(arguments, inheritance, &run->launch) || tracing_open(run->settings, &run->tracing))
		return EXIT_PINCH_FAILED;
	run->pid = launch_pid(run->launch);
	run->outcome = (struct outcome){ .pids = &run->pid, .pid_count = 1, .exit_status = -1 };
	return run_and_trace(run, arguments);
}

int run_traced(const struct settings *settings, struct inheritance *inheritance, char *const *arguments)
{
	struct run run = { .settings = settings };
	int status;

	if (!arguments[0]) {
		fail_plain(-EINVAL, "no command given: pinch run [options] -- COMMAND [ARG...]");
		return EXIT_PINCH_FAILED;
	}
	status = start(&run, inheritance, arguments);
	tracing_close(run.tracing);
	launch_free(run.launch);
	command_user_free(run.user);
	command_output_close(run.output);
	text_fini(&run.command);
	return status;
}

static int run_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	int rest, status = EXIT_PINCH_FAILED;

	inheritance_take(&inheritance);
	settings_init(&settings);
	if (settings_parse(&settings, &run_command, argc, argv, &rest))
		goto out_fini;
	if (settings.wants_help) {
		command_help(&run_command);
		status = 0;
	} else {
		status = run_traced(&settings, &inheritance, argv + rest);
	}

out_fini:
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = {
	start_options, trace_options, watch_options,  report_options, html_options,
	table_options, quiet_options, common_options, NULL,
};

const struct command run_command = {
	.name = "run",
	.is_privileged = true,
	.has_command = true,
	.usage = "[options] [--] COMMAND [ARG...]",
	.summary = "Trace a command from its first instruction; report when it ends",
	.description = "The command keeps its input, output, signals and terminal; pinch's text goes to\n"
		       "standard error. The exit status is the command's (128 + signal when it was killed),\n"
		       "125 when pinch itself fails, 126 when the command cannot be executed, 127 when\n"
		       "there is none. With --tui the command's output is a page of it, and its input is\n"
		       "empty.",
	.options = options,
	.run = run_run,
};
