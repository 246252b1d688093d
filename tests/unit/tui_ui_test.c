/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole screens of the terminal UI, without a terminal. */
#include "test.h"

#include <locale.h>
#include <stdbool.h>
#include <string.h>

#include "report/report.h"
#include "graph_fixture.h"
#include "report_fixture.h"
#include "stacks/fold.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/line.h"
#include "tui/terminal/output_lines.h"
#include "tui/ui.h"

struct stage {
	struct report_fixture *fixture;
	struct graph_fixture *graphs; /* NULL: it is not a trace */
	struct fold_rules *fold;
	struct output_lines *output;
	struct ui *ui;
	uint32_t lines;
};

static struct stage begin_with(const char *name, bool has_unicode, struct graph_fixture *graphs)
{
	struct graphs_source source;
	struct stage stage = {
		.fixture = report_fixture_new(name),
		.fold = fold_rules_new(),
		.output = output_lines_new(),
		.lines = 24,
		.graphs = graphs,
	};

	if (graphs)
		source = graph_fixture_source(graphs);
	stage.ui = ui_new(&(struct model_options){
		.fold = stage.fold,
		.output = stage.output,
		.has_unicode = has_unicode,
		.has_color = true,
		.graphs = graphs ? &source : NULL,
	});
	ui_set_status(stage.ui, &(struct ui_status){
					.command = report_fixture_get(stage.fixture)->target.command,
					.time_ns = 4210000000,
					.threads = 19,
					.active = 2,
					.exit_status = -1,
				});
	ui_set_report(stage.ui, report_fixture_get(stage.fixture));
	return stage;
}

static struct stage begin(const char *name, bool has_unicode)
{
	return begin_with(name, has_unicode, NULL);
}

/* With the graphs of a trace that is small. */
static struct stage begin_trace(bool has_unicode)
{
	struct graph_fixture *graphs = graph_fixture_new();

	graph_fixture_add_lock(graphs);
	return begin_with("lock", has_unicode, graphs);
}

static void end(struct stage *stage)
{
	ui_free(stage->ui);
	if (stage->graphs)
		graph_fixture_free(stage->graphs);
	output_lines_free(stage->output);
	fold_rules_free(stage->fold);
	report_fixture_free(stage->fixture);
}

static void size(struct stage *stage, uint32_t columns, uint32_t lines)
{
	stage->lines = lines;
	ui_set_size(stage->ui, columns, lines);
}

static void press(struct stage *stage, const char *keys)
{
	for (; *keys; keys++)
		ui_press(stage->ui, (unsigned char)*keys);
}

static void output(struct stage *stage, const char *bytes)
{
	output_lines_add(stage->output, bytes, strlen(bytes));
	ui_note_output(stage->ui);
}

/* The screen as plain text, each line with its end and no spaces before it. */
static struct text shown(struct stage *stage)
{
	const struct ui_line *lines = ui_compose(stage->ui);
	struct text text = { 0 };

	text_put(&text, "");
	for (uint32_t i = 0; i < stage->lines; i++) {
		line_put_plain(&text, lines[i].text.bytes);
		while (text.length && text.bytes[text.length - 1] == ' ')
			text.bytes[--text.length] = '\0';
		text_put(&text, "\n");
	}
	return text;
}

static bool shows(struct stage *stage, const char *part)
{
	struct text text = shown(stage);
	bool is_there = strstr(text.bytes, part);

	text_fini(&text);
	return is_there;
}

static bool line_shows(struct stage *stage, uint32_t line, const char *part)
{
	struct text plain = { 0 };
	bool is_there;

	line_put_plain(&plain, ui_compose(stage->ui)[line].text.bytes);
	is_there = strstr(plain.bytes, part);
	text_fini(&plain);
	return is_there;
}

TEST(each_page_is_shown_as_in_its_golden_file)
{
	static const char *const names[] = {
		"summary", "paths", "synchronisation", "io", "locks", "klocks", "threads", "balance", "output",
	};
	struct stage stage = begin("klock", true);

	output(&stage, "first line\nsecond\ta tab\n\033[31mred\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char keys[] = { "12345678o"[i], '\0' }, file[64];
		struct text text;

		press(&stage, keys);
		text = shown(&stage);
		snprintf(file, sizeof(file), "tui-%s.txt", names[i]);
		CHECK(golden_view_matches(file, text.bytes));
		text_fini(&text);
	}
	end(&stage);
}

