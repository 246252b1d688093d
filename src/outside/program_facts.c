/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outside/program_facts.h"

#include <stdlib.h>
#include <string.h>

#include "area/area.h"
#include "area/control.h"
#include "base/memory.h"
#include "base/text.h"
#include "outside/event_names.h"
#include "outside/programs.h"
#include "results/results.h"

enum { SUBSYSTEMS = 65535 };

/* --- Subsystems -------------------------------------------------------------------------- */

static bool is_on(const struct area_control *control, uint32_t subsystem)
{
	return control->switches[subsystem] & PINCHTRACE_ON_RECORD;
}

/* Whether those without a name are all on; and whether some of them are. */
static bool nameless_are_on(const struct event_names *names, const struct area_control *control, bool *some_are)
{
	bool all_are = true;
	uint32_t i;

	*some_are = false;
	for (i = 0; i < SUBSYSTEMS; i++)
		if (!event_names_subsystem(names, i)) {
			all_are &= is_on(control, i);
			*some_are |= is_on(control, i);
		}
	return all_are;
}

static void take_subsystems(struct result_own_program *result, const struct event_names *names,
			    const struct area_control *control, struct arena *arena)
{
	struct result_own_subsystem *list = NULL, *copy;
	size_t count = 0, capacity = 0;
	bool some_are_on;
	uint32_t i;

	result->has_nameless_on = nameless_are_on(names, control, &some_are_on);
	some_are_on &= !result->has_nameless_on;
	for (i = 0; i < SUBSYSTEMS; i++) {
		const char *name = event_names_subsystem(names, i);

		if (!name && !(some_are_on && is_on(control, i)))
			continue;
		ARRAY_GROW(list, count, capacity, 16);
		list[count++] = (struct result_own_subsystem){ i, name, is_on(control, i) };
	}
	copy = arena_alloc(arena, count * sizeof(*copy));
	if (count)
		memcpy(copy, list, count * sizeof(*copy));
	free(list);
	result->subsystems = copy;
	result->subsystem_count = count;
}

/* --- Triggers ---------------------------------------------------------------------------- */

static const char *event_of(const struct event_names *names, uint32_t key, struct arena *arena)
{
	struct text text = { 0 };
	const char *event;

	if (key == PINCHTRACE_NO_EVENT)
		return NULL;
	event_names_put(names, key, &text);
	event = arena_strdup(arena, text.bytes);
	text_fini(&text);
	return event;
}

static const char *phase_of(uint32_t phase)
{
	static const char *const phases[] = { "none", "waiting", "running", "done", "requested", "requested" };

	return phase < sizeof(phases) / sizeof(*phases) ? phases[phase] : "none";
}

static const char *mode_of(uint32_t mode)
{
	static const char *const modes[] = { "one-shot", "repeated", "continuous" };

	return mode < sizeof(modes) / sizeof(*modes) ? modes[mode] : "one-shot";
}

static struct result_own_triggers triggers_of(const struct event_names *names, const struct area_control *control,
					      struct arena *arena)
{
	const struct area_triggers *triggers = &control->triggers;
	bool has_none = control->phase == PINCHTRACE_PHASE_NONE;

	return (struct result_own_triggers){
		.phase = phase_of(control->phase),
		.mode = mode_of(triggers->mode),
		.start = has_none ? NULL : event_of(names, triggers->start, arena),
		.stop = has_none ? NULL : event_of(names, triggers->stop, arena),
		.duration_ns = has_none ? 0 : triggers->duration_ns,
		.count = has_none ? 0 : triggers->count,
		.start_count = control->start_count,
	};
}

/* --- Programs ---------------------------------------------------------------------------- */

static bool take_program(struct result_own_program *result, const struct outside_program *program,
			 struct area_control *control, struct arena *arena)
{
	const struct area_facts *facts = area_facts(program->area);

	if (area_refresh(program->area) || area_control_read(program->fd, control))
		return false;
	*result = (struct result_own_program){
		.pid = program->pid,
		.own_pid = facts->pid,
		.program = facts->program,
		.path = program->path,
		.is_ended = !program->pid,
		.has_exited = facts->has_ended,
		.threads = facts->ring_count - facts->ended_count,
		.ended_threads = facts->ended_count,
		.capacity = facts->ring_capacity,
		.lost = facts->lost,
		.overwritten = facts->overwritten,
		.triggers = triggers_of(program->names, control, arena),
	};
	take_subsystems(result, program->names, control, arena);
	return true;
}

struct result_own_programs program_facts(const struct outside_programs *programs, struct arena *arena)
{
	struct area_control *control = arena_alloc(arena, sizeof(*control));
	struct result_own_program *list = arena_alloc(arena, programs->count * sizeof(*list));
	size_t i, count = 0;

	for (i = 0; i < programs->count; i++)
		if (take_program(&list[count], &programs->list[i], control, arena))
			count++;
	return (struct result_own_programs){ list, count };
}
