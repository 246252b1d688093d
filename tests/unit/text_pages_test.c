/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report_fixture.h"
#include "stacks/fold.h"
#include "test.h"
#include "view/view.h"

static uint32_t chosen_by(const char *names)
{
	uint32_t chosen = 0;

	CHECK_EQUAL(text_pages_parse(names, &chosen), 0);
	return chosen;
}

static bool is_refused(const char *names)
{
	uint32_t chosen = 4;

	return text_pages_parse(names, &chosen) < 0 && chosen == 4;
}

/* width 0: the one of no terminal. */
static struct text render_at(const char *fixture_name, const char *pages, uint32_t width)
{
	struct report_fixture *fixture = report_fixture_new(fixture_name);
	struct fold_rules *rules = fold_rules_new();
	struct text text = { 0 };

	text_view.show(report_fixture_get(fixture),
		       &(struct view_style){
			       .has_unicode = true,
			       .fold = rules,
			       .width = width,
			       .pages = pages ? chosen_by(pages) : 0,
		       },
		       &text);
	fold_rules_free(rules);
	report_fixture_free(fixture);
	return text;
}

static struct text render(const char *fixture_name, const char *pages)
{
	return render_at(fixture_name, pages, 0);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		struct text line = { 0 };

		text_put_bytes(&line, text, length);
		widest = text_columns(line.bytes) > widest ? text_columns(line.bytes) : widest;
		text_fini(&line);
		text += length + (text[length] == '\n');
	}
	return widest;
}

static bool renders_as(const char *fixture, const char *pages, const char *file)
{
	struct text text = render(fixture, pages);
	bool is_same = golden_view_matches(file, text.bytes);

	text_fini(&text);
	return is_same;
}

TEST(each_name_that_is_listed_is_one_page)
{
	struct text names = { 0 };
	uint32_t all = 0;
	int count = 0;

	text_pages_list(&names);
	for (char *name = strtok(names.bytes, ", "); name; name = strtok(NULL, ", ")) {
		uint32_t chosen = chosen_by(name);

		CHECK_EQUAL(__builtin_popcount(chosen), 1);
		CHECK(!(all & chosen));
		all |= chosen;
		count++;
	}
	CHECK_EQUAL(count, 8);
	text_fini(&names);
}

TEST(names_are_of_large_letters_or_small_ones_and_several_add_up)
{
	uint32_t chosen = chosen_by("LOCKS");

	CHECK_EQUAL(chosen_by("locks"), chosen);
	CHECK_EQUAL(chosen_by("LockS"), chosen);
	CHECK_EQUAL(chosen_by("io,locks"), chosen | chosen_by("io"));
	CHECK_EQUAL(chosen_by("locks,locks"), chosen);
	CHECK_EQUAL(text_pages_parse("threads", &chosen), 0);
	CHECK_EQUAL(chosen, chosen_by("locks") | chosen_by("threads"));
}

TEST(what_is_no_name_is_refused_and_nothing_is_chosen)
{
	CHECK(is_refused("") && is_refused(",") && is_refused("locks,") && is_refused(",locks"));
	CHECK(is_refused("lock") && is_refused("lockss") && is_refused("locks io"));
	CHECK(is_refused("locks,nothing"));
}

TEST(pages_are_shown_as_in_their_golden_files)
{
	CHECK(renders_as("lock", "locks", "lock-page-locks.txt"));
	CHECK(renders_as("lock", "io,synchronisation", "lock-page-synchronisation-io.txt"));
	CHECK(renders_as("klock", "klocks", "klock-page-klocks.txt"));
	CHECK(renders_as("held", "klocks", "held-page-klocks.txt"));
	CHECK(renders_as("hostile", "klocks", "hostile-page-klocks.txt"));
}

TEST(no_page_is_wider_than_it_may_be)
{
	static const uint32_t widths[] = { 60, 63, 64, 74, 75, 85, 96, 100, 140, 500 };

	for (const char *const *name = report_fixture_names; *name; name++) {
		for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
			struct text text =
				render_at(*name, "paths,locks,klocks,io,threads,balance,synchronisation", widths[i]);

			CHECK_THAT(widest_line(text.bytes), <=, widths[i]);
			text_fini(&text);
		}
	}
}

TEST(a_page_has_no_row_less_than_the_whole_report)
{
	struct text whole = render("lock", NULL), pages = render("lock", "paths,synchronisation,io,locks");

	for (const char *line = whole.bytes; (line = strstr(line, "\n     ")); line++) {
		size_t length = strcspn(line + 1, "\n") + 1;
		struct text row = { 0 };

		text_put_bytes(&row, line, length);
		/* Figures of waits, locks and files: "  1.23 ms  name". */
		if (strstr(row.bytes, " of criticality") || strstr(row.bytes, "ended by"))
			CHECK(strstr(pages.bytes, row.bytes));
		text_fini(&row);
	}
	text_fini(&whole);
	text_fini(&pages);
}

TEST(a_page_without_rows_says_so)
{
	struct text text = render("nothing", "locks");

	CHECK(strstr(text.bytes, "No thread waited for a lock."));
	text_fini(&text);
	text = render("nothing", "klocks");
	CHECK(strstr(text.bytes, "No thread waited for a kernel lock."));
	text_fini(&text);
}
