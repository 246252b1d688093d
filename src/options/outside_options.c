/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/settings.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "pinchtrace_format.h"

static int add_target(struct settings *settings, int err)
{
	settings->has_target = true;
	return err;
}

static int set_pid(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_pid(argument, &settings->targets, &settings->gone));
}

static int set_name(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_name(argument, &settings->targets));
}

/* The command finds them, where it matters which they are. */
static int set_all(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.trace_all = true;
	return add_target(settings, 0);
}

static int set_list(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->outside.lists = true;
	return 0;
}

static int add_switch(struct settings *settings, const char *names, bool is_on)
{
	struct outside_settings *outside = &settings->outside;

	if (outside->switch_count == SWITCHES_MAX)
		return fail_plain(-EINVAL, "--enable and --disable are given more than %d times: use commas",
				  SWITCHES_MAX);
	outside->switches[outside->switch_count].names = names;
	outside->switches[outside->switch_count++].is_on = is_on;
	return 0;
}

static int set_enable(struct settings *settings, const char *argument)
{
	return add_switch(settings, argument, true);
}

static int set_disable(struct settings *settings, const char *argument)
{
	return add_switch(settings, argument, false);
}

static int set_event(const char *option, const char *argument, const char **event)
{
	if (!strchr(argument, '.'))
		return fail_plain(-EINVAL, "--%s takes an event such as request.BEGIN, not '%s'", option, argument);
	*event = argument;
	return 0;
}

static int set_start(struct settings *settings, const char *argument)
{
	return set_event("start", argument, &settings->outside.start);
}

static int set_stop(struct settings *settings, const char *argument)
{
	return set_event("stop", argument, &settings->outside.stop);
}

static int set_count(struct settings *settings, const char *argument)
{
	return number_parse("count", argument, 1, UINT32_MAX, &settings->outside.count);
}

static int set_duration(struct settings *settings, const char *argument)
{
	if (duration_parse(argument, &settings->duration_ns))
		return fail_plain(-EINVAL, "--duration takes a duration with its unit, such as 30s, not '%s'",
				  argument);
	return 0;
}

static int set_mode(struct settings *settings, const char *argument)
{
	static const char *const modes[] = {
		[PINCHTRACE_MODE_ONE_SHOT] = "one-shot",
		[PINCHTRACE_MODE_REPEATED] = "repeated",
		[PINCHTRACE_MODE_CONTINUOUS] = "continuous",
	};

	for (uint32_t mode = 0; mode < sizeof(modes) / sizeof(*modes); mode++)
		if (!strcmp(modes[mode], argument)) {
			settings->outside.has_mode = true;
			settings->outside.mode = mode;
			return 0;
		}
	return fail_plain(-EINVAL, "--mode takes one-shot, repeated or continuous, not '%s'", argument);
}

static int set_clear(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->outside.clears_triggers = true;
	return 0;
}

static int set_snapshot(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->outside.takes_snapshot = true;
	return 0;
}

static int set_remove(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->outside.removes = true;
	return 0;
}

const struct option_spec program_options[] = {
	{ "pid", 'p', "PID", "these processes, separated by commas; may be repeated", set_pid },
	{ "name", 'n', "NAME", "processes with this command name or program", set_name },
	{ "all", 'a', NULL, "all processes that record events of their own", set_all },
	{ 0 },
};

const struct option_spec switch_options[] = {
	{ "list", 0, NULL, "list processes, subsystems and triggers (default)", set_list },
	{ "json", 0, "FILE", "write the list as JSON; - is standard output", settings_set_json },
	{ "enable", 0, "NAMES", "record events of these subsystems, separated by commas; or 'all'", set_enable },
	{ "disable", 0, "NAMES", "do not record events of these subsystems", set_disable },
	{ "start", 0, "EVENT", "record nothing until this event, such as request.BEGIN", set_start },
	{ "stop", 0, "EVENT", "record nothing after this event", set_stop },
	{ "duration", 0, "TIME", "record for TIME after the start", set_duration },
	{ "count", 0, "N", "record at most N events after the start, the start event included", set_count },
	{ "mode", 0, "MODE", "one-shot (default), repeated (start events start again), continuous (nothing stops)",
	  set_mode },
	{ "clear-triggers", 0, NULL, "record what is enabled, without start and stop", set_clear },
	{ "snapshot", 0, NULL, "print the events in memory, of processes or of the FILEs", set_snapshot },
	{ "output", 'o', "FILE", "write the list or the snapshot to FILE", settings_set_output },
	{ "remove", 0, NULL, "remove the files of ended processes", set_remove },
	{ 0 },
};
