/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What findings say of each other. */
#include "findings/patterns/draft.h"

#include "findings/blame/blame.h"
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

/* --- Those behind which others have no CPU --------------------------------------------------------- */

enum { SECOND = 1000000000 };

/* A lack of CPUs, of which another process has taken_ns, and a wait for others that have none, or wait for a file. */
static struct report_finding *add_wait_behind_cpus(uint64_t taken_ns, uint64_t cpu_ns, uint64_t file_ns)
{
	static struct report_root roots[2];
	static struct blame_part parts[2];
	static struct report_rival rival;
	struct report *report = &findings.report;
	struct report_finding *wait;

	roots[0] = (struct report_root){ .kind = ROOT_CPU, .ns = cpu_ns };
	roots[1] =
		(struct report_root){ .kind = ROOT_WAIT, .cause = CAUSE_FILE, .object = "/srv/journal", .ns = file_ns };
	parts[0] = (struct blame_part){ .root = &roots[0], .ns = cpu_ns, .next = &parts[1] };
	parts[1] = (struct blame_part){ .root = &roots[1], .ns = file_ns };
	rival = (struct report_rival){ .kind = RIVAL_PROCESS, .name = "backup", .wait_ns = taken_ns };
	report->target.wall_ns = 10ull * SECOND;
	report->balance.threads.busy_ns = 20ull * SECOND;
	report->balance.threads.running_ns = 2ull * SECOND;
	report->balance.threads.cpu_wait_ns = 4ull * SECOND;
	report->balance.threads.ran_instead = &rival;
	report->balance.threads.rival_count = 1;
	add(PATTERN_CPU_WAIT, CAUSE_PREEMPTED, 0.2, "threads wait for a CPU");
	wait = add(PATTERN_WAIT, CAUSE_CONDITION, 0.6, "threads wait for a condition");
	wait->blame = parts;
	return wait;
}

TEST(a_wait_for_others_that_have_no_cpu_is_a_symptom_of_that)
{
	begin();
	add_wait_behind_cpus(4ull * SECOND, 10ull * SECOND, SECOND / 10);
	patterns_fold_by_root(&findings, &draft);
	CHECK_EQUAL(draft.count, 1);
	CHECK_EQUAL(draft.rows[0].pattern, PATTERN_CPU_WAIT);
	CHECK(draft.rows[0].share == 0.5);
	CHECK_STRING(draft.rows[0].evidence[0], "seen as: threads wait for a condition (60 %)");
	end();
}

TEST(what_would_be_waited_for_with_a_cpu_is_a_finding_if_it_took_enough)
{
	begin();
	add_wait_behind_cpus(4ull * SECOND, 10ull * SECOND, 2ull * SECOND);
	patterns_fold_by_root(&findings, &draft);
	CHECK_EQUAL(draft.count, 2);
	CHECK_EQUAL(draft.rows[1].cause, CAUSE_FILE);
	CHECK(draft.rows[1].share == 0.1);
	CHECK(strstr(draft.rows[1].title, "file /srv/journal"));
	end();
}

TEST(where_the_program_itself_has_the_cpus_the_wait_stays_the_finding)
{
	begin();
	add_wait_behind_cpus(SECOND, 10ull * SECOND, SECOND / 10);
	patterns_fold_by_root(&findings, &draft);
	CHECK_EQUAL(draft.count, 2);
	CHECK_STRING(draft.rows[1].title, "threads wait for a condition");
	CHECK(!draft.rows[0].symptom_count);
	end();
}