TEST(unfolded_rows_help_and_ascii_are_shown_as_in_their_golden_files)
{
	struct stage stage = begin("lock", false);
	struct text text;

	size(&stage, 100, 70);
	press(&stage, "3E");
	text = shown(&stage);
	CHECK(golden_view_matches("tui-unfolded-ascii.txt", text.bytes));
	text_fini(&text);
	size(&stage, 80, 30);
	press(&stage, "?");
	text = shown(&stage);
	CHECK(golden_view_matches("tui-help.txt", text.bytes));
	text_fini(&text);
	end(&stage);
}

TEST(locks_of_the_kernel_are_shown_as_in_their_golden_files)
{
	static const struct {
		const char *fixture, *keys, *file;
		uint32_t columns, lines;
	} screens[] = {
		{ "klock", "6s", "tui-klocks-sorted.txt", 100, 24 },
		{ "klock", "6E", "tui-klocks-unfolded.txt", 80, 70 },
		{ "held", "6", "tui-klocks-held.txt", 140, 24 },
		{ "held", "6ssssssj+g+", "tui-klocks-held-sorted.txt", 80, 24 },
	};

	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
		struct stage stage = begin(screens[i].fixture, true);
		struct text text;

		size(&stage, screens[i].columns, screens[i].lines);
		press(&stage, screens[i].keys);
		text = shown(&stage);
		CHECK(golden_view_matches(screens[i].file, text.bytes));
		text_fini(&text);
		end(&stage);
	}
}

TEST(without_a_wait_for_a_lock_of_the_kernel_its_page_says_so)
{
	struct stage stage = begin("lock", true);

	press(&stage, "6");
	CHECK(shows(&stage, "[6 KLOCKS]") && line_shows(&stage, 3, "no thread waited for a kernel lock"));
	press(&stage, "5");
	CHECK(!shows(&stage, "kernel lock"));
	end(&stage);
}

/* Draws, makes what is wanted, and draws again, as the terminal's side does. */
static struct text shown_made(struct stage *stage)
{
	ui_compose(stage->ui);
	if (ui_wants_graph(stage->ui))
		ui_make_graph(stage->ui);
	CHECK(!ui_wants_graph(stage->ui));
	return shown(stage);
}

TEST(the_pages_of_graphs_are_shown_as_in_their_golden_files)
{
	static const struct {
		const char *keys, *file;
		uint32_t columns;
	} screens[] = {
		{ "9m", "tui-graph.txt", 80 },       { "E", "tui-graph-unfolded.txt", 80 },
		{ "s", "tui-graph-count.txt", 120 }, { "m", "tui-graph-merged.txt", 80 },
		{ "m0", "tui-critical.txt", 80 },    { "E", "tui-critical-unfolded.txt", 80 },
	};
	struct stage stage = begin_trace(true);

	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
		struct text text;

		size(&stage, screens[i].columns, 24);
		press(&stage, screens[i].keys);
		text = shown_made(&stage);
		CHECK(golden_view_matches(screens[i].file, text.bytes));
		text_fini(&text);
	}
	end(&stage);
}

static void check_harmless(struct stage *stage, bool has_unicode, uint32_t columns)
{
	const struct ui_line *lines = ui_compose(stage->ui);

	for (uint32_t i = 0; i < stage->lines; i++) {
		struct text plain = { 0 };

		line_put_plain(&plain, lines[i].text.bytes);
		for (size_t k = 0; k < plain.length; k++) {
			unsigned char c = plain.bytes[k];

			CHECK_THAT(c, >=, ' ');
			CHECK_THAT(c, !=, 0x7f);
			CHECK(has_unicode || c < 0x7f);
		}
		CHECK_THAT(line_columns(lines[i].text.bytes), <=, columns);
		text_fini(&plain);
	}
}

