// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * changed_code SHAPE [HOT [COLD [SIZE]]]		(100, 100, 10)
 * Programs of which a function is changed: hot() does HOT percent of its work, cold() COLD percent. So what
 * pinch whatif predicts of the code can be compared with what it really does.
 * Prints how much work it did, which takes as long as a CPU is fast.
 * Known answer: to shorten hot() by half is the same as to run the shape with 50.
 *	queue		a producer and a consumer with a queue of SIZE items; hot() makes an item
 *	histogram	two threads count; hot() is what is done with each number
 *	kmeans		four threads meet at turn_barrier after each turn; the first has four parts, in hot()
 *	compressor	three threads pack blocks, and one after the other writes them in hot()
 *	matrix		three threads have a part each; hot() is a row, and the last one has twice as many
 */
#include "changed_work.h"

/* About 0.6 s each: a kernel stops what has real-time priority and computes for 0.95 s of a second. */
enum { ITEMS = 6000, NUMBERS = 3000, TURNS = 900, BLOCKS = 240, ROWS = 700, UNIT = 1000 };

static unsigned size = 10;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static unsigned queued; /* owned by lock */
static pthread_barrier_t turn_barrier;

/* --- Shapes ------------------------------------------------------------------------------------ */

static void put_item(void)
{
	pthread_mutex_lock(&lock);
	while (queued == size)
		pthread_cond_wait(&not_full, &lock);
	queued++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

static void take_item(void)
{
	pthread_mutex_lock(&lock);
	while (!queued)
		pthread_cond_wait(&not_empty, &lock);
	queued--;
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
}

static void use_queue(int number)
{
	for (int i = 0; i < ITEMS; i++)
		if (number) {
			take_item();
			cold(UNIT / 8);
		} else {
			hot(UNIT / 2);
			put_item();
		}
}

static void count_numbers(int number)
{
	(void)number;
	for (int i = 0; i < NUMBERS; i++) {
		cold(UNIT / 2);
		hot(UNIT);
	}
}

static void turn(int number)
{
	for (int i = 0; i < TURNS; i++) {
		if (number)
			cold(UNIT);
		else
			hot(4 * UNIT);
		pthread_barrier_wait(&turn_barrier);
	}
}

static void pack_blocks(int number)
{
	(void)number;
	for (int i = 0; i < BLOCKS; i++) {
		cold(4 * UNIT);
		pthread_mutex_lock(&lock);
		hot(6 * UNIT);
		pthread_mutex_unlock(&lock);
	}
}

static void multiply_part(int number)
{
	for (int i = 0; i < (number == 2 ? 2 * ROWS : ROWS); i++)
		hot(2 * UNIT);
	cold(ROWS * UNIT);
}

/* clang-format off */
static const struct shape {
	const char *name;
	void (*run)(int number);
	int count;
} shapes[] = {
	{ "queue", use_queue, 2 }, { "histogram", count_numbers, 2 }, { "kmeans", turn, 4 },
	{ "compressor", pack_blocks, 3 }, { "matrix", multiply_part, 3 },
};
/* clang-format on */

int main(int argc, char **argv)
{
	struct role roles[4];

	if (argc > 2)
		hot_percent = atoi(argv[2]);
	if (argc > 3)
		cold_percent = atoi(argv[3]);
	if (argc > 4)
		size = atoi(argv[4]);
	for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[1], shapes[i].name)) {
			pthread_barrier_init(&turn_barrier, NULL, shapes[i].count);
			role_start_all(roles, shapes[i].count, "part-%d", shapes[i].run);
			role_join_all(roles, shapes[i].count);
			printf("%lu\n", spent);
			return 0;
		}
	fprintf(stderr, "Usage: changed_code SHAPE [HOT [COLD [SIZE]]]\n");
	return 2;
}
