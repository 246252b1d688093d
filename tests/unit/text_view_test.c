/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report_fixture.h"
#include "stacks/fold.h"
#include "test.h"
#include "view/page.h"
#include "view/view.h"

static const struct view_style verbose = { .width = 500, .is_verbose = true };

static struct text render(const char *fixture_name, struct view_style style)
{
	struct report_fixture *fixture = report_fixture_new(fixture_name);
	struct fold_rules *rules = fold_rules_new();
	struct text text = { 0 };

	style.fold = rules;
	text_view.show(report_fixture_get(fixture), &style, &text);
	fold_rules_free(rules);
	report_fixture_free(fixture);
	return text;
}

static bool renders_as(const char *fixture_name, struct view_style style, const char *file)
{
	struct text text = render(fixture_name, style);
	bool is_same = golden_view_matches(file, text.bytes);

	text_fini(&text);
	return is_same;
}

static bool contains(const char *fixture_name, struct view_style style, const char *string)
{
	struct text text = render(fixture_name, style);
	bool is_there = strstr(text.bytes, string);

	text_fini(&text);
	return is_there;
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		struct text line = { 0 };

		text_put_bytes(&line, text, length);
		if (text_columns(line.bytes) > widest)
			widest = text_columns(line.bytes);
		text_fini(&line);
		text += length + (text[length] == '\n');
	}
	return widest;
}

TEST(every_fixture_is_shown_as_in_its_golden_file)
{
	for (const char *const *name = report_fixture_names; *name; name++) {
		char file[64];

		snprintf(file, sizeof(file), "%s.txt", *name);
		CHECK(renders_as(*name, (struct view_style){ .has_unicode = true }, file));
	}
}

TEST(widths_ascii_colour_and_verbosity_are_shown_as_in_their_golden_files)
{
	CHECK(renders_as("lock", (struct view_style){ .width = 60, .has_unicode = true }, "lock-60.txt"));
	CHECK(renders_as("lock", (struct view_style){ .width = 200, .has_unicode = true }, "lock-200.txt"));
	CHECK(renders_as("lock", (struct view_style){ 0 }, "lock-ascii.txt"));
	CHECK(renders_as("hostile", (struct view_style){ .width = 60 }, "hostile-60-ascii.txt"));
	CHECK(renders_as("lock", (struct view_style){ .has_unicode = true, .has_color = true }, "lock-colour.txt"));
	CHECK(renders_as("lock", (struct view_style){ .has_unicode = true, .is_verbose = true }, "lock-verbose.txt"));
}

TEST(no_line_is_wider_than_the_page)
{
	static const uint32_t widths[] = { 60, 61, 68, 79, 80, 95, 96, 100, 139, 140, 200, 500 };

	for (const char *const *name = report_fixture_names; *name; name++) {
		for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
			for (int mode = 0; mode < 4; mode++) {
				struct text text = render(*name, (struct view_style){ .width = widths[i],
										      .has_unicode = mode & 1,
										      .is_verbose = mode & 2 });
				size_t widest = widest_line(text.bytes);

				if (widest > widths[i])
					fprintf(stderr, "%s at %u: %zu columns\n", *name, widths[i], widest);
				CHECK_THAT(widest, <=, widths[i]);
				text_fini(&text);
			}
		}
	}
}

TEST(a_width_below_the_minimum_is_the_minimum)
{
	struct text text = render("lock", (struct view_style){ .width = 3 });

	CHECK_THAT(widest_line(text.bytes), <=, VIEW_WIDTH_MIN);
	text_fini(&text);
}

TEST(ascii_output_has_only_printable_ascii)
{
	for (const char *const *name = report_fixture_names; *name; name++) {
		struct text text = render(*name, (struct view_style){ 0 });
		size_t bad_count = 0;

		for (size_t i = 0; i < text.length; i++) {
			unsigned char c = text.bytes[i];

			bad_count += c != '\n' && (c < ' ' || c > '~');
		}
		CHECK(!bad_count);
		text_fini(&text);
	}
}

TEST(what_a_program_chose_cannot_drive_the_terminal)
{
	struct text text = render("hostile", (struct view_style){ .has_unicode = true });

	CHECK(!strpbrk(text.bytes, "\033\007\r\t\x7f"));
	CHECK(strstr(text.bytes, "\\x1b[2J"));
	text_fini(&text);
}

TEST(colour_changes_no_visible_character)
{
	struct text plain = render("lock", (struct view_style){ .has_unicode = true });
	struct text color = render("lock", (struct view_style){ .has_unicode = true, .has_color = true });
	size_t to = 0;

	for (size_t from = 0; from < color.length; from++) {
		if (color.bytes[from] == '\033') {
			from += strcspn(color.bytes + from, "m");
			continue;
		}
		color.bytes[to++] = color.bytes[from];
	}
	color.bytes[to] = '\0';
	CHECK_STRING(plain.bytes, color.bytes);
	text_fini(&plain);
	text_fini(&color);
}

static size_t count_lines(const struct text *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->length; i++)
		count += text->bytes[i] == '\n';
	return count;
}

TEST(the_default_report_has_at_most_forty_lines)
{
	static const uint32_t widths[] = { 80, 100, 140, 200 };

	for (const char *const *name = report_fixture_names; *name; name++) {
		for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
			struct text text = render(*name, (struct view_style){ .width = widths[i] });

			CHECK_THAT(count_lines(&text), <=, 40);
			text_fini(&text);
		}
	}
}

