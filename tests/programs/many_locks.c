// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Extreme: 100 000 mutexes on the heap, or as many as the first argument says, each of them waited
 * for once. The thread `giver` (main) holds one, takes the next, gives the first one back, and looks
 * on until `taker` sleeps on the one that it has taken.
 * Known answer: `taker` waits that many times in take_next(), for as many locks, each of which
 * `giver` gives back in give_next().
 */
#include "roles.h"
#include <sched.h>

enum { LOCKS = 100000 };

struct item {
	pthread_mutex_t lock;
	long value; /* owned by lock */
};

static struct item **items;
static long item_count = LOCKS;

static struct item *new_item(void)
{
	struct item *item = (struct item *)calloc(1, sizeof(*item));

	if (!item)
		die("calloc");
	pthread_mutex_init(&item->lock, NULL);
	return item;
}

static OWN_FRAME void take_next(struct item *item)
{
	pthread_mutex_lock(&item->lock);
	item->value++;
	pthread_mutex_unlock(&item->lock);
}

static OWN_FRAME void give_next(struct item *item, struct item *next)
{
	if (next)
		pthread_mutex_lock(&next->lock);
	pthread_mutex_unlock(&item->lock);
}

static void take_all(int number)
{
	(void)number;
	for (long i = 0; i < item_count; i++)
		take_next(items[i]);
}

/* The kernel tells arguments of those only that have left their CPU. */
static void await_asleep(int fd, const struct item *item)
{
	for (;;) {
		char text[256], *end;
		ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

		if (length <= 0)
			die("/proc/TID/syscall");
		text[length] = 0;
		if (strtol(text, &end, 10) == SYS_futex && end > text &&
		    strtoull(end, NULL, 16) == (uintptr_t)&item->lock)
			return;
		sched_yield();
	}
}

int main(int argc, char **argv)
{
	struct role taker;
	char path[64];
	int fd;

	if (argc > 1)
		item_count = atol(argv[1]);
	items = (struct item **)calloc(item_count, sizeof(*items));
	if (!items)
		die("calloc");
	for (long i = 0; i < item_count; i++)
		items[i] = new_item();
	role_name_self("giver");
	pthread_mutex_lock(&items[0]->lock);
	role_start(&taker, "taker", take_all, 0);
	while (!__atomic_load_n(&taker.tid, __ATOMIC_SEQ_CST))
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", taker.tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	for (long i = 0; i < item_count; i++) {
		await_asleep(fd, items[i]);
		give_next(items[i], i + 1 < item_count ? items[i + 1] : NULL);
	}
	role_join_all(&taker, 1);
	return 0;
}
