/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which waits are those of a memory limit, which processes live for too short, and how many files are called together. */
#include "findings/parts/findings_waits.h"
#include "findings/patterns/draft.h"
#include "findings/patterns/file_group.h"
#include "stacks/fold.h"
#include "test.h"

/* What a table leaves out at the end of a row is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { MS = 1000000, MB = 1 << 20 };

static struct findings findings;
static struct draft draft;
static struct report_memory_limit limit;
static struct report_wait wait;
static struct report_file files[5];
static struct report_cause cause;
static struct report_thread threads[2];
static struct report_group group;

/* Ten seconds; 1,000 waits of 5 ms each to read a file in a cgroup whose limit makes it read 4,000 pages again. */
static void begin(void)
{
	struct report *report;

	memset(&draft, 0, sizeof(draft));
	findings = (struct findings){ .arena = arena_new(), .input.fold = fold_rules_new() };
	report = &findings.report;
	report->target.wall_ns = 10000ull * MS;
	report->balance.threads.busy_ns = 10000ull * MS;
	report->balance.threads.running_ns = 5000ull * MS;
	limit = (struct report_memory_limit){ "/db", 32 * MB, 500, 4000, 0 };
	report->resources.memory_limits = &limit;
	report->resources.memory_limit_count = 1;
	wait = (struct report_wait){ .cause = CAUSE_FILE, .object = "/srv/a", .wait_ns = 5000ull * MS, .waits = 1000 };
	report->waits = &wait;
	report->wait_count = 1;
	cause = (struct report_cause){ .cause = CAUSE_FILE, .wait_ns = 5000ull * MS, .waits = 1000 };
	report->balance.threads.causes = &cause;
	report->balance.threads.cause_count = 1;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		files[i] = (struct report_file){ .path = "/srv/a", .cause = CAUSE_FILE };
	files[0].wait_ns = files[0].transfer.read_ns = 5000ull * MS;
	report->files = files;
	report->file_count = 1;
}

static void end(void)
{
	fold_rules_free((struct fold_rules *)findings.input.fold);
	arena_free(findings.arena);
}

static const struct report_finding *with_row(enum wait_cause of)
{
	struct report_finding *row =
		draft_add(&findings, &draft, PATTERN_WAIT, of, 0.5, "threads wait for file /srv/a");

	row->wait_rank = 1;
	draft_say(&findings, row, "1,000 waits");
	patterns_add_limits(&findings, &draft);
	return row;
}

TEST(waits_to_read_again_what_a_memory_limit_dropped_are_about_that)
{
	const struct report_finding *row;

	begin();
	row = with_row(CAUSE_FILE);
	CHECK(row->memory_limit == &limit);
	CHECK(strstr(row->title, "/srv/a: their cgroup may use no more than 32.0 MB of memory"));
	CHECK_EQUAL(row->evidence_count, 2);
	CHECK(strstr(row->evidence[0], "cgroup /db was met 500 times: 4,000 pages had been dropped and came back"));
	CHECK(!strcmp(row->evidence[1], "1,000 waits"));
	end();
}

TEST(a_limit_that_is_hardly_met_or_makes_few_reads_is_not_the_cause)
{
	begin();
	limit.hits = 9;
	CHECK(!with_row(CAUSE_FILE)->memory_limit);
	end();
	begin();
	limit.file_refaults = 499;
	CHECK(!with_row(CAUSE_FILE)->memory_limit);
	end();
	begin();
	findings.report.resources.memory_limit_count = 0;
	CHECK(!with_row(CAUSE_FILE)->memory_limit);
	end();
}

TEST(waits_to_write_are_not_those_of_a_memory_limit)
{
	begin();
	files[0].transfer.read_ns = 2000ull * MS;
	CHECK(!with_row(CAUSE_FILE)->memory_limit);
	end();
	begin();
	CHECK(!with_row(CAUSE_SOCKET)->memory_limit);
	end();
}

