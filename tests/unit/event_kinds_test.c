/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "session/event_kinds.h"
#include "trace_fixture.h"

static size_t bytes_of(const struct event_field *field)
{
	return field->is_flexible ? 0 : field->width_bytes * (field->count ? field->count : 1);
}

/* One field behind the other, from the header to the end. */
static bool is_covered(const struct event_kind *kind)
{
	size_t at = sizeof(struct ev_header);

	for (uint32_t i = 0; i < kind->field_count; i++) {
		if (kind->fields[i].offset_bytes != at)
			return false;
		at += bytes_of(&kind->fields[i]);
	}
	return at == kind->size_bytes;
}

/* Whether its end is known without its size: only then can it be copied. */
static bool ends_itself(const struct event_kind *kind)
{
	const struct event_field *last;

	if (!kind->is_flexible)
		return true;
	last = kind->fields + kind->field_count - 1;
	return last->length_field_count || last->strings >= STRINGS_COUNT;
}

TEST(the_fields_of_each_event_are_all_that_is_in_it)
{
	size_t count = 0;

	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS + 1; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX + 1; event++) {
			const struct event_kind *kind = event_kind_find(subsys, event);

			if (!kind)
				continue;
			count++;
			CHECK(is_covered(kind));
			CHECK(ends_itself(kind));
		}
	CHECK_EQUAL(count, 61);
}

static void check_times(const struct event_kind *kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < kind->field_count; i++) {
		if (kind->fields[i].meaning != MEANS_MOMENT && kind->fields[i].meaning != MEANS_DURATION)
			continue;
		CHECK_THAT(count, <, kind->time_field_count);
		CHECK_EQUAL(kind->time_fields[count++], i);
		CHECK_EQUAL(kind->fields[i].width_bytes, 8);
	}
	CHECK_EQUAL(count, kind->time_field_count);
}

static void check_about(const struct event_kind *kind)
{
	const struct event_field *field = event_field_meaning(kind, MEANS_THREAD, ROLE_ABOUT);

	CHECK_EQUAL(kind->about_thread_offset, field ? field->offset_bytes : 0);
	CHECK(!field || (field->width_bytes == sizeof(uint32_t) && !field->is_flexible));
}

TEST(what_is_said_of_an_event_in_short_is_what_its_fields_say)
{
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			const struct event_kind *kind = event_kind_find(subsys, event);

			if (!kind)
				continue;
			check_times(kind);
			check_about(kind);
			CHECK_EQUAL(kind->is_flexible,
				    kind->field_count && kind->fields[kind->field_count - 1].is_flexible);
		}
}

/* The fields of an event, one after the other, are all of its bytes. */
static size_t walked_bytes(const struct ev_header *header, size_t size_bytes)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	struct event_fields fields = event_fields_of(kind, header, size_bytes);
	size_t at = sizeof(*header), field_bytes;
	const struct event_field *field;
	const void *bytes;

	while (event_fields_next(&fields, &field, &bytes, &field_bytes)) {
		CHECK_EQUAL((const char *)bytes, (const char *)header + at);
		at += field_bytes;
	}
	return at;
}

TEST(an_event_is_as_long_as_its_fields_and_well_formed_with_no_other_length)
{
	for (int i = 0; i < 20000; i++) {
		const struct ev_header *header = trace_make_event(1000);
		const struct event_kind *kind = event_kind_find(header->subsys, header->event);
		size_t size_bytes = event_bytes(header);
		bool may_be_longer = kind->is_flexible && !kind->fields[kind->field_count - 1].length_field_count;

		CHECK_EQUAL(walked_bytes(header, SIZE_MAX), size_bytes);
		CHECK_EQUAL(walked_bytes(header, size_bytes), size_bytes);
		CHECK(event_is_well_formed(header, size_bytes));
		CHECK(!event_is_well_formed(header, size_bytes - 1));
		CHECK_EQUAL(event_is_well_formed(header, size_bytes + 1), may_be_longer);
	}
}

/* What is said of an event that was cut off is no more than what is left. */
TEST(of_an_event_that_was_cut_off_the_fields_are_within_it)
{
	for (int i = 0; i < 20000; i++) {
		const struct ev_header *header = trace_make_event(1000);
		const struct event_kind *kind = event_kind_find(header->subsys, header->event);
		size_t left = kind->size_bytes + trace_below(event_bytes(header) - kind->size_bytes + 1);

		CHECK_THAT(walked_bytes(header, left), <=, left);
	}
}

static const struct event_field *field_named(const struct event_kind *kind, const char *name)
{
	for (uint32_t i = 0; i < kind->field_count; i++)
		if (!strcmp(kind->fields[i].name, name))
			return &kind->fields[i];
	return NULL;
}

TEST(a_field_is_found_in_an_event)
{
	struct ev_sched_switch e = { .cpu = 0xfffe, .owners = { 1, 2, 0xffffffff } };
	const struct event_kind *kind = event_kind_find(TRACE_SUBSYS_SCHED, TRACE_EVENT_SCHED_SWITCH);
	const struct event_field *cpu = field_named(kind, "cpu");

	CHECK_STRING(kind->subsys, "sched");
	CHECK_STRING(kind->event, "SWITCH");
	CHECK_EQUAL(event_field_number(cpu, (char *)&e + cpu->offset_bytes), 0xfffe);
	CHECK_EQUAL(event_field_number(field_named(kind, "owners"), &e.owners[2]), 0xffffffff);
}

TEST(a_field_is_found_by_what_it_means)
{
	const struct event_kind *wake = event_kind_find(TRACE_SUBSYS_SCHED, TRACE_EVENT_SCHED_WAKE);
	const struct event_kind *found = event_kind_find(TRACE_SUBSYS_THREAD, TRACE_EVENT_THREAD_FOUND);

	CHECK_STRING(event_field_meaning(wake, MEANS_THREAD, ROLE_ABOUT)->name, "waker");
	CHECK(!event_field_meaning(wake, MEANS_THREAD, ROLE_REFERS));
	CHECK(!event_field_meaning(wake, MEANS_KLOCK, ROLE_REFERS));
	CHECK_STRING(event_field_meaning(found, MEANS_THREAD, ROLE_REFERS)->name, "parent");
}

TEST(the_threads_and_the_process_of_an_event_are_found)
{
	struct ev_sched_switch change = {
		.header = { .thread = 1, .subsys = TRACE_SUBSYS_SCHED, .event = TRACE_EVENT_SCHED_SWITCH },
		.next = 2,
	};
	struct ev_space_fork fork = {
		.header = { .thread = 3, .subsys = TRACE_SUBSYS_SPACE, .event = TRACE_EVENT_SPACE_FORK },
		.pid = 4,
		.parent_pid = 5,
	};

	CHECK_EQUAL(event_other_thread(&change.header), 2);
	CHECK_EQUAL(event_process(&change.header), 0);
	CHECK_EQUAL(event_other_thread(&fork.header), 3);
	CHECK_EQUAL(event_process(&fork.header), 4);
}

TEST(a_signed_number_keeps_its_sign)
{
	static const struct event_field byte = { .kind = FIELD_SIGNED, .width_bytes = 1 },
					word = { .kind = FIELD_SIGNED, .width_bytes = 8 };
	int64_t number = -5;

	CHECK_EQUAL((int64_t)event_field_number(&byte, &number), -5);
	CHECK_EQUAL((int64_t)event_field_number(&word, &number), -5);
}
