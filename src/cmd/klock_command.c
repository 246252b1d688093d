/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel locks: what run, attach and report tell, with that page first. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/run_command.h"
#include "collect/target/launch.h"
#include "options/settings.h"
#include "view/view.h"

static const struct option_spec *const options[] = {
	target_options, start_options, acquisition_options, trace_options, watch_options,  report_options,
	html_options,   table_options, quiet_options,       names_options, common_options, NULL,
};

/* One word that "--" does not announce as a command. */
static bool is_trace(int argc, char **argv, int rest)
{
	return rest + 1 == argc && strcmp(argv[rest - 1], "--") != 0;
}

static int show_klocks(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest)
{
	if (!settings->pages)
		text_pages_parse("KLOCKS", &settings->pages);
	settings->first_page = PAGE_KLOCKS;
	if (settings->user && (settings->has_target || is_trace(argc, argv, rest))) {
		fail_plain(-EINVAL, "--user needs a command to start: pinch klock --user NAME -- COMMAND [ARG...]");
		return EXIT_USAGE;
	}
	if (settings->has_target && rest == argc)
		return attach_traced(settings, argc, argv);
	if (settings->has_target || rest == argc) {
		fail_plain(-EINVAL, "nothing to trace given: pinch klock -- COMMAND [ARG...], or -p PID and the "
				    "like, or a trace");
		return EXIT_USAGE;
	}
	if (!is_trace(argc, argv, rest))
		return run_traced(settings, inheritance, argv + rest);
	if (settings->counts_acquisitions) {
		fail_plain(-EINVAL, "--acquisitions is for live tracing, not for a trace that is already recorded");
		return EXIT_USAGE;
	}
	settings->is_reporting = true;
	return report_traced(settings, argv[rest]);
}

static int klock_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	int rest, err, status = EXIT_USAGE;

	inheritance_take(&inheritance);
	settings_init(&settings);
	err = settings_parse(&settings, &klock_command, argc, argv, &rest);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (settings.wants_help) {
		command_help(&klock_command);
		status = 0;
	} else {
		status = show_klocks(&settings, &inheritance, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

const struct command klock_command = {
	.name = "klock",
	.is_privileged = true,
	.usage = "[options] -- COMMAND [ARG...]\n       pinch klock [options] -p PID... | -n NAME | "
		 "--cgroup DIR | --all\n       pinch klock [options] FILE",
	.summary = "Show which kernel locks threads wait for, spinning or asleep",
	.description = "Traces a command or running processes, or reads a trace. Shows each lock with what it\n"
		       "belongs to, how long and where threads waited for it, and who held it. Locks that nobody\n"
		       "waited for cost nothing and are not shown.",
	.options = options,
	.run = klock_run,
};