TEST(no_report_however_hostile_drives_the_terminal_or_leaves_its_line)
{
	static const uint32_t sizes[][2] = { { 80, 24 },  { 81, 25 },  { 132, 43 },
					     { 200, 50 }, { 500, 24 }, { 1000, 100 } };

	for (const char *const *name = report_fixture_names; *name; name++) {
		for (int has_unicode = 0; has_unicode < 2; has_unicode++) {
			struct stage stage = begin(*name, has_unicode);

			output(&stage, "\033]0;owned\007\r\n\xff\xfe\x80 \xe2\x80\xae\n");
			for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
				for (char page = '1'; page <= '9'; page++) {
					char keys[] = { page, 'E', '\0' };

					size(&stage, sizes[i][0], sizes[i][1]);
					press(&stage, keys);
					check_harmless(&stage, has_unicode, sizes[i][0]);
					press(&stage, " G");
					check_harmless(&stage, has_unicode, sizes[i][0]);
				}
			}
			end(&stage);
		}
	}
}

TEST(no_graph_however_hostile_drives_the_terminal_or_leaves_its_line)
{
	for (int has_unicode = 0; has_unicode < 2; has_unicode++) {
		for (uint32_t columns = 80; columns < 500; columns += 37) {
			struct stage stage = begin_trace(has_unicode);

			size(&stage, columns, 30);
			for (const char *key = "9EGm0EG"; *key; key++) {
				struct text text;

				ui_press(stage.ui, (unsigned char)*key);
				text = shown_made(&stage);
				check_harmless(&stage, has_unicode, columns);
				text_fini(&text);
			}
			end(&stage);
		}
	}
}

TEST(below_80x24_what_has_no_space_is_cut_and_it_is_whole_when_there_is_space_again)
{
	struct stage stage = begin("lock", true);

	for (uint32_t columns = 0; columns < 80; columns++) {
		for (const char *key = "12345678o?"; *key; key++) {
			ui_press(stage.ui, (unsigned char)*key);
			size(&stage, columns, columns % 24);
			check_harmless(&stage, true, columns);
		}
		press(&stage, "?3");
	}
	press(&stage, "j");
	size(&stage, 60, 20);
	CHECK(shows(&stage, "[3 SYNC]") && line_shows(&stage, 4, ">") && line_shows(&stage, 4, "join"));
	size(&stage, 30, 6);
	CHECK(shows(&stage, "[3 SYNC]") && shows(&stage, ">"));
	press(&stage, "8");
	CHECK(shows(&stage, "[8 BALANCE]") && !shows(&stage, "1 SUMMARY"));
	press(&stage, "3");
	size(&stage, 19, 20);
	CHECK(line_shows(&stage, 0, "pinch needs 20x5, t") && !shows(&stage, "SYNC"));
	size(&stage, 0, 0);
	ui_compose(stage.ui);
	size(&stage, 80, 24);
	CHECK(shows(&stage, "[3 SYNC]") && line_shows(&stage, 4, ">"));
	end(&stage);
}

TEST(wide_characters_do_not_push_a_line_over_its_end)
{
	static const char name[] = "スレッドの名前がとても長いので切られます";
	struct report_thread threads[2] = {
		{ .tid = 1, .name = name, .thread_count = 1, .cmetric_ns = 5, .running_ns = 5 },
		{ .tid = 2, .name = "short", .thread_count = 1, .cmetric_ns = 4, .running_ns = 4 },
	};
	struct report_group group = {
		.name = name,
		.thread_count = 2,
		.threads = threads,
		.row_count = 2,
		.imbalance = 1,
	};
	struct report report = { .groups = &group, .group_count = 1 };
	struct stage stage = begin("lock", true);

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	ui_set_report(stage.ui, &report);
	press(&stage, "7+");
	check_harmless(&stage, true, 80);
	CHECK(line_shows(&stage, 4, "スレッド") && line_shows(&stage, 5, "short"));
	/* What follows the name stands where it stands below a short one. */
	CHECK_EQUAL(line_columns(ui_compose(stage.ui)[4].text.bytes), line_columns(ui_compose(stage.ui)[5].text.bytes));
	setlocale(LC_CTYPE, "C");
	end(&stage);
}

