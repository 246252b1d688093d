/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/named_event.h"

#include <string.h>

#include "session/threads.h"

/* Traces of earlier versions do not say what fields mean, but have them in the same places. */
static uint32_t other_thread(const struct event_kind *kind, const struct ev_header *stored)
{
	const struct event_field *field = event_field_meaning(kind, MEANS_THREAD, ROLE_ABOUT);
	const struct event_kind *here = event_kind_find(stored->subsys, stored->event);

	if (!field && here)
		field = event_field_meaning(here, MEANS_THREAD, ROLE_ABOUT);
	if (!field || field->offset_bytes + field->width_bytes > kind->size_bytes)
		return stored->thread;
	return event_field_number(field, (const char *)stored + field->offset_bytes);
}

struct named_event named_event_of(const struct event_context *context, const struct event_kind *kind,
				  const struct ev_header *stored, size_t stored_bytes, uint64_t first_ns)
{
	return (struct named_event){
		.context = context,
		.time_ns = stored->time_ns,
		.first_ns = first_ns,
		.subsystem = kind->subsys,
		.event = kind->event,
		.text = kind->text,
		.thread = stored->thread,
		.other_thread = other_thread(kind, stored),
		.kind = kind,
		.stored = stored,
		.stored_bytes = stored_bytes,
	};
}

void named_event_set_own(struct named_event *event, uint32_t argument)
{
	event->is_own = true;
	event->argument = argument;
	event->other_thread = event->thread; /* its numbers are those of another list of events */
}

/* A thread that is woken is on no CPU: it happens on that of its waker. */
static bool is_of_other(const struct named_event *event)
{
	return !event->is_own && event->stored->subsys == TRACE_SUBSYS_SCHED &&
	       event->stored->event == TRACE_EVENT_SCHED_WAKE;
}

bool named_event_says_cpu(const struct named_event *event, uint32_t *cpu)
{
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	if (event->is_own || !named_event_field(event, "cpu", &field, &bytes, &size_bytes) || !size_bytes)
		return false;
	*cpu = event_field_number(field, bytes);
	return true;
}

uint32_t named_event_runner(const struct named_event *event)
{
	return is_of_other(event) ? event->other_thread : event->thread;
}

uint32_t named_event_cpu(const struct named_event *event)
{
	uint32_t cpu;

	if (named_event_says_cpu(event, &cpu))
		return cpu;
	return event_context_cpu(event->context, named_event_runner(event));
}

const struct thread *named_event_thread(const struct named_event *event)
{
	const struct thread *thread = event_context_thread(event->context, event->thread);

	return thread ? thread : event_context_thread(event->context, event->other_thread);
}

const char *named_event_host(const struct named_event *event)
{
	const struct thread *thread = named_event_thread(event);

	return thread ? event_context_host(event->context, thread->pid) : "";
}

bool named_event_is(const struct named_event *event, const char *name)
{
	size_t length = strlen(event->subsystem);

	if (!strncmp(name, event->subsystem, length) && name[length] == '.')
		return !strcmp(name + length + 1, event->event);
	return !strcmp(name, event->event);
}

bool named_event_field(const struct named_event *event, const char *name, const struct event_field **field,
		       const void **bytes, size_t *size_bytes)
{
	struct event_fields fields = event_fields_of(event->kind, event->stored, event->stored_bytes);

	while (event_fields_next(&fields, field, bytes, size_bytes))
		if (!strcmp((*field)->name, name))
			return true;
	return false;
}
