/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/agent_triggers.h"
#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"
#include "serve/metrics_server.h"

static const uint64_t size_default_bytes = 1 << 30, size_min_bytes = 1 << 20;
static const uint64_t window_default_ns = 10000000000, window_min_ns = 100000000;
static const double budget_default = 0.005, percent = 0.01;

static int set_directory(struct settings *settings, const char *argument)
{
	settings->agent.directory = argument;
	return 0;
}

static int set_size(struct settings *settings, const char *argument)
{
	if (size_parse(argument, &settings->agent.size_bytes) || settings->agent.size_bytes < size_min_bytes)
		return fail_plain(-EINVAL, "--keep takes a size of at least 1M with its unit, such as 500M, not '%s'",
				  argument);
	return 0;
}

static int set_budget(struct settings *settings, const char *argument)
{
	char *end;
	double share = strtod(argument, &end) * percent;

	if (end == argument || strcmp(end, "%") != 0 || !(share > 0 && share <= 1))
		return fail_plain(-EINVAL, "--budget takes a share of the machine's CPU time, such as 0.5%%, not '%s'",
				  argument);
	settings->agent.budget = share;
	return 0;
}

static int set_window(struct settings *settings, const char *argument)
{
	if (duration_parse(argument, &settings->agent.window_ns) || settings->agent.window_ns < window_min_ns)
		return fail_plain(-EINVAL,
				  "--window takes a time of at least 100ms with its unit, such as 10s, not '%s'",
				  argument);
	return 0;
}

static int set_trigger(struct settings *settings, const char *argument)
{
	struct agent_settings *agent = &settings->agent;

	if (agent->trigger_count == AGENT_TRIGGERS_MAX)
		return fail_plain(-EINVAL, "--trigger can be given once for each of cpu, io and memory");
	agent->triggers[agent->trigger_count++] = argument;
	return agent_trigger_check(argument);
}

static int set_duration(struct settings *settings, const char *argument)
{
	if (duration_parse(argument, &settings->agent.duration_ns))
		return fail_plain(-EINVAL, "--duration takes a time with its unit, such as 10min, not '%s'", argument);
	return 0;
}

static int set_cgroup(struct settings *settings, const char *argument)
{
	settings->agent.target[0] = "--cgroup";
	settings->agent.target[1] = argument;
	return 0;
}

static int set_metrics(struct settings *settings, const char *argument)
{
	settings->agent.metrics_address = argument;
	return metrics_server_check(argument);
}

static const struct option_spec agent_options[] = {
	{ "to", 0, "DIR", "keep rollups, and the last traces, in DIR", set_directory },
	{ "keep", 0, "SIZE", "keep traces of windows up to SIZE (default: 1G)", set_size },
	{ "budget", 0, "SHARE", "take at most SHARE of the machine's CPU time (default: 0.5%)", set_budget },
	{ "window", 0, "TIME", "watch for at most TIME at once (default: 10s)", set_window },
	{ "trigger", 0, "PRESSURE",
	  "also watch when threads wait for cpu, io or memory for a share of the time, such as cpu:20%; may be repeated",
	  set_trigger },
	{ "cgroup", 0, "DIR", "watch processes of a cgroup and the cgroups below it (default: all of the machine)",
	  set_cgroup },
	{ "metrics", 0, "ADDRESS", "give metrics to Prometheus, at :PORT of 127.0.0.1; 0: a free port", set_metrics },
	{ "duration", 0, "TIME", "end after TIME, such as 1h", set_duration },
	{ 0 },
};

static const struct option_spec *const options[] = { agent_options, common_options, NULL };

static int agent_checked(const struct settings *settings, int argc, int rest)
{
	if (rest == argc && settings->agent.directory)
		return agent_run(&settings->agent) ? EXIT_FAILED : 0;
	fail_plain(-EINVAL, rest < argc ? "too many arguments: pinch agent --to DIR [options]"
					: "no directory given: pinch agent --to DIR [options]");
	return EXIT_USAGE;
}

static int agent_run_command(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	settings.agent = (struct agent_settings){
		.size_bytes = size_default_bytes,
		.budget = budget_default,
		.window_ns = window_default_ns,
		.target = { "--all", NULL },
	};
	if (!settings_parse(&settings, &agent_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&agent_command);
		else
			status = agent_checked(&settings, argc, rest);
	}
	settings_fini(&settings);
	return status;
}

const struct command agent_command = {
	.name = "agent",
	.is_privileged = true,
	.usage = "--to DIR [options]",
	.summary = "Watch a machine for ever, within a budget",
	.description =
		"Watches all of the machine in windows, as often and as long as the budget allows, and when\n"
		"something triggers it. Of each window DIR gets a rollup: what threads did, added up. Traces of the\n"
		"last windows are kept. SIGUSR1 begins a window at once.",
	.options = options,
	.run = agent_run_command,
};