TEST(keys_change_pages_both_ways_round)
{
	struct stage stage = begin("lock", true);

	ui_press(stage.ui, KEY_CODE_LEFT);
	CHECK(shows(&stage, "[o OUTPUT]"));
	ui_press(stage.ui, KEY_CODE_RIGHT);
	ui_press(stage.ui, KEY_CODE_TAB);
	CHECK(shows(&stage, "[2 PATHS]"));
	ui_press(stage.ui, KEY_CODE_BACK_TAB);
	CHECK(shows(&stage, "[1 SUMMARY]"));
	press(&stage, "0");
	CHECK(shows(&stage, "[1 SUMMARY]"));
	press(&stage, "8");
	CHECK(shows(&stage, "[8 BALANCE]"));
	press(&stage, "9");
	CHECK(shows(&stage, "[8 BALANCE]"));
	press(&stage, "o");
	CHECK(shows(&stage, "[o OUTPUT]"));
	end(&stage);
}

TEST(a_click_leads_to_a_page_and_a_row_and_a_second_one_unfolds_it)
{
	struct stage stage = begin("lock", true);

	ui_click(stage.ui, 0, 1);
	CHECK(shows(&stage, "[1 SUMMARY]"));
	ui_click(stage.ui, 20, 1);
	CHECK(shows(&stage, "[3 SYNC]"));
	ui_click(stage.ui, 200, 1);
	CHECK(shows(&stage, "[3 SYNC]"));
	ui_click(stage.ui, 5, 4);
	CHECK(line_shows(&stage, 4, ">") && line_shows(&stage, 4, "▸"));
	ui_click(stage.ui, 5, 4);
	CHECK(line_shows(&stage, 4, ">") && line_shows(&stage, 4, "▾"));
	ui_click(stage.ui, 5, 4);
	CHECK(line_shows(&stage, 4, "▸"));
	ui_click(stage.ui, 5, 22);
	ui_click(stage.ui, 5, 23);
	ui_click(stage.ui, 5, 0);
	CHECK(line_shows(&stage, 4, ">"));
	ui_press(stage.ui, KEY_CODE_WHEEL_UP);
	CHECK(line_shows(&stage, 3, ">"));
	ui_press(stage.ui, KEY_CODE_WHEEL_DOWN);
	CHECK(!line_shows(&stage, 3, ">"));
	press(&stage, "f");
	ui_click(stage.ui, 0, 1);
	CHECK(shows(&stage, "[3 SYNC]"));
	end(&stage);
}

TEST(of_a_trace_there_are_graphs_and_no_output_and_else_the_other_way_round)
{
	struct stage stage = begin_trace(true);

	CHECK(shows(&stage, "9 GRAPH 0 CP") && !shows(&stage, "OUTPUT"));
	ui_press(stage.ui, KEY_CODE_LEFT);
	CHECK(shows(&stage, "[0 CP]"));
	ui_press(stage.ui, KEY_CODE_RIGHT);
	CHECK(shows(&stage, "[1 SUMMARY]"));
	press(&stage, "8\t");
	CHECK(shows(&stage, "[9 GRAPH]") && shows(&stage, "3 SYNC 4"));
	size(&stage, 100, 24);
	CHECK(shows(&stage, "3 SYNCHRONISATION"));
	end(&stage);
	stage = begin("lock", true);
	CHECK(!shows(&stage, "GRAPH") && !shows(&stage, "0 C"));
	press(&stage, "w");
	CHECK(line_shows(&stage, 23, "GRAPH needs a trace"));
	press(&stage, "m");
	CHECK(line_shows(&stage, 23, "for pages GRAPH and CRITICAL") && !ui_wants_graph(stage.ui));
	end(&stage);
}

