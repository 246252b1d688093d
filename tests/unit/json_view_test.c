/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report_fixture.h"
#include "test.h"
#include "view/view.h"

static struct text render(const char *fixture_name)
{
	struct report_fixture *fixture = report_fixture_new(fixture_name);
	struct view_style style = { 0 };
	struct text text = { 0 };

	json_view.show(report_fixture_get(fixture), &style, &text);
	report_fixture_free(fixture);
	return text;
}

static json_t *parse(const char *fixture_name)
{
	struct text text = render(fixture_name);
	json_t *root = json_loads(text.bytes, JSON_REJECT_DUPLICATES, NULL);

	text_fini(&text);
	return root;
}

/* A new version of pinch is no reason to rewrite every golden file. */
static void hide_version(char *bytes)
{
	char *begin = strstr(bytes, "\"version\": \""), *end;

	if (!begin)
		return;
	begin += strlen("\"version\": \"");
	end = begin + strcspn(begin, "\"");
	memmove(begin + 1, end, strlen(end) + 1);
	*begin = '0';
}

TEST(every_fixture_is_written_as_in_its_golden_file)
{
	for (const char *const *name = report_fixture_names; *name; name++) {
		struct text text = render(*name);
		char file[64];

		snprintf(file, sizeof(file), "%s.json", *name);
		hide_version(text.bytes);
		CHECK(golden_view_matches(file, text.bytes));
		text_fini(&text);
	}
}

TEST(every_fixture_parses)
{
	for (const char *const *name = report_fixture_names; *name; name++) {
		json_t *root = parse(*name);

		CHECK(json_is_object(root));
		json_decref(root);
	}
}

TEST(exit_status_is_null_when_there_is_none)
{
	json_t *attach = parse("attach"), *lock = parse("lock");

	CHECK(json_is_null(json_object_get(json_object_get(attach, "target"), "exit_status")));
	CHECK(json_is_integer(json_object_get(json_object_get(lock, "target"), "exit_status")));
	json_decref(attach);
	json_decref(lock);
}

TEST(threads_are_flat_and_name_their_group)
{
	json_t *root = parse("pipeline"), *threads = json_object_get(root, "threads"), *thread;

	CHECK_EQUAL(json_array_size(threads), 64);
	thread = json_array_get(threads, 0);
	CHECK_STRING(json_string_value(json_object_get(thread, "group")), "rank");
	json_decref(root);
}

TEST(stacks_are_whole_and_unfolded)
{
	json_t *root = parse("lock");
	json_t *path = json_array_get(json_object_get(root, "paths"), 0);

	CHECK_EQUAL(json_array_size(json_object_get(path, "stack")), 14);
	json_decref(root);
}
