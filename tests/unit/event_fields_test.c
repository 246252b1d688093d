/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "session/event_kinds.h"
#include "trace/event_fields.h"

static size_t bytes_of(const struct event_field *field)
{
	return field->is_flexible ? 0 : field->width_bytes * (field->count ? field->count : 1);
}

/* One field behind the other, from the header to the end. */
static bool is_covered(const struct event_fields *event)
{
	size_t at = sizeof(struct ev_header);

	for (uint32_t i = 0; i < event->count; i++) {
		if (event->fields[i].offset_bytes != at)
			return false;
		at += bytes_of(&event->fields[i]);
	}
	return at == event->size_bytes;
}

TEST(each_kind_of_event_is_described_and_no_other)
{
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS + 1; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX + 1; event++)
			CHECK(!event_kind_find(subsys, event) == !event_fields_find(subsys, event));
}

TEST(the_fields_of_each_event_are_all_that_is_in_it)
{
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			const struct event_kind *kind = event_kind_find(subsys, event);
			const struct event_fields *fields = event_fields_find(subsys, event);

			if (!kind)
				continue;
			CHECK(fields->size_bytes == kind->size_bytes);
			CHECK(is_covered(fields));
			CHECK((fields->count && fields->fields[fields->count - 1].is_flexible) == kind->is_flexible);
		}
}

static const struct event_field *field_named(const struct event_fields *event, const char *name)
{
	for (uint32_t i = 0; i < event->count; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

TEST(a_field_is_found_in_an_event)
{
	struct ev_sched_switch e = {
		.header = { .subsys = TRACE_SUBSYS_SCHED, .event = TRACE_EVENT_SCHED_SWITCH },
		.cpu = 0xfffe,
		.owners = { 1, 2, 0xffffffff },
	};
	const struct event_fields *event = event_fields_find(e.header.subsys, e.header.event);
	const struct event_field *cpu = field_named(event, "cpu");
	const struct event_field *owners = field_named(event, "owners");
	size_t size_bytes;
	const char *at = event_field_bytes(cpu, &e.header, &size_bytes);

	CHECK(!strcmp(event->subsys, "sched") && !strcmp(event->event, "SWITCH"));
	CHECK(size_bytes == 2 && event_field_number(cpu, at) == 0xfffe);
	at = event_field_bytes(owners, &e.header, &size_bytes);
	CHECK(size_bytes == 12 && event_field_number(owners, at + 8) == 0xffffffff);
}

TEST(a_flexible_array_goes_on_to_the_end_of_its_event)
{
	uint64_t event[32] = { 0 };
	struct ev_stack_frames *e = (struct ev_stack_frames *)event;
	const struct event_field *frames;
	size_t size_bytes;
	const char *at;

	e->header.subsys = TRACE_SUBSYS_STACK;
	e->header.event = TRACE_EVENT_STACK_FRAMES;
	e->kernel_count = 1;
	e->user_count = 2;
	e->frames[2] = 0x7fff12345678;
	frames = field_named(event_fields_find(e->header.subsys, e->header.event), "frames");
	at = event_field_bytes(frames, &e->header, &size_bytes);
	CHECK(size_bytes == 24 && event_field_number(frames, at + 16) == 0x7fff12345678);
}

TEST(a_signed_number_keeps_its_sign)
{
	static const struct event_field byte = { .kind = FIELD_SIGNED, .width_bytes = 1 },
					word = { .kind = FIELD_SIGNED, .width_bytes = 8 };
	int64_t number = -5;

	CHECK((int64_t)event_field_number(&byte, &number) == -5);
	CHECK((int64_t)event_field_number(&word, &number) == -5);
}