TEST(on_80_columns_all_pages_of_a_trace_have_their_tabs)
{
	static const char tabs[] = "1 SUMMARY 2 PATHS 3 SYNC 4 IO 5 LOCKS 6 KLOCKS 7 THREADS 8 BALANCE 9 GRAPH 0 CP ";
	struct stage stage = begin_trace(true);

	for (const char *key = "1234567890"; *key; key++) {
		struct text line = { 0 };

		ui_press(stage.ui, (unsigned char)*key);
		line_put_plain(&line, ui_compose(stage.ui)[1].text.bytes);
		CHECK_EQUAL(strchr(line.bytes, '[')[1], *key);
		/* But for the brackets, the first of which has no space to take the place of. */
		for (size_t i = 0; i < line.length; i++)
			if (line.bytes[i] == '[' || line.bytes[i] == ']')
				line.bytes[i] = ' ';
		CHECK(!strncmp(line.bytes + (*line.bytes == ' '), tabs, strlen(tabs) - 1));
		text_fini(&line);
	}
	end(&stage);
}

TEST(a_graph_is_made_when_its_page_is_shown_and_once)
{
	struct stage stage = begin_trace(true);
	struct text text;

	press(&stage, "7");
	CHECK(!ui_wants_graph(stage.ui));
	press(&stage, "9");
	CHECK(shows(&stage, "making it…") && ui_wants_graph(stage.ui) && !graph_fixture_trees(stage.graphs));
	text = shown_made(&stage);
	text_fini(&text);
	press(&stage, "jjs+-19E");
	CHECK(!ui_wants_graph(stage.ui));
	CHECK_EQUAL(graph_fixture_trees(stage.graphs), 1);
	press(&stage, "0");
	CHECK(ui_wants_graph(stage.ui) && !graph_fixture_paths(stage.graphs));
	text = shown_made(&stage);
	text_fini(&text);
	press(&stage, "9090");
	CHECK(!ui_wants_graph(stage.ui));
	CHECK_EQUAL(graph_fixture_paths(stage.graphs), 1);
	end(&stage);
}

TEST(a_graph_that_cannot_be_made_is_tried_once_and_said_to_be_none)
{
	struct stage stage = begin_trace(true);
	struct text text;

	graph_fixture_fail(stage.graphs);
	for (const char *key = "9909"; *key; key++) {
		ui_press(stage.ui, (unsigned char)*key);
		text = shown_made(&stage);
		CHECK(strstr(text.bytes, "the graph could not be made"));
		text_fini(&text);
	}
	CHECK_EQUAL(graph_fixture_trees(stage.graphs), 1);
	CHECK_EQUAL(graph_fixture_paths(stage.graphs), 1);
	end(&stage);
}

TEST(a_thread_leads_to_its_graph_and_back)
{
	struct report_thread threads[] = {
		{ .tid = 102, .number = 2, .name = "worker-1", .thread_count = 1, .key = 2 },
		{ .name = "ended", .thread_count = 5, .key = 9 },
	};
	struct report_group group = {
		.name = "workers",
		.thread_count = 6,
		.threads = threads,
		.row_count = 2,
		.imbalance = 1,
	};
	struct report report = { .groups = &group, .group_count = 1 };
	struct stage stage = begin_trace(true);
	struct text text;

	ui_set_report(stage.ui, &report);
	press(&stage, "9m7+w");
	CHECK(line_shows(&stage, 23, "select the row of a thread first") && shows(&stage, "[7 THREADS]"));
	press(&stage, "jjw");
	CHECK(line_shows(&stage, 23, "select the row of a thread first"));
	press(&stage, "kw");
	text = shown_made(&stage);
	CHECK(strstr(text.bytes, "[9 GRAPH]") && strstr(text.bytes, "worker-1 (tid 102)"));
	CHECK(!strstr(text.bytes, "all threads"));
	text_fini(&text);
	press(&stage, "0");
	text = shown_made(&stage);
	CHECK(strstr(text.bytes, "what worker-1 (tid 102) was blocked on"));
	text_fini(&text);
	press(&stage, "w");
	CHECK(shows(&stage, "[7 THREADS]") && line_shows(&stage, 4, ">"));
	press(&stage, "9");
	text = shown_made(&stage);
	CHECK(strstr(text.bytes, "all threads"));
	text_fini(&text);
	end(&stage);
}

