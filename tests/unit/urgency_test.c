/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reader that runs for so much of each period, and is late or not. */
#include "test.h"

#include "collect/urgency.h"

static const uint64_t SECOND = 1000000000, STEP = 10000000;

/* So many steps; returns in how many of them it was urgent, at *changes how often that changed. */
static unsigned int run(struct urgency *urgency, uint64_t *now_ns, uint64_t *cpu_ns, unsigned int steps, double share,
			bool is_late, unsigned int *changes)
{
	unsigned int urgent = 0;

	*changes = 0;
	for (unsigned int i = 0; i < steps; i++) {
		*now_ns += STEP;
		*cpu_ns += STEP * share;
		*changes += urgency_update(urgency, *now_ns, *cpu_ns, is_late);
		urgent += urgency->is_urgent;
	}
	return urgent;
}

TEST(a_reader_that_is_in_time_is_never_urgent)
{
	struct urgency urgency = { 0 };
	uint64_t now_ns = 1000 * SECOND, cpu_ns = 5 * SECOND;
	unsigned int changes;

	CHECK(!run(&urgency, &now_ns, &cpu_ns, 10000, 0.9, false, &changes) && !changes);
}

TEST(one_that_was_late_is_urgent_for_a_while_unless_it_takes_much)
{
	struct urgency urgency = { 0 };
	uint64_t now_ns = 1000 * SECOND, cpu_ns = 5 * SECOND;
	unsigned int changes;

	CHECK_EQUAL(run(&urgency, &now_ns, &cpu_ns, 1, 0.1, true, &changes), 1);
	CHECK_EQUAL(changes, 1);
	CHECK_EQUAL(run(&urgency, &now_ns, &cpu_ns, 1000, 0.2, false, &changes), 1000);
	CHECK(!changes);
	CHECK_THAT(run(&urgency, &now_ns, &cpu_ns, 10000, 0.2, false, &changes), <, 6000);
	CHECK_EQUAL(changes, 1);
	CHECK(!urgency.is_urgent);
}

TEST(one_that_takes_a_whole_cpu_has_a_quarter_of_it_before_all_others)
{
	struct urgency urgency = { 0 };
	uint64_t now_ns = 1000 * SECOND, cpu_ns = 5 * SECOND;
	unsigned int changes, urgent;

	run(&urgency, &now_ns, &cpu_ns, 1000, 1, true, &changes);
	/* With the CPU to itself it never saves anything; elsewhere it does while it is kept waiting. */
	CHECK(!urgency.is_urgent);
	urgent = 0;
	for (int i = 0; i < 10000; i++)
		urgent += run(&urgency, &now_ns, &cpu_ns, 1, urgency.is_urgent ? 1 : 0.05, true, &changes);
	CHECK_THAT(urgent, >, 1000);
	CHECK_THAT(urgent, <, 3000);
}
