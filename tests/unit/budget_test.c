/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose files take whose time: modules of root, of other users, and of containers. */
#include "test.h"

#include <unistd.h>

#include "symbol/space/module.h"
#include "symbol/worker/budget.h"

static const uint64_t SECOND = 1000000000;

static struct module file_of(uint32_t number, uint32_t owner)
{
	return (struct module){
		.number = number,
		.kind = MODULE_FILE,
		.has_stamp = true,
		.stamp.owner = owner,
	};
}

/* Asks in steps of a tenth of a second until nothing is left; what that took. */
static uint64_t use_up(struct budget *budget, const struct module *module, bool wants_debug)
{
	uint64_t used_ns = 0;

	while (budget_left_ns(budget, module, wants_debug)) {
		budget_spend(budget, module, SECOND / 10, 0);
		used_ns += SECOND / 10;
	}
	return used_ns;
}

TEST(a_file_uses_up_its_own_share_and_leaves_others_theirs)
{
	struct budget *budget = budget_new();
	struct module a = file_of(1, 1000), b = file_of(2, 1000), root = file_of(3, getuid());
	uint64_t a_ns = use_up(budget, &a, false);

	CHECK_THAT(a_ns, >, SECOND);
	CHECK_THAT(a_ns, <, 10 * SECOND);
	CHECK(!budget_left_ns(budget, &a, false));
	CHECK_THAT(budget_left_ns(budget, &b, false), >, SECOND);
	CHECK_THAT(budget_left_ns(budget, &root, true), >, 10 * SECOND);
	budget_free(budget);
}

TEST(what_a_users_files_take_is_bounded_whatever_their_number)
{
	struct budget *budget = budget_new();
	struct module others = file_of(1000, 1001), root = file_of(1001, getuid());
	uint64_t used_ns = 0;

	for (uint32_t i = 1; i <= 30; i++) {
		struct module file = file_of(i, 1000);

		used_ns += use_up(budget, &file, false);
	}
	CHECK_THAT(used_ns, <=, 10 * SECOND);
	CHECK_THAT(budget_left_ns(budget, &others, false), >, SECOND / 10);
	CHECK_THAT(budget_left_ns(budget, &root, true), >, 10 * SECOND);
	budget_free(budget);
}

TEST(many_users_have_a_bound_together_and_root_is_not_among_them)
{
	struct budget *budget = budget_new();
	struct module root = file_of(1001, getuid()), container = file_of(1002, getuid());
	uint64_t used_ns = 0;

	for (uint32_t i = 1; i <= 30; i++) {
		struct module file = file_of(i, 1000 + i);

		used_ns += use_up(budget, &file, false);
	}
	CHECK_THAT(used_ns, <=, 15 * SECOND);
	container.stamp.is_overlay = 1;
	CHECK(!budget_left_ns(budget, &container, false));
	CHECK_THAT(budget_left_ns(budget, &root, true), >, 10 * SECOND);
	CHECK_THAT(budget_memory_bytes(budget, &container), <, budget_memory_bytes(budget, &root));
	budget_free(budget);
}

TEST(symbols_have_something_left_when_debug_information_was_too_dear)
{
	struct budget *budget = budget_new();
	struct module file = file_of(1, 1000);

	use_up(budget, &file, true);
	CHECK(!budget_left_ns(budget, &file, true));
	CHECK_THAT(budget_left_ns(budget, &file, false), >, SECOND / 2);
	budget_free(budget);
}

TEST(a_death_takes_more_than_the_time_that_it_took)
{
	struct budget *budget = budget_new();
	struct module file = file_of(1, 1000);
	uint64_t before_ns = budget_left_ns(budget, &file, false);

	budget_spend_death(budget, &file, 1000);
	CHECK_THAT(before_ns - budget_left_ns(budget, &file, false), >=, SECOND / 10);
	budget_free(budget);
}

TEST(waiting_for_a_disk_counts_less_than_running)
{
	struct budget *budget = budget_new();
	struct module file = file_of(1, 1000);
	uint64_t before_ns = budget_left_ns(budget, &file, false), spent_ns;

	budget_spend(budget, &file, 0, SECOND);
	spent_ns = before_ns - budget_left_ns(budget, &file, false);
	CHECK_THAT(spent_ns, >, SECOND / 10);
	CHECK_THAT(spent_ns, <, SECOND / 2);
	budget_free(budget);
}

TEST(a_process_that_takes_its_time_uses_up_its_own_share_then_its_users_and_never_anothers)
{
	struct budget *budget = budget_new();
	bool has_left = true;
	uint64_t waited_ns = 0;
	uint32_t pid;

	for (pid = 1; has_left && pid < 100; pid++)
		while (has_left && budget_process_left_ns(budget, pid, 1000)) {
			has_left = budget_spend_process(budget, pid, 1000, SECOND / 10);
			waited_ns += SECOND / 10;
		}
	CHECK(!has_left);
	CHECK_THAT(pid, >, 2);
	CHECK_THAT(waited_ns, <=, 12 * SECOND);
	CHECK(!budget_process_left_ns(budget, 1000, 1000));
	CHECK_THAT(budget_process_left_ns(budget, 1001, 1001), >, SECOND);
	CHECK_THAT(budget_process_left_ns(budget, 1002, 0), >, SECOND);
	budget_free(budget);
}