TEST(search_says_what_it_did_not_find_and_a_key_takes_that_away)
{
	struct stage stage = begin("lock", true);

	press(&stage, "n");
	CHECK(line_shows(&stage, 23, "nothing to repeat"));
	press(&stage, "2/cpp:79");
	CHECK(line_shows(&stage, 23, "/cpp:79_"));
	press(&stage, "\n");
	CHECK(line_shows(&stage, 5, ">") && !ui_is_searching(stage.ui));
	press(&stage, "/zzz\n");
	CHECK(line_shows(&stage, 23, "not found: zzz"));
	press(&stage, "g");
	CHECK(!line_shows(&stage, 23, "not found"));
	/* Escape leaves it as it was; so does a backspace too many. */
	press(&stage, "/abc\033");
	CHECK(line_shows(&stage, 23, "1/5"));
	press(&stage, "/a\x7f\x7f");
	CHECK(line_shows(&stage, 23, "1/5"));
	end(&stage);
}

TEST(the_filter_stands_in_the_last_line_until_it_is_emptied)
{
	struct stage stage = begin("lock", true);

	press(&stage, "2fjoin\n");
	CHECK(line_shows(&stage, 23, "filter: join") && line_shows(&stage, 23, "1/1"));
	press(&stage, "1");
	CHECK(line_shows(&stage, 23, "(no filter here): join"));
	press(&stage, "2f");
	CHECK(line_shows(&stage, 23, "filter (thread name or cause): join_"));
	press(&stage, "\x15nonsense\n");
	CHECK(shows(&stage, "no row matches the filter"));
	press(&stage, "f\x15\n");
	CHECK(line_shows(&stage, 23, "1/5") && !line_shows(&stage, 23, "filter"));
	end(&stage);
}

TEST(what_is_typed_may_be_any_character)
{
	struct stage stage = begin("lock", true);

	press(&stage, "2f");
	ui_press(stage.ui, 0xe4);
	ui_press(stage.ui, 0x4e2d);
	ui_press(stage.ui, 0x1f600);
	ui_press(stage.ui, KEY_CODE_UP);
	ui_press(stage.ui, 1);
	CHECK(line_shows(&stage, 23, "ä中😀_"));
	ui_press(stage.ui, KEY_CODE_BACKSPACE);
	ui_press(stage.ui, KEY_CODE_BACKSPACE);
	CHECK(line_shows(&stage, 23, ": ä_"));
	for (int i = 0; i < 500; i++)
		press(&stage, "x");
	press(&stage, "\n");
	check_harmless(&stage, true, 80);
	end(&stage);
}

TEST(the_order_is_said_and_cycles)
{
	struct stage stage = begin("lock", true);

	press(&stage, "3");
	CHECK(line_shows(&stage, 23, "sorted by time lost") && line_shows(&stage, 2, "share"));
	press(&stage, "ss");
	CHECK(line_shows(&stage, 23, "sorted by waits") && line_shows(&stage, 2, "share"));
	press(&stage, "s");
	CHECK(line_shows(&stage, 23, "sorted by longest") && line_shows(&stage, 2, "longest"));
	press(&stage, "ss");
	CHECK(line_shows(&stage, 23, "sorted by time lost"));
	press(&stage, "1s");
	CHECK(line_shows(&stage, 23, "cannot be sorted"));
	press(&stage, "S");
	CHECK(line_shows(&stage, 23, "cannot be sorted"));
	end(&stage);
}

TEST(a_reversed_order_begins_with_what_was_last_and_is_said)
{
	struct stage stage = begin("lock", true);
	struct text first = { 0 }, last = { 0 };

	press(&stage, "3G");
	line_put_plain(&last, ui_compose(stage.ui)[3 + model_cursor(ui_model(stage.ui))].text.bytes);
	press(&stage, "gS");
	CHECK(line_shows(&stage, 23, "sorted by time lost, reversed"));
	press(&stage, "g");
	line_put_plain(&first, ui_compose(stage.ui)[3].text.bytes);
	CHECK(model_count(ui_model(stage.ui)) > 1);
	CHECK_STRING(first.bytes, last.bytes);
	press(&stage, "S");
	CHECK(!line_shows(&stage, 23, "reversed"));
	text_fini(&first);
	text_fini(&last);
	end(&stage);
}

