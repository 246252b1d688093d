/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/trace_change.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "area/control.h"
#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"
#include "outside/event_names.h"
#include "outside/programs.h"

bool trace_sets_triggers(const struct settings *settings)
{
	const struct outside_settings *outside = &settings->outside;

	return outside->start || outside->stop || outside->count || outside->has_mode || settings->duration_ns;
}

/* --- Names ------------------------------------------------------------------------------- */

static int say_no_subsystem(const struct outside_program *program, const char *name, size_t length)
{
	struct text names = { 0 };
	int err;

	event_names_put_subsystems(program->names, &names);
	err = fail_plain(-ENOENT, "process %u has no subsystem '%.*s'; it has: %s", program->pid, (int)length, name,
			 names.bytes);
	text_fini(&names);
	return err;
}

static int find_event(const struct outside_program *program, const char *word, uint32_t *key)
{
	size_t length = word ? strcspn(word, ".") : 0;
	struct text events = { 0 };
	uint32_t subsystem;
	int err;

	*key = PINCHTRACE_NO_EVENT;
	if (!word || event_names_find_event(program->names, word, key))
		return 0;
	if (!event_names_find(program->names, word, length, &subsystem))
		return say_no_subsystem(program, word, length);
	event_names_put_events(program->names, subsystem, &events);
	err = fail_plain(-ENOENT, "process %u has no event '%s'; of %.*s it has: %s", program->pid, word, (int)length,
			 word, events.bytes);
	text_fini(&events);
	return err;
}

static bool is_all(const char *name, size_t length)
{
	return length == 3 && !memcmp(name, "all", 3);
}

/* --- Changes ----------------------------------------------------------------------------- */

/* With is_dry only finds the names: nothing is changed before all are known. */
static int switch_list(const struct outside_program *program, const char *names, bool is_on, bool is_dry)
{
	uint32_t subsystem;
	size_t length;
	int err = 0;

	for (; !err && *names; names += names[length] ? length + 1 : length) {
		length = strcspn(names, ",");
		if (is_all(names, length))
			err = is_dry ? 0 : area_control_switch_all(program->fd, is_on);
		else if (!event_names_find(program->names, names, length, &subsystem))
			return say_no_subsystem(program, names, length);
		else
			err = is_dry ? 0 : area_control_switch(program->fd, subsystem, is_on);
	}
	return err;
}

static int set_triggers(const struct settings *settings, const struct outside_program *program, bool is_dry)
{
	const struct outside_settings *outside = &settings->outside;
	struct area_triggers triggers = {
		.duration_ns = settings->duration_ns,
		.count = outside->count,
		.mode = outside->mode,
	};
	int err = find_event(program, outside->start, &triggers.start);

	if (!err)
		err = find_event(program, outside->stop, &triggers.stop);
	return err || is_dry ? err : area_control_set(program->fd, &triggers);
}

static int change(const struct settings *settings, const struct outside_program *program, bool is_dry)
{
	const struct outside_settings *outside = &settings->outside;
	int err = 0;
	size_t i;

	for (i = 0; i < outside->switch_count && !err; i++)
		err = switch_list(program, outside->switches[i].names, outside->switches[i].is_on, is_dry);
	if (!err && trace_sets_triggers(settings))
		err = set_triggers(settings, program, is_dry);
	if (!err && outside->clears_triggers && !is_dry)
		err = area_control_clear(program->fd);
	return err;
}

int trace_change(const struct settings *settings, const struct outside_programs *programs)
{
	int err = 0;
	size_t i;

	for (i = 0; i < programs->count && !err; i++)
		err = change(settings, &programs->list[i], true);
	if (err)
		return err;
	for (i = 0; i < programs->count && !err; i++) {
		err = change(settings, &programs->list[i], false);
		if (err)
			fail(err, "cannot write the area of process %u", programs->list[i].pid);
	}
	return err;
}