static bool begins_with_verdict(const char *fixture_name, struct view_style style)
{
	struct report_fixture *fixture = report_fixture_new(fixture_name);
	const struct report_verdict *verdict = &report_fixture_get(fixture)->verdict;
	struct text text = render(fixture_name, style);
	const char *at = text.bytes;
	bool is_there = verdict->line_count == 3;

	for (size_t i = 0; i < verdict->line_count; i++) {
		struct text line = { 0 };

		text_put_escaped(&line, verdict->lines[i]);
		at = at ? strstr(at, line.bytes) : NULL;
		is_there &= at != NULL;
		text_fini(&line);
	}
	text_fini(&text);
	report_fixture_free(fixture);
	return is_there;
}

/* Before anything else but what was traced, on lines wide enough for them. */
TEST(each_report_has_the_three_lines_of_the_verdict_with_every_option)
{
	for (const char *const *name = report_fixture_names; *name; name++) {
		CHECK(begins_with_verdict(*name, (struct view_style){ .width = 500 }));
		CHECK(begins_with_verdict(*name, verbose));
		CHECK(begins_with_verdict(*name, (struct view_style){ .width = 500, .pages = 1 }));
		CHECK(begins_with_verdict(*name, (struct view_style){ .width = 500, .pages = 1 << 7 }));
	}
}

TEST(the_default_report_never_says_unknown)
{
	for (const char *const *name = report_fixture_names; *name; name++)
		CHECK(!contains(*name, (struct view_style){ .has_unicode = true }, "unknown"));
}

TEST(the_details_name_the_users_function_below_library_frames)
{
	CHECK(contains("lock", verbose,
		       "The path through big_work(int) (programs/multi_mutex.cpp:23) accounts "
		       "for 71 % of the wall time"));
	CHECK(contains("mpi", verbose, "The path through Gs::Gather("));
}

TEST(the_details_name_the_code_before_it_says_how_parallel_it_was)
{
	CHECK(contains("lock", verbose, "mostly at line 27. On average 1.7 of up to 19"));
	CHECK(contains("losses", verbose, "has 71 %, mostly at line 27. On average"));
}

TEST(the_details_name_the_stage_that_carries_a_pipeline)
{
	CHECK(contains("pipeline", verbose, "Of 64 threads, the 15 named \"rank\" carry 72 % of the load."));
}

TEST(the_details_name_what_many_paths_have_in_common_first)
{
	CHECK(contains(
		"losses", verbose,
		"1,214 call paths through code of multi_mutex without symbols account for 90 % of the wall time"));
	CHECK(contains("losses", verbose, "The largest one, through big_work(int)"));
}

TEST(an_mpi_job_with_one_heavy_rank_is_called_uneven)
{
	CHECK(contains("mpi", (struct view_style){ .is_verbose = true }, "largest is 2.7x the mean"));
	CHECK(contains("mpi", verbose, "The load is uneven"));
}

TEST(estimates_are_marked)
{
	CHECK(contains("governor", verbose, "~2.99 s"));
	CHECK(contains("governor", verbose, "about 71 %"));
	CHECK(!contains("lock", verbose, "~"));
}

TEST(nothing_lost_is_said_and_so_is_each_loss)
{
	CHECK(contains("lock", (struct view_style){ .is_verbose = true }, "Lost       nothing\n"));
	CHECK(!contains("lock", (struct view_style){ 0 }, "Lost"));
	CHECK(!contains("losses", (struct view_style){ 0 }, "nothing\n"));
	CHECK(contains("losses", (struct view_style){ 0 }, "12,345 events lost"));
	CHECK(contains("losses", (struct view_style){ 0 }, "1,200 threads beyond the limit"));
}

TEST(an_n_min_of_the_user_marks_the_critical_rows)
{
	CHECK(contains("attach", (struct view_style){ .is_verbose = true }, "  critical\n"));
	CHECK(!contains("lock", (struct view_style){ .is_verbose = true }, "  critical\n"));
}

static bool is_shortened_to(const char *name, uint32_t columns, const char *expected)
{
	struct view_style style = { .has_unicode = true };
	struct text out = { 0 }, text = { 0 };
	struct page page;
	bool is_so;

	page_init(&page, &style, &out);
	page_text_function(&page, &text, name, columns);
	is_so = !strcmp(text.bytes, expected);
	page_fini(&page);
	text_fini(&text);
	text_fini(&out);
	return is_so;
}

/* Neither half of a wide character stays behind. */
TEST(names_of_wide_characters_are_cut_to_their_columns)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	CHECK(is_shortened_to("日本語日本語", 12, "日本語日本語"));
	CHECK(is_shortened_to("日本語日本語", 8, "日本語…"));
	CHECK(is_shortened_to("x::日本語日本語", 8, "…日本語"));
	CHECK(is_shortened_to("x::日本語日本語", 9, "…語日本語"));
	setlocale(LC_CTYPE, "C");
}

TEST(names_of_go_lose_the_path_of_their_package_first)
{
	const char *name = "github.com/acme/store/v2/disk.(*Index).Put";

	CHECK(is_shortened_to(name, 80, name));
	CHECK(is_shortened_to(name, 30, "disk.(*Index).Put"));
	CHECK(is_shortened_to("example.org/x/list.Map[go.shape.int]", 30, "list.Map[go.shape.int]"));
	CHECK(is_shortened_to("v1.::Part::operator/(Part const&, Part const&)", 30, "v1.::Part::operator/(…)"));
}