static enum page_color color_of_words(struct stage *stage, const char *words)
{
	const struct ui_line *lines = ui_compose(stage->ui);
	const char *bytes;
	size_t length;

	for (uint32_t i = 0; i < stage->lines; i++)
		for (struct line_walk walk = { lines[i].text.bytes, PAGE_PLAIN }; line_next(&walk, &bytes, &length);)
			if (length >= strlen(words) && !strncmp(bytes, words, strlen(words)) &&
			    walk.color != PAGE_PLAIN)
				return walk.color;
	return PAGE_PLAIN;
}

TEST(a_cause_has_its_colour)
{
	struct report_wait waits[] = {
		{ .cause = CAUSE_LOCK, .group = GROUP_SYNCHRONISATION, .wait_ns = 9, .waits = 1, .key = 1 },
		{ .cause = CAUSE_CONDITION, .group = GROUP_SYNCHRONISATION, .wait_ns = 8, .waits = 1, .key = 2 },
		{ .cause = CAUSE_FILE, .group = GROUP_IO, .wait_ns = 7, .waits = 1, .key = 3 },
		{ .cause = CAUSE_SOCKET, .group = GROUP_IO, .wait_ns = 6, .waits = 1, .key = 4 },
	};
	struct report report = { .waits = waits, .wait_count = 4 };
	struct stage stage = begin("lock", true);

	ui_set_report(stage.ui, &report);
	press(&stage, "3");
	CHECK_EQUAL(color_of_words(&stage, "lock"), PAGE_RED);
	CHECK_EQUAL(color_of_words(&stage, "condition"), PAGE_MAGENTA);
	press(&stage, "4E");
	CHECK_EQUAL(color_of_words(&stage, "file"), PAGE_BLUE);
	CHECK_EQUAL(color_of_words(&stage, "socket"), PAGE_CYAN);
	end(&stage);
}

TEST(the_graphs_are_of_the_thread_that_the_largest_finding_held_up)
{
	static const uint32_t waiters[] = { 1, 2 };
	struct report_thread threads[] = {
		{ .tid = 101, .number = 1, .name = "main", .thread_count = 1, .blocked_ns = 5 },
		{ .tid = 102, .number = 2, .name = "worker-1", .thread_count = 1, .blocked_ns = 7 },
		{ .tid = 103, .number = 3, .name = "worker-2", .thread_count = 1, .blocked_ns = 99 },
	};
	struct report_wait wait = { .cause = CAUSE_LOCK, .waiters = waiters, .threads = 2, .wait_ns = 12, .waits = 2 };
	struct report_finding findings[] = { { .title = "code" }, { .title = "lock", .wait_rank = 1 } };
	struct report report = { .threads = threads,
				 .thread_count = 3,
				 .waits = &wait,
				 .wait_count = 1,
				 .findings = findings,
				 .finding_count = 2 };
	struct stage stage = begin_trace(true);
	struct graphs_source source = graph_fixture_source(stage.graphs);
	struct text text;

	ui_free(stage.ui);
	stage.ui = ui_new(&(struct model_options){ .fold = stage.fold, .has_unicode = true, .graphs = &source });
	ui_set_report(stage.ui, &report);
	press(&stage, "9");
	text = shown_made(&stage);
	CHECK(!strstr(text.bytes, "all threads") && strstr(text.bytes, "names merged"));
	text_fini(&text);
	press(&stage, "w");
	text = shown_made(&stage);
	CHECK(strstr(text.bytes, "[9 GRAPH]") && strstr(text.bytes, "all threads"));
	text_fini(&text);
	end(&stage);
}

TEST(quitting_asks_once_while_a_command_runs_and_not_else)
{
	struct stage stage = begin("lock", true);

	press(&stage, "?q");
	CHECK(!ui_wants_quit(stage.ui) && shows(&stage, "[1 SUMMARY]"));
	ui_set_status(stage.ui, &(struct ui_status){ .is_command_running = true, .exit_status = -1 });
	press(&stage, "q");
	CHECK(!ui_wants_quit(stage.ui) && line_shows(&stage, 23, "Quit? (y/n)"));
	press(&stage, "n");
	CHECK(!ui_wants_quit(stage.ui) && !line_shows(&stage, 23, "Quit?"));
	press(&stage, "qq");
	CHECK(ui_wants_quit(stage.ui));
	end(&stage);
	stage = begin("lock", true);
	press(&stage, "q");
	CHECK(ui_wants_quit(stage.ui));
	end(&stage);
}

