/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds of the description of the report, whatever is in it. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "report/report_enums.h"
#include "report/report_fields.h"
#include "test.h"

enum { NAMES_MAX = 128, DEPTH_MAX = 8 };

struct names {
	const char *names[NAMES_MAX];
	size_t count;
};

/* Of an object in JSON: parts are in it. */
static void add_names(struct names *names, const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->kind == REPORT_PART) {
			add_names(names, field->type());
			continue;
		}
		for (size_t i = 0; i < names->count; i++)
			CHECK(strcmp(names->names[i], field->name) != 0);
		CHECK(names->count < NAMES_MAX);
		names->names[names->count++] = field->name;
	}
}

static void each_type(const struct report_type *type, unsigned int depth, void (*look)(const struct report_type *type))
{
	CHECK(depth < DEPTH_MAX);
	look(type);
	for (const struct report_field *field = type->fields; field->name; field++)
		if (field->type)
			each_type(field->type(), depth + 1, look);
}

static void look_at_names(const struct report_type *type)
{
	struct names names = { 0 };

	add_names(&names, type);
}

TEST(no_object_has_two_members_of_one_name)
{
	each_type(report_type(), 0, look_at_names);
}

static void look_at_meanings(const struct report_type *type)
{
	CHECK(*type->meaning);
	for (const struct report_field *field = type->fields; field->name; field++)
		CHECK(field->type || (field->meaning && *field->meaning));
}

TEST(each_member_has_a_meaning_of_its_own_or_of_its_type)
{
	each_type(report_type(), 0, look_at_meanings);
}

static void look_at_versions(const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++)
		CHECK(field->kind == REPORT_PART || (field->since && field->since <= REPORT_SCHEMA));
}

TEST(no_member_is_newer_than_the_schema)
{
	each_type(report_type(), 0, look_at_versions);
}

static void look_at_places(const struct report_type *type)
{
	for (const struct report_field *field = type->fields; field->name; field++)
		CHECK(field->at < type->size_bytes && field->count_at < type->size_bytes &&
		      field->flag_at < type->size_bytes);
	CHECK(!type->is_bare || !type->fields[1].name);
}

TEST(members_lie_in_their_struct_and_a_bare_one_is_alone)
{
	each_type(report_type(), 0, look_at_places);
}

TEST(a_value_without_a_name_is_null)
{
	CHECK(!strcmp(wait_cause_name(CAUSE_PAGE_FAULT), "page-fault") && !wait_cause_name(CAUSE_UNKNOWN));
	CHECK(wait_cause_group(CAUSE_PIPE) == GROUP_IO && !cause_group_name(GROUP_NONE));
	CHECK(!wake_context_name(WAKE_HARDIRQ + 1));
}
