/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "compare/comparison.h"
#include "compare/condition.h"

/* Of base/fail.h, whose fail() is a macro of cmocka here. */
void fail_set_sink(void (*sink)(const char *line));

static struct {
	char last[2048];
	unsigned int count;
} said;

static uint32_t random_state;

static uint32_t pick(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint64_t)random_state * below >> 32;
}

static void on_message(const char *line)
{
	snprintf(said.last, sizeof(said.last), "%s", line);
	said.count++;
}

static bool is_refused(const char *text, const char *about)
{
	struct condition condition;
	bool is_fine;

	said.count = 0;
	fail_set_sink(on_message);
	is_fine = condition_parse(text, &condition) == -EINVAL && said.count == 1 && strstr(said.last, about);
	fail_set_sink(NULL);
	if (!is_fine)
		print_message("'%s' says '%s'\n", text, said.last);
	return is_fine;
}

TEST(what_makes_no_sense_is_refused_with_what_does)
{
	CHECK(is_refused("", "lost.lock"));
	CHECK(is_refused("lost.lok > 10 %", "lost.lock"));
	CHECK(is_refused("lost.lok > 10 %", "no figure is called 'lost.lok'"));
	CHECK(is_refused("lost.lock", "compares with >"));
	CHECK(is_refused("lost.lock = 5 ms", "compares with >"));
	CHECK(is_refused("lost.lock > much", "a number"));
	CHECK(is_refused("lost.lock > nan %", "a number"));
	CHECK(is_refused("lost.lock > 1.2.3 %", "a number"));
	CHECK(is_refused("lost.lock > - %", "a number"));
	CHECK(is_refused("lost.lock > 10", "the unit"));
	CHECK(is_refused("lost.lock > 10 min", "the unit"));
	CHECK(is_refused("lost.lock > 10 % %", "the unit"));
	CHECK(is_refused("wait.lock.count > 10 ms", "no unit"));
	CHECK(is_refused("edge fsync > 10 ms", "quotation marks"));
	CHECK(is_refused("edge \"fsync > 10 ms", "quotation marks"));
	CHECK(is_refused("edge \"\" > 10 ms", "quotation marks"));
}

TEST(random_conditions_are_read_as_they_were_written)
{
	static const char *const operators[] = { ">", "<", ">=", "<=" };
	static const struct {
		const char *name;
		double factor;
	} units[] = { { "%", 0.01 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "", 1 } };

	random_state = 1;
	for (int round = 0; round < 2000; round++) {
		unsigned int figure = pick(FIGURES + 1), operator= pick(4);
		bool is_time = figure == FIGURES || figure_is_time(figure);
		unsigned int unit = is_time ? pick(5) : 5 * pick(2);
		double number = (double)pick(20000) / 10 - 1000;
		const char *blank = pick(2) ? " " : "";
		struct condition condition;
		struct text text = { 0 };

		if (figure == FIGURES)
			text_put(&text, "edge \"a > b\"");
		else
			figure_put_name(&text, figure);
		text_printf(&text, "%s%s%s%.1f%s%s", blank, operators[operator], blank, number, blank,
			    units[unit].name);
		if (condition_parse(text.bytes, &condition))
			fail_msg("'%s' is refused", text.bytes);
		CHECK_EQUAL(condition.is_less, operator% 2);
		CHECK_EQUAL(condition.is_equal_enough, operator> 1);
		CHECK_EQUAL(condition.is_share, !unit);
		CHECK_THAT(fabs(condition.limit - number * units[unit].factor), <=, 1e-9 * fabs(condition.limit));
		CHECK(figure == FIGURES ? !strcmp(condition.label, "a > b")
					: !condition.label && condition.figure == figure);
		condition_fini(&condition);
		text_fini(&text);
	}
}

static void ignore(const char *line)
{
	(void)line;
}

TEST(random_bytes_do_no_harm)
{
	static const char *const words[] = {
		"edge",
		"\"",
		"lost.lock",
		">",
		"<",
		"=",
		"%",
		"ms",
		"1",
		"-",
		".",
		"9",
		" ",
		"e",
		"\t",
		"\xff",
		"duration",
		"wait.lock.count",
		"1111111111111111111111111111111111111111111",
		"inf",
	};

	random_state = 2;
	fail_set_sink(ignore);
	for (int round = 0; round < 20000; round++) {
		struct condition condition;
		struct text text = { 0 };

		text_put(&text, "");
		for (uint32_t i = pick(8); i-- > 0;)
			text_put(&text, words[pick(sizeof(words) / sizeof(*words))]);
		if (!condition_parse(text.bytes, &condition)) {
			CHECK(isfinite(condition.limit));
			condition_fini(&condition);
		}
		text_fini(&text);
	}
	fail_set_sink(NULL);
}

static bool holds(const struct comparison *comparison, const char *text)
{
	struct condition condition;
	double change;
	bool is_so;

	CHECK_EQUAL(condition_parse(text, &condition), 0);
	is_so = condition_holds(&condition, comparison, &change);
	condition_fini(&condition);
	return is_so;
}

TEST(conditions_hold_when_a_figure_has_changed_so_much)
{
	struct comparison comparison;
	const unsigned int lock = FIGURE_SHARES + SHARE_BLOCKED + CAUSE_LOCK;

	comparison_init(&comparison, true, 0.005);
	for (unsigned int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < FIGURES; i++)
			sample_add(&comparison.sides[side].figures[i], i == lock              ? 100e6 * (1 + side)
								       : i == FIGURE_DURATION ? 1e9
											      : 0);
	CHECK(holds(&comparison, "lost.lock > 99 %") && !holds(&comparison, "lost.lock > 100 %"));
	CHECK(holds(&comparison, "lost.lock >= 100 %") && holds(&comparison, "lost.lock > 99.9 ms"));
	CHECK(!holds(&comparison, "lost.lock < 0 s") && holds(&comparison, "lost.lock<=0.1s"));
	CHECK(!holds(&comparison, "duration > 0 %") && holds(&comparison, "duration <= 0 %"));
	CHECK(!holds(&comparison, "lost.file > 0 %") && holds(&comparison, "wait.lock.count > -1"));
	fail_set_sink(on_message);
	said.count = 0;
	CHECK(!holds(&comparison, "edge \"no such\" > 0 ms"));
	CHECK_EQUAL(said.count, 1);
	CHECK(strstr(said.last, "no such"));
	fail_set_sink(NULL);
	comparison_fini(&comparison);
}
