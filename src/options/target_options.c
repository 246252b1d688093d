/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/settings.h"

static int add_target(struct settings *settings, int err)
{
	settings->has_target = true;
	return err;
}

static int set_pid(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_pid(argument, &settings->targets));
}

static int set_name(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_name(argument, &settings->targets));
}

static int set_cgroup(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_cgroup(argument, &settings->targets));
}

static int set_all(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.trace_all = true;
	return add_target(settings, targets_all(&settings->targets));
}

const struct option_spec target_options[] = {
	{ "pid", 'p', "PID", "processes to trace, separated by commas; may be repeated", set_pid },
	{ "name", 'n', "NAME", "processes with this command name or program", set_name },
	{ "cgroup", 0, "DIR", "processes of a cgroup and the cgroups below it", set_cgroup },
	{ "all", 'a', NULL, "all programs on this machine", set_all },
	{ 0 },
};
