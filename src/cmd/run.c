/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "cmd/settings.h"
#include "cmd/tracing.h"
#include "collect/launch.h"

/* What the command's end means to a shell: its exit status, or 128 + its signal. */
static int exit_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
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
	} else if (sender && sender != pid) {
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

static int trace_command(struct tracing *tracing, struct launch *launch, char *const *arguments)
{
	struct text command = { 0 };
	uint32_t pid = launch_pid(launch);
	struct outcome outcome = { .pids = &pid, .pid_count = 1, .exit_status = -1 };
	pid_t sender = 0;
	int err, signal_number;

	err = tracing_add_command(tracing, pid);
	if (err)
		return EXIT_PINCH_FAILED;
	tracing_start(tracing);
	err = launch_go(launch);
	if (err) {
		fail(err, "cannot run %s", arguments[0]);
		return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	while (outcome.exit_status < 0 && !tracing_is_time_over(tracing)) {
		signal_number = tracing_step(tracing, &sender);
		outcome.exit_status = on_signal(signal_number, sender, pid);
	}
	if (outcome.exit_status >= 0)
		tracing_restore_signals();
	put_command(&command, arguments);
	outcome.command = command.bytes;
	err = tracing_report(tracing, &outcome);
	text_fini(&command);
	/* --duration ends the tracing, not the command. */
	while (outcome.exit_status < 0) {
		signal_number = tracing_wait_signal(tracing, -1, &sender);
		outcome.exit_status = on_signal(signal_number, sender, pid);
	}
	return err && err != -EPIPE ? EXIT_PINCH_FAILED : outcome.exit_status;
}

static int run_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	struct tracing *tracing = NULL;
	struct launch *launch = NULL;
	int rest, status = EXIT_PINCH_FAILED;

	inheritance_take(&inheritance);
	settings_init(&settings);
	if (settings_parse(&settings, &run_command, argc, argv, &rest))
		goto out_close;
	if (settings.wants_help) {
		command_help(&run_command);
		status = 0;
		goto out_close;
	}
	if (rest == argc) {
		fail_plain(-EINVAL, "which command? pinch run [options] -- COMMAND [ARG...]");
		goto out_close;
	}
	/* Before anything is opened or changed that the command must not inherit. */
	if (launch_new(argv + rest, &inheritance, &launch))
		goto out_close;
	if (tracing_open(&settings, &tracing))
		goto out_close;
	status = trace_command(tracing, launch, argv + rest);

out_close:
	tracing_close(tracing);
	launch_free(launch);
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = { trace_options, NULL };

const struct command run_command = {
	.name = "run",
	.usage = "[options] [--] COMMAND [ARG...]",
	.summary = "Trace a command from its first instruction; report when it ends",
	.description =
		"The command keeps its input, output, signals and terminal; pinch's text goes to\n"
		"standard error. The exit status is the command's (128 + signal when it was killed),\n"
		"125 when pinch itself fails, 126 when the command cannot be executed, 127 when\n"
		"there is none.",
	.options = options,
	.run = run_run,
};
