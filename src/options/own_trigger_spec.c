/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/own_trigger_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

/* What the call of a wait tells by itself. */
static const enum wait_cause causes[] = {
	CAUSE_LOCK,  CAUSE_FILE,  CAUSE_SOCKET,     CAUSE_PIPE,        CAUSE_POLL,
	CAUSE_CHILD, CAUSE_SLEEP, CAUSE_PAGE_FAULT, CAUSE_KERNEL_LOCK, CAUSE_THROTTLED,
};

static bool find(const char *name, size_t length, enum wait_cause *cause)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		const char *known = wait_cause_name(causes[i]);

		if (strlen(known) == length && !memcmp(known, name, length)) {
			*cause = causes[i];
			return true;
		}
	}
	return false;
}

static int refuse(const char *argument)
{
	struct text names = { 0 };
	int err;

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		text_printf(&names, "%s%s", i ? ", " : "", wait_cause_name(causes[i]));
	err = fail_plain(-EINVAL, "--trigger takes CAUSE:TIME, such as lock:10ms, not '%s'; causes are %s", argument,
			 names.bytes);
	text_fini(&names);
	return err;
}

int own_trigger_parse(const char *argument, struct own_trigger_spec *spec)
{
	const char *colon = strchr(argument, ':');

	if (!colon || !find(argument, colon - argument, &spec->cause) || duration_parse(colon + 1, &spec->longer_ns) ||
	    !spec->longer_ns)
		return refuse(argument);
	return 0;
}