TEST(pausing_is_said_and_toggled)
{
	struct stage stage = begin("lock", true);

	press(&stage, "p");
	CHECK(ui_is_paused(stage.ui) && line_shows(&stage, 0, "PAUSED"));
	press(&stage, "p");
	CHECK(!ui_is_paused(stage.ui) && !line_shows(&stage, 0, "PAUSED"));
	end(&stage);
}

TEST(the_first_line_reports_how_it_ended)
{
	struct stage stage = begin("lock", true);

	ui_set_status(stage.ui, &(struct ui_status){
					.command = "./a b", .is_over = true, .time_ns = 2500000000, .exit_status = 3 });
	CHECK(line_shows(&stage, 0, "pinch: ./a b") && line_shows(&stage, 0, "ended, exit status 3, after 2.5 s"));
	ui_set_status(
		stage.ui,
		&(struct ui_status){ .command = "./a b", .is_over = true, .time_ns = 2500000000, .exit_status = -1 });
	CHECK(line_shows(&stage, 0, "traced for 2.5 s"));
	end(&stage);
}

TEST(output_is_followed_until_the_cursor_leaves_its_end)
{
	struct stage stage = begin("lock", true);
	char line[32];

	press(&stage, "o");
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		output(&stage, line);
	}
	CHECK(line_shows(&stage, 22, ">  line 99"));
	press(&stage, "kk");
	output(&stage, "more\n");
	CHECK(line_shows(&stage, 20, ">  line 97") && !shows(&stage, "more"));
	press(&stage, "G");
	output(&stage, "and more\n");
	CHECK(line_shows(&stage, 22, ">  and more"));
	/* The cursor stays with its line while the oldest ones go. */
	press(&stage, "g");
	for (int i = 0; i < 11000; i++)
		output(&stage, "flood\n");
	CHECK(shows(&stage, "earlier lines were dropped"));
	end(&stage);
}

TEST(every_key_of_the_help_does_something)
{
	static const char keys[] = "kjb gG\n+-E/nNsSfp?hq=Qmwo\x0c\t";

	for (const char *key = keys; *key; key++)
		CHECK_THAT(key_action((unsigned char)*key), !=, ACTION_NONE);
	CHECK_EQUAL(key_action('x'), ACTION_NONE);
	CHECK_EQUAL(key_action(KEY_CODE_OTHER), ACTION_NONE);
	CHECK_EQUAL(key_action('0'), ACTION_GO_TO_PAGE);
	CHECK_EQUAL(key_action('9'), ACTION_GO_TO_PAGE);
}

TEST(any_keys_in_any_order_do_no_harm)
{
	uint32_t random = 11;

	for (const char *const *name = report_fixture_names; *name; name++) {
		struct graph_fixture *graphs = graph_fixture_new();
		struct stage stage;

		graph_fixture_add_lock(graphs);
		stage = begin_with(*name, true, graphs);
		for (int i = 0; i < 3000; i++) {
			uint32_t key;

			random = random * 1103515245 + 12345;
			key = random >> 16;
			key = key % 3 ? key % 128 : KEY_CODE_FIRST + key % 15;
			if (i % 50 == 0)
				size(&stage, random >> 8 & 127, random >> 20 & 63);
			if (i % 70 == 0)
				ui_set_report(stage.ui, report_fixture_get(stage.fixture));
			ui_press(stage.ui, key);
			if (i % 5 == 0)
				ui_click(stage.ui, random >> 9 & 127, random >> 3 & 31);
			if (ui_is_searching(stage.ui))
				ui_search_on(stage.ui);
			ui_compose(stage.ui);
			if (random >> 12 & 1 && ui_wants_graph(stage.ui))
				ui_make_graph(stage.ui);
		}
		end(&stage);
	}
}
