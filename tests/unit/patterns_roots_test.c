/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What findings say of each other. */
#include "findings/patterns/draft.h"
#include "stacks/fold.h"
#include "test.h"

static struct findings findings;
static struct draft draft;

static struct report_finding *add(enum pattern pattern, enum wait_cause cause, double share, const char *title)
{
	return draft_add(&findings, &draft, pattern, cause, share, "%s", title);
}

static void begin(void)
{
	memset(&draft, 0, sizeof(draft));
	findings = (struct findings){ .arena = arena_new(), .input.fold = fold_rules_new() };
}

static void end(void)
{
	fold_rules_free((struct fold_rules *)findings.input.fold);
	arena_free(findings.arena);
}

/* That one thread runs, and that the others wait for a lock meanwhile, is one thing. */
TEST(where_one_thread_runs_those_are_named_who_wait_for_those_that_run)
{
	struct report_blocked_on on[] = { { .ns = 100, .running_ns = 60 },
					  { .ns = 100, .waiting_ns = 90, .running_ns = 10 } };
	static const struct {
		enum wait_cause cause;
		double share;
		int on;
		bool is_said;
	} cases[] = {
		{ CAUSE_LOCK, 0.6, 0, true },    { CAUSE_CONDITION, 0.36, 0, true },
		{ CAUSE_LOCK, 0.3, 0, false },   /* too little to be the same */
		{ CAUSE_LOCK, 0.6, 1, false },   /* who has it waits, too */
		{ CAUSE_LOCK, 0.6, -1, false },  /* what those do is not known */
		{ CAUSE_SOCKET, 0.6, 0, false }, /* nobody takes turns there */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report_finding *serial, *wait;

		begin();
		serial = add(PATTERN_SERIAL_PHASE, CAUSE_ON_CPU, 0.7, "only one thread was active");
		wait = add(PATTERN_WAIT, cases[i].cause, cases[i].share, "threads wait for the GVL");
		wait->blocked_on = cases[i].on < 0 ? NULL : &on[cases[i].on];
		patterns_fold_by_root(&findings, &draft);
		CHECK_EQUAL(draft.count, 2);
		CHECK_EQUAL(serial->evidence_count, cases[i].is_said);
		if (cases[i].is_said && i == 0)
			CHECK_STRING(serial->evidence[0], "meanwhile threads wait for the GVL (60 %)");
		CHECK(!wait->evidence_count);
		end();
	}
}
