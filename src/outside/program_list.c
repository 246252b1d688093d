/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "outside/program_facts.h"
#include "outside/program_list.h"
#include "results/results.h"
#include "view/json/json_fields.h"

static void put_subsystems(const struct result_own_program *program, bool is_on, struct text *out)
{
	const struct result_own_subsystem *subsystem;
	const char *separator = "";
	size_t i;

	text_printf(out, "  %-9s", is_on ? "on" : "off");
	for (i = 0; i < program->subsystem_count; i++) {
		subsystem = &program->subsystems[i];
		if (subsystem->is_on != is_on)
			continue;
		if (subsystem->name)
			text_printf(out, "%s%s", separator, subsystem->name);
		else
			text_printf(out, "%s%" PRIu32, separator, subsystem->number);
		separator = ", ";
	}
	if (program->has_nameless_on == is_on)
		text_printf(out, "%s%s", separator, *separator ? "and all others" : "all others");
	else if (!*separator)
		text_put(out, "none");
	text_put(out, "\n");
}

static void put_triggers(const struct result_own_triggers *triggers, struct text *out)
{
	text_printf(out, "  %-9s%s", "triggers", triggers->phase);
	if (!strcmp(triggers->phase, "none")) {
		text_put(out, "\n");
		return;
	}
	text_printf(out, ", %s", triggers->mode);
	if (triggers->start)
		text_printf(out, ", starts at %s", triggers->start);
	if (triggers->stop)
		text_printf(out, ", stops at %s", triggers->stop);
	if (triggers->duration_ns) {
		text_put(out, ", for ");
		text_put_duration(out, triggers->duration_ns);
	}
	if (triggers->count)
		text_printf(out, ", %" PRIu64 " events", triggers->count);
	text_printf(out, "; started %" PRIu64 " %s\n", triggers->start_count,
		    triggers->start_count == 1 ? "time" : "times");
}

static void put_lost(const struct result_own_program *program, struct text *out)
{
	if (!program->lost && !program->overwritten)
		return;
	text_printf(out, "  %-9s", "lost");
	if (program->lost) {
		text_put_count(out, program->lost);
		text_put(out, " events found no space");
	}
	if (program->overwritten) {
		text_put(out, program->lost ? "; " : "");
		text_put_count(out, program->overwritten);
		text_put(out, " slots of ended threads were overwritten");
	}
	text_put(out, "\n");
}

static void put_program(const struct result_own_program *program, struct text *out)
{
	if (program->is_ended)
		text_put(out, "ended ");
	else
		text_printf(out, "%" PRIu32 " ", program->pid);
	text_put_escaped(out, program->program);
	if (program->is_ended) {
		text_printf(out, ": process %" PRIu32 " %s\n  %-9s", program->own_pid,
			    program->has_exited ? "exited" : "was killed", "file");
		text_put_escaped(out, program->path);
		text_put(out, "\n");
	} else {
		text_printf(out, ": %" PRIu32 " %s", program->threads, program->threads == 1 ? "thread" : "threads");
		if (program->ended_threads)
			text_printf(out, " and %" PRIu32 " that have ended", program->ended_threads);
		text_put(out, ", ");
		text_put_count(out, program->capacity);
		text_put(out, " events each\n");
	}
	put_subsystems(program, true, out);
	put_subsystems(program, false, out);
	put_triggers(&program->triggers, out);
	put_lost(program, out);
}

void program_list_put(const struct outside_programs *programs, struct text *out)
{
	struct arena *arena = arena_new();
	struct result_own_programs list = program_facts(programs, arena);
	size_t i;

	for (i = 0; i < list.program_count; i++)
		put_program(&list.programs[i], out);
	if (!list.program_count)
		text_put(out, "No program records events of its own.\n");
	arena_free(arena);
}

void program_list_put_json(const struct outside_programs *programs, struct text *out)
{
	struct arena *arena = arena_new();
	struct result_own_programs list = program_facts(programs, arena);

	json_put_document(out, result_own_programs_type(), &list);
	arena_free(arena);
}
