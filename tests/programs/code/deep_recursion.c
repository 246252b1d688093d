// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree is walked by a function that calls itself to a depth of 40 and computes at each level; its leaves
 * are another function's. Known answer: of itself visit_node() has most, and with all that it calls nearly
 * all: once, however often it is on a stack.
 */
#include "code_log.h"

enum { VISIT_NODE, SUM_LEAF, CHECK_TREE, DEPTH = 40 };

static const char *const names[] = { "visit_node", "sum_leaf", "check_tree", NULL };

WORK(sum_leaf, SUM_LEAF)
WORK(check_tree, CHECK_TREE)

static OWN_FRAME void visit_node(int depth)
{
	log_enter(VISIT_NODE);
	BURN_US(50);
	if (depth)
		visit_node(depth - 1);
	else
		sum_leaf(900);
	if (depth == DEPTH / 2)
		sum_leaf(200);
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static void run(int number)
{
	while (log_is_time()) {
		visit_node(DEPTH);
		if (number)
			check_tree(400);
		pause_us(1000);
	}
}

int main(int argc, char **argv)
{
	struct role walkers[2];

	log_open(argc, argv, names);
	role_start_all(walkers, 2, "walker-%d", run);
	role_join_all(walkers, 2);
	return 0;
}
