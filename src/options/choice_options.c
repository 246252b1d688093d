/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that say which waits of a trace are looked at. */
#include <errno.h>

#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"

static int set_cause(struct settings *settings, const char *argument)
{
	struct text known = { 0 };
	int err = wait_choice_add_cause(&settings->choice, argument);

	if (!err)
		return 0;
	for (enum wait_cause cause = 0; cause < CAUSES; cause++)
		text_printf(&known, "%s, ", wait_cause_name(cause));
	err = fail_plain(err, "--cause takes the name of a cause, not '%s'; causes are %sand %s", argument, known.bytes,
			 wait_cause_name(CAUSE_PREEMPTED));
	text_fini(&known);
	return err;
}

static int set_object(struct settings *settings, const char *argument)
{
	int err = wait_choice_add_object(&settings->choice, argument);

	if (err == -E2BIG)
		return fail_plain(-EINVAL, "--object can be given at most %d times", WAIT_CHOICE_OBJECTS_MAX);
	return err ? fail_plain(err, "--object takes a part of a name, which is not empty") : 0;
}

static int set_spans(struct settings *settings, const char *argument)
{
	struct span_words *spans = &settings->span_words;
	uint64_t length_ns;

	if (spans->count == SPAN_WORDS_MAX)
		return fail_plain(-EINVAL, "--spans can be given at most %d times", SPAN_WORDS_MAX);
	if (!*argument)
		return fail_plain(-EINVAL, "--spans takes a part of a name, which is not empty");
	if ((*argument == '>' || *argument == '<') && duration_parse(argument + 1, &length_ns))
		return fail_plain(-EINVAL, "--spans takes a length with its unit, such as '>1ms', not '%s'", argument);
	spans->words[spans->count++] = argument;
	return 0;
}

const struct option_spec choice_options[] = {
	{ "cause", 0, "CAUSE", "of waits, only those of this cause, such as lock; may be repeated", set_cause },
	{ "object", 0, "NAME", "of waits, only those for a lock, file or peer with NAME in its name; may be repeated",
	  set_object },
	{ 0 },
};

const struct option_spec part_options[] = {
	{ "spans", 0, "WHAT",
	  "also what threads did in executions of spans: of a NAME, longer than '>TIME', shorter than '<TIME'; may be repeated",
	  set_spans },
	{ 0 },
};
