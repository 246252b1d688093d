/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/own_trigger.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/own/own_areas.h"
#include "options/own_trigger_spec.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"
#include "waits/wait_cause.h"

struct own_trigger {
	const struct threads *threads;
	struct own_areas *areas;
	struct own_trigger_spec spec;
	struct table *waits; /* when the wait began, by thread: ns, as a pointer */
	uint64_t fired, failed;
};

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct own_trigger *trigger = data;
	struct wait_facts facts;

	if (!header->thread || (e->state != SWITCH_SLEEPING && e->state != SWITCH_BLOCKED))
		return;
	facts = wait_facts_of(e);
	if (wait_cause_of(&facts, NULL) == trigger->spec.cause)
		table_put(trigger->waits, header->thread, (void *)(uintptr_t)header->time_ns);
	else
		table_take(trigger->waits, header->thread);
}

static void on_wake(void *data, const struct ev_header *header)
{
	struct own_trigger *trigger = data;
	uint64_t begin_ns = (uintptr_t)table_take(trigger->waits, header->thread);
	const struct thread *thread;

	if (!begin_ns || header->time_ns - begin_ns <= trigger->spec.longer_ns)
		return;
	thread = threads_find(trigger->threads, header->thread);
	if (!thread)
		return;
	if (own_areas_start(trigger->areas, thread->pid))
		trigger->failed++;
	else
		trigger->fired++;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_WAKE, on_wake },
	{ 0, NULL },
};

struct own_trigger *own_trigger_new(struct session *session, const struct threads *threads, struct own_areas *areas,
				    const struct own_trigger_spec *spec)
{
	struct own_trigger *trigger = xcalloc(1, sizeof(*trigger));

	trigger->threads = threads;
	trigger->areas = areas;
	trigger->spec = *spec;
	trigger->waits = table_new();
	session_subscribe(session, handlers, trigger);
	return trigger;
}

void own_trigger_free(struct own_trigger *trigger)
{
	if (!trigger)
		return;
	table_free(trigger->waits);
	free(trigger);
}

void own_trigger_put_notes(const struct own_trigger *trigger, struct text *notes)
{
	text_printf(notes, "programs' own events were started %llu time%s by a wait (%s) longer than ",
		    (unsigned long long)trigger->fired, trigger->fired == 1 ? "" : "s",
		    wait_cause_name(trigger->spec.cause));
	text_put_duration(notes, trigger->spec.longer_ns);
	if (trigger->failed)
		text_printf(notes, "; %llu such waits were of processes that record none, or could not be told",
			    (unsigned long long)trigger->failed);
	text_put_bytes(notes, "", 1);
}
