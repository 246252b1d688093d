/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of executions as the server reads them: what pinch compare writes, and nothing else. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "compare/figures.h"
#include "serve/execution_grouping.h"
#include "view/table/execution_table.h"

enum { EXECUTIONS = 200 };

static const uint64_t first_ns = 1000000;

static struct {
	struct execution list[EXECUTIONS];
	uint8_t of[EXECUTIONS];
	double values[EXECUTIONS * FIGURES];
	struct text csv;
} w;

/* The first one began before the trace did. */
static void write_table(void)
{
	for (size_t i = 0; i < EXECUTIONS; i++) {
		w.list[i] = (struct execution){ .thread = 1 + i % 7,
						.begin_thread = 1 + i % 5,
						.begin_ns = first_ns - 5 + 100 * i,
						.end_ns = first_ns + 100 * i + 50 + i };
		w.of[i] = i % 11 ? i % 3 : GROUP_OUTLIER;
		for (size_t figure = 0; figure < FIGURES; figure++)
			w.values[i * FIGURES + figure] = 1000 * i + figure;
	}
	w.csv.length = 0;
	execution_table_put(&w.csv, &(struct executions){ w.list, EXECUTIONS, EXECUTIONS },
			    &(struct groups){ .count = 3, .of = w.of }, w.values, first_ns);
}

TEST(executions_are_read_as_they_were_written)
{
	struct execution_grouping grouping;
	uint64_t sum = 0;
	size_t count = 0;

	write_table();
	assert_int_equal(execution_grouping_read(w.csv.bytes, &grouping), 0);
	assert_int_equal(grouping.executions.count, EXECUTIONS);
	assert_int_equal(grouping.count, 3);
	for (size_t i = 0; i < EXECUTIONS; i++) {
		assert_int_equal(grouping.executions.list[i].thread, w.list[i].thread);
		assert_int_equal(grouping.executions.list[i].begin_thread, w.list[i].begin_thread);
		assert_int_equal(grouping.executions.list[i].begin_ns + first_ns, w.list[i].begin_ns);
		assert_int_equal(grouping.executions.list[i].end_ns + first_ns, w.list[i].end_ns);
		assert_int_equal(grouping.group_of[i], w.of[i] == GROUP_OUTLIER ? 0 : w.of[i] + 1);
		if (w.of[i] == 1) {
			assert_int_equal(grouping.groups[2].members[count++], i);
			sum += w.values[i * FIGURES + FIGURE_SHARES + 4];
		}
	}
	assert_int_equal(grouping.groups[2].count, count);
	assert_int_equal(grouping.groups[2].ns[4], sum);
	execution_grouping_fini(&grouping);
	text_fini(&w.csv);
}

/* Wherever it is cut, or a byte is another one. */
TEST(other_text_is_refused_or_read_within_its_bounds)
{
	static const char bytes[] = { '\n', ',', '-', '9', 'x' };
	struct execution_grouping grouping;
	size_t refused = 0, asked = 0;

	write_table();
	for (size_t at = 0; at < w.csv.length; at += 7) {
		char kept = w.csv.bytes[at];

		for (size_t i = 0; i <= sizeof(bytes); i++) {
			w.csv.bytes[at] = i < sizeof(bytes) ? bytes[i] : '\0';
			refused += execution_grouping_read(w.csv.bytes, &grouping) == -EBADMSG;
			asked++;
			assert_true(grouping.executions.count <= EXECUTIONS + 1);
			execution_grouping_fini(&grouping);
		}
		w.csv.bytes[at] = kept;
	}
	assert_true(refused > asked / 2);
	assert_int_equal(execution_grouping_read("", &grouping), -EBADMSG);
	execution_grouping_fini(&grouping);
	text_fini(&w.csv);
}
