/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"

static int parse_time(const char *option, const char *argument, uint64_t *time_ns)
{
	if (moment_parse(argument, time_ns))
		return fail_plain(-EINVAL,
				  "--%s takes a time since the first event, with its "
				  "unit, such as 250ms or 1.5s, not '%s'",
				  option, argument);
	return 0;
}

static int set_from(struct settings *settings, const char *argument)
{
	return parse_time("from", argument, &settings->range.from_ns);
}

static int set_to(struct settings *settings, const char *argument)
{
	return parse_time("to", argument, &settings->range.to_ns);
}

static int set_thread(struct settings *settings, const char *argument)
{
	struct thread_words *threads = &settings->threads;

	if (threads->count == THREAD_WORDS_MAX)
		return fail_plain(-EINVAL, "--thread can be given at most %d times", THREAD_WORDS_MAX);
	threads->words[threads->count++] = argument;
	return 0;
}

const struct option_spec range_options[] = {
	{ "from", 0, "TIME", "only events at least TIME after the first one, such as 1.5s", set_from },
	{ "to", 0, "TIME", "only events less than TIME after the first one", set_to },
	{ 0 },
};

const struct option_spec thread_options[] = {
	{ "thread", 0, "WHO", "only this thread: its number in the trace, its TID or its name; may be repeated",
	  set_thread },
	{ 0 },
};
