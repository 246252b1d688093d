/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost time as the report has it: all of it, each nanosecond once, by causes that are called by what most of them is. */
#include "test.h"

#include "base/table.h"
#include "findings/blame/blame_internal.h"
#include "findings/blame/blame_spins_internal.h"
#include "findings/parts/findings_internal.h"

enum { ROOTS_MAX = 60, SHOWN_MAX = 25 };

static struct findings findings;
static struct blame blame;
static uint32_t random_state;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % count;
}

static void begin(uint32_t seed)
{
	random_state = seed;
	memset(&findings, 0, sizeof(findings));
	findings.arena = arena_new();
	findings.blame = &blame;
	blame = (struct blame){ .roots = table_new(), .details = table_new(), .chains = table_new() };
	blame.last = &blame.first;
}

static void end(void)
{
	table_free(blame.roots);
	table_free(blame.details);
	table_free(blame.chains);
	arena_free(findings.arena);
}

static double charge(const struct report_blocked_wait *wait, double ns)
{
	struct blame_detail *detail;
	struct blame_root *root = blame_root_of_wait(&findings, wait, (struct blame_ending){ 0 }, &detail);

	root->ns += ns;
	root->direct_ns += ns * pick(3) / 2;
	detail->ns += ns;
	return ns;
}

TEST(all_that_was_lost_is_in_exactly_one_cause)
{
	for (uint32_t seed = 1; seed <= 2000; seed++) {
		uint64_t lost_ns, sum_ns = 0;
		size_t count, i;
		double ns = 0;

		begin(seed);
		count = pick(ROOTS_MAX);
		for (i = 0; i < count; i++)
			ns += charge(&(struct report_blocked_wait){ .cause = CAUSE_SLEEP,
								    .object = arena_printf(findings.arena, "%zu", i) },
				     pick(1u << 20) / 1024.0 * pick(1u << 12));
		lost_ns = ns + 0.5;
		blame_put(&findings, lost_ns);
		CHECK_EQUAL(findings.report.blame.lost_ns, lost_ns);
		CHECK(findings.report.blame.root_count <= SHOWN_MAX);
		for (i = 0; i < findings.report.blame.root_count; i++) {
			const struct report_root *root = &findings.report.blame.roots[i];

			sum_ns += root->ns;
			CHECK(root->direct_ns <= root->ns);
			/* Rounding moves a root by a nanosecond at most; what is left is last. */
			CHECK(!i || root->kind == ROOT_OTHER || root[-1].ns + 1 >= root->ns);
		}
		CHECK_EQUAL(sum_ns, lost_ns && findings.report.blame.root_count ? lost_ns : 0);
		end();
	}
}

/* Of the only root. */
static const struct report_root *put_files(const char *const *files, const double *ns, size_t count)
{
	double all_ns = 0;

	begin(1);
	for (size_t i = 0; i < count; i++)
		all_ns += charge(&(struct report_blocked_wait){ .cause = CAUSE_FILE, .object = files[i] }, ns[i]);
	blame_put(&findings, all_ns);
	CHECK_EQUAL(findings.report.blame.root_count, 1);
	return findings.report.blame.roots;
}

static void check_object(const struct report_root *root, const char *object, bool is_directory)
{
	if (object)
		CHECK_STRING(root->object, object);
	else
		CHECK(!root->object);
	CHECK_EQUAL(root->is_directory, is_directory);
	end();
}

TEST(files_of_one_file_system_are_one_cause_called_by_most_of_it)
{
	static const char *const files[] = { "/data/log/a", "/data/log/b", "/data/logs/c", "/var/x" };

	check_object(put_files(files, (double[]){ 60, 40, 0, 0 }, 4), "/data/log/a", false);
	check_object(put_files(files, (double[]){ 40, 30, 0, 0 }, 2), "/data/log/a", false);
	check_object(put_files(files, (double[]){ 49, 49, 0, 1 }, 4), "/data/log", true);
	check_object(put_files(files, (double[]){ 40, 40, 40, 1 }, 4), "/data", true);
	check_object(put_files(files, (double[]){ 40, 40, 40, 40 }, 4), NULL, false);
	check_object(put_files((const char *const[]){ "/data/log/a", NULL }, (double[]){ 40, 50 }, 2), NULL, false);
}

TEST(a_call_that_spins_only_where_samples_met_others_is_not_charged)
{
	struct spin_group group = { .causes = table_new(), .threads = table_new() };

	CHECK(!spin_group_stands_out(&(struct spins){ .findings = &findings }, &group));
	table_free(group.causes);
	table_free(group.threads);
}