TEST(page_faults_may_be_for_what_was_swapped)
{
	begin();
	limit.file_refaults = 0;
	limit.swap_refaults = 4000;
	cause.cause = wait.cause = CAUSE_PAGE_FAULT;
	CHECK(with_row(CAUSE_PAGE_FAULT)->memory_limit);
	end();
	begin();
	limit.file_refaults = 0;
	limit.swap_refaults = 4000;
	CHECK(!with_row(CAUSE_FILE)->memory_limit);
	end();
}

/* --- Short lives ---------------------------------------------------------------------------------- */

static size_t with_lives(uint64_t count, uint64_t ran_ns_each)
{
	threads[0] = (struct report_thread){
		.name = "true", .host_pid = 7, .host_tid = 7, .thread_count = count, .running_ns = count * ran_ns_each
	};
	group = (struct report_group){ .name = "true", .thread_count = count, .threads = threads, .row_count = 1 };
	findings.report.groups = &group;
	findings.report.group_count = 1;
	patterns_add_short_lived(&findings, &draft);
	return draft.count;
}

TEST(many_processes_that_live_for_a_millisecond_are_a_finding)
{
	begin();
	CHECK_EQUAL(with_lives(3000, MS), 1);
	CHECK_EQUAL(draft.rows[0].pattern, PATTERN_SHORT_LIVED);
	CHECK(strstr(draft.rows[0].title, "3000 short-lived processes named true began, and ran for 1.00 ms each"));
	CHECK(strstr(draft.rows[0].evidence[0], "60 % of all CPU time is theirs; 300 began in a second"));
	CHECK(draft.rows[0].share > 0.29 && draft.rows[0].share < 0.31);
	end();
}

TEST(few_processes_and_long_ones_and_those_of_little_time_are_none)
{
	static const struct {
		uint64_t count, ran_ns;
	} cases[] = {
		{ 199, 10 * MS / 2 }, /* 20 a second are few */
		{ 600, 6 * MS },      /* each of them works */
		{ 1400, MS },         /* not much of what ran */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		CHECK_EQUAL(with_lives(cases[i].count, cases[i].ran_ns), 0);
		end();
	}
}

/* --- Files together ------------------------------------------------------------------------------- */

static void with_files(size_t count)
{
	static const char *const paths[] = { "/srv/data/a/1", "/srv/data/b/2", "/srv/data/3", "/etc/hosts",
					     "pipe:[5]" };

	findings.report.file_count = count;
	for (size_t i = 0; i < count; i++)
		files[i] =
			(struct report_file){ .path = paths[i], .cause = CAUSE_FILE, .wait_ns = i < 3 ? 100 * MS : MS };
}

TEST(files_are_called_by_the_directory_that_those_are_in_which_matter)
{
	const char *directory;

	for (size_t count = 3; count <= 5; count++) {
		begin();
		with_files(count);
		directory = file_group_directory(&findings, 300 * MS);
		CHECK(directory && !strcmp(directory, "/srv/data"));
		CHECK(!strcmp(file_group_words(&findings, directory, 300 * MS), "3 files under /srv/data"));
		end();
	}
}

TEST(a_part_of_the_waiting_was_for_files_there_if_half_of_it_must_have_been)
{
	const char *directory;

	begin();
	with_files(4);
	files[3].path = "others";
	files[3].wait_ns = 100 * MS;
	directory = file_group_directory(&findings, 200 * MS);
	CHECK(directory && !strcmp(directory, "/srv/data"));
	CHECK(!strcmp(file_group_words(&findings, directory, 200 * MS), "files under /srv/data"));
	CHECK(!file_group_directory(&findings, 190 * MS));
	end();
	begin();
	with_files(4);
	CHECK(file_group_directory(&findings, 60 * MS));
	end();
}

TEST(one_file_and_files_without_a_common_directory_are_not_called_by_one)
{
	begin();
	with_files(1);
	CHECK(!file_group_directory(&findings, 300 * MS));
	end();
	begin();
	with_files(4);
	files[3].wait_ns = 100 * MS;
	CHECK(!file_group_directory(&findings, 300 * MS));
	end();
	begin();
	with_files(5);
	files[4].wait_ns = 100 * MS;
	CHECK(!file_group_directory(&findings, 300 * MS));
	end();
}
