// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a list of 200 nodes on the heap, each with a lock of its own. Four threads go
 * through it hand over hand: each takes the lock of the next node before it gives back the one it
 * has. The thread `leader` (main) is the first, and takes 4 ms for each node; `follower-0` to
 * `follower-2` come behind it and can never overtake.
 * Known answer: the heaviest wait is `lock`, in update_node(), and so are its wakers. All 200 locks
 * are of one class: the member `lock` of a node, first taken in update_node(), made in add_node().
 * No single one of them has more than a hundredth of the waiting.
 */
#include "roles.h"

enum { NODES = 200, FOLLOWERS = 3, UPDATE_MS = 4 };

struct node {
	struct node *next;
	long value; /* owned by lock */
	pthread_mutex_t lock;
};

static struct node *first;
static struct role followers[FOLLOWERS];

static OWN_FRAME void update_node(struct node *node, struct node *before, unsigned length_ms)
{
	pthread_mutex_lock(&node->lock);
	if (before)
		pthread_mutex_unlock(&before->lock);
	if (length_ms)
		compute_ms(length_ms);
	node->value++;
}

static void update_rest(struct node *before, unsigned length_ms)
{
	for (; before->next; before = before->next)
		update_node(before->next, before, length_ms);
	pthread_mutex_unlock(&before->lock);
}

static void follow(int number)
{
	(void)number;
	update_node(first, NULL, 0);
	update_rest(first, 0);
}

static OWN_FRAME void add_node(void)
{
	struct node *node = (struct node *)calloc(1, sizeof(*node));

	if (!node)
		die("calloc");
	pthread_mutex_init(&node->lock, NULL);
	node->next = first;
	first = node;
}

int main(void)
{
	for (int i = 0; i < NODES; i++)
		add_node();
	role_name_self("leader");
	update_node(first, NULL, 0);
	role_start_all(followers, FOLLOWERS, "follower-%d", follow);
	role_await_all(followers, FOLLOWERS, SYS_futex);
	update_rest(first, UPDATE_MS);
	role_join_all(followers, FOLLOWERS);
	return 0;
}
