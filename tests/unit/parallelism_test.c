/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "account/measures/parallelism.h"

/* Whatever n is, n times each thread's share and what is carried make up the time, exactly. */
TEST(no_fraction_of_a_nanosecond_is_dropped)
{
	static struct parallelism p;
	fixed_ns handed_out = 0;
	uint32_t random = 7;
	uint64_t now_ns = 5;

	memset(&p, 0, sizeof(p));
	parallelism_advance(&p, now_ns);
	parallelism_change(&p, 1, 100);
	for (int i = 0; i < 200000; i++) {
		fixed_ns before = p.share;
		uint32_t n = p.active;

		random = random * 1103515245 + 12345;
		now_ns += i % 1000 ? random >> 20 : (uint64_t)random << 8;
		parallelism_advance(&p, now_ns);
		handed_out += (p.share - before) * n;
		CHECK_EQUAL(handed_out + p.share_carry, (fixed_ns)p.active_ns << 32);
		if (random >> 8 & 1 && p.active < 100)
			parallelism_change(&p, 1, 0);
		else if (p.active)
			parallelism_change(&p, -1, 0);
	}
	CHECK_EQUAL(p.active_ns + p.stalled_ns, p.wall_ns);
	CHECK_EQUAL(p.wall_ns, now_ns - 5);
	parallelism_fini(&p);
}

TEST(time_does_not_run_backwards)
{
	static struct parallelism p;

	memset(&p, 0, sizeof(p));
	parallelism_advance(&p, 100);
	parallelism_change(&p, 1, 1);
	parallelism_advance(&p, 50);
	parallelism_advance(&p, 110);
	CHECK_EQUAL(p.wall_ns, 10);
	CHECK_EQUAL(p.begin_ns, 100);
	CHECK_EQUAL(p.end_ns, 110);
	parallelism_fini(&p);
}

/* Against a list of all changes; what is longer ago than the remembered ones is as the oldest of these. */
TEST(what_was_so_a_while_ago_is_remembered)
{
	enum { CHANGES = 2000 };
	static struct parallelism p;
	static uint32_t active[CHANGES];
	static uint64_t times_ns[CHANGES];
	uint32_t random = 11;

	memset(&p, 0, sizeof(p));
	for (int i = 0; i < CHANGES; i++) {
		int oldest = i < PARALLELISM_PAST ? 0 : i + 1 - PARALLELISM_PAST, at;

		random = random * 1103515245 + 12345;
		parallelism_advance(&p, 100 + i * 10 + random % 10);
		parallelism_change(&p, !p.active || random & 1 << 20 ? 1 : -1, i == 0 ? 20 : 0);
		times_ns[i] = p.now_ns;
		active[i] = p.active;
		for (uint64_t ago_ns = 0; ago_ns < 4000; ago_ns += 97) {
			struct parallelism_moment moment;

			if (ago_ns >= p.now_ns)
				break;
			for (at = i; at > oldest && times_ns[at] > p.now_ns - ago_ns; at--)
				;
			moment = parallelism_at(&p, p.now_ns - ago_ns);
			CHECK_EQUAL(moment.active, active[at]);
			CHECK_EQUAL(moment.is_critical, active[at] <= 10);
		}
	}
	parallelism_fini(&p);
}

TEST(the_threshold_is_met_exactly_and_missed_by_one)
{
	struct parallelism p = { .alive = 5 };

	CHECK(parallelism_is_critical(&p, 250, 100));
	CHECK(!parallelism_is_critical(&p, 251, 100));
	p.alive = 1;
	CHECK(parallelism_is_critical(&p, 100, 100) && !parallelism_is_critical(&p, 101, 100));
	p.alive = 0;
	CHECK(parallelism_is_critical(&p, 100, 100));
	p.nmin_option = 3;
	CHECK(parallelism_is_critical(&p, 300, 100) && !parallelism_is_critical(&p, 301, 100));
}
