/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that say which events of a trace are looked at: the same of all commands that have them. */
#include <errno.h>

#include "base/fail.h"
#include "options/settings.h"

static int add_word(struct settings *settings, enum filter_kind kind, const char *word)
{
	int err = event_filter_add(&settings->filter, kind, word);

	if (err == -E2BIG)
		return fail_plain(-EINVAL, "--%s can be given at most %d times", filter_kind_name(kind),
				  FILTER_WORDS_MAX);
	if (err && kind == FILTER_CPU)
		return fail_plain(err, "--cpu takes the number of a CPU, not '%s'", word);
	return err ? fail_plain(err, "--%s takes a name, which is not empty", filter_kind_name(kind)) : 0;
}

static int set_host(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_HOST, argument);
}

static int set_cpu(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_CPU, argument);
}

static int set_process(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_PROCESS, argument);
}

static int set_thread(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_THREAD, argument);
}

static int set_subsystem(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_SUBSYSTEM, argument);
}

static int set_event(struct settings *settings, const char *argument)
{
	return add_word(settings, FILTER_EVENT, argument);
}

static int set_script(struct settings *settings, const char *argument)
{
	if (settings->script_count == SCRIPTS_MAX)
		return fail_plain(-EINVAL, "--script can be given at most %d times", SCRIPTS_MAX);
	settings->scripts[settings->script_count++] = argument;
	return 0;
}

const struct option_spec filter_options[] = {
	{ "host", 0, "NAME", "only events on this host, of a trace of several; may be repeated, as may the following",
	  set_host },
	{ "cpu", 0, "N", "only events on this CPU", set_cpu },
	{ "process", 0, "WHO", "only events of this process: its PID, its name or the one it gives itself",
	  set_process },
	{ "thread", 0, "WHO", "only events of this thread: its number in the trace, or its name", set_thread },
	{ "subsystem", 0, "NAME", "only events of this subsystem, such as sched", set_subsystem },
	{ "event", 0, "NAME", "only events with this name, such as sched.WAKE", set_event },
	{ "script", 0, "FILE",
	  "use this script, see pinch-scripts(5): its filter chooses, its decoder finds activities", set_script },
	{ 0 },
};

const struct option_spec script_options[] = {
	{ "script", 0, "FILE", "show the activities that the decoder of this script finds, see pinch-scripts(5)",
	  set_script },
	{ 0 },
};

const struct option_spec cpu_options[] = {
	{ "cpu", 0, "N", "only what ran on this CPU, and waits after which the thread ran there next; may be repeated",
	  set_cpu },
	{ 0 },
};
