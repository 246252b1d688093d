// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After PARSEC's streamcluster, as GAPP's paper describes it: points of a stream are assigned to medians. Again and
 * again a point is tried as a new median: each thread adds up what its part of the points would gain, all meet at a
 * barrier, one decides, and they meet again.
 * Known answer: dist(), in pgain(), leads, and most of the waiting is in parsec_barrier_wait(), for dist().
 */
#include "code_log.h"

enum { PGAIN, DECIDE };

static const char *const names[] = { "pgain", "decide", NULL };

enum { CLUSTERERS = 4, POINTS = 16000, DIMS = 64, MEDIAN_COST = 64000, SPINS = 350 };

struct point {
	float place[DIMS];
	float cost; /* its distance to its median */
	int median;
};

/* As the original one has it: who comes early looks for a moment, and sleeps then. */
struct parsec_barrier {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned turn, count; /* turn: atomic, changed under lock */
};

static struct parsec_barrier barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
static struct point points[POINTS]; /* each is changed by the thread of its part */
static float gains[CLUSTERERS];     /* each is written by its thread, read between two barriers */
/* Changed by the first thread between two barriers: the candidate becomes a median; it was the last one. */
static bool is_open, is_over;

static void parsec_barrier_wait(void)
{
	unsigned turn;

	pthread_mutex_lock(&barrier.lock);
	turn = barrier.turn;
	if (++barrier.count == CLUSTERERS) {
		barrier.count = 0;
		__atomic_store_n(&barrier.turn, turn + 1, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&barrier.changed);
		pthread_mutex_unlock(&barrier.lock);
		return;
	}
	pthread_mutex_unlock(&barrier.lock);
	for (int i = 0; i < SPINS; i++)
		if (__atomic_load_n(&barrier.turn, __ATOMIC_ACQUIRE) != turn)
			return;
	pthread_mutex_lock(&barrier.lock);
	while (barrier.turn == turn)
		pthread_cond_wait(&barrier.changed, &barrier.lock);
	pthread_mutex_unlock(&barrier.lock);
}

static float dist(const struct point *a, const struct point *b)
{
	float sum = 0;

	for (int i = 0; i < DIMS; i++)
		sum += (a->place[i] - b->place[i]) * (a->place[i] - b->place[i]);
	return sum;
}

static OWN_FRAME void decide(void)
{
	float gain = -MEDIAN_COST;

	log_enter(DECIDE);
	for (int i = 0; i < CLUSTERERS; i++)
		gain += gains[i];
	is_open = gain > 0;
	is_over = !log_is_time();
	log_leave();
	__asm__ volatile("" : : : "memory");
}

/* What would be gained if that point were a median, too; and it becomes one if that is enough. */
static OWN_FRAME void pgain(int candidate, int number)
{
	int begin = number * (POINTS / CLUSTERERS), end = begin + POINTS / CLUSTERERS;
	float gain = 0;

	log_enter(PGAIN);
	for (int i = begin; i < end; i++) {
		float cost = dist(&points[i], &points[candidate]);

		if (cost < points[i].cost)
			gain += points[i].cost - cost;
	}
	gains[number] = gain;
	parsec_barrier_wait();
	if (number == 0)
		decide();
	parsec_barrier_wait();
	for (int i = begin; is_open && i < end; i++) {
		float cost = dist(&points[i], &points[candidate]);

		if (cost < points[i].cost) {
			points[i].cost = cost;
			points[i].median = candidate;
		}
	}
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static void *localSearchSub(void *data)
{
	int number = (int)(intptr_t)data;
	unsigned state = 1;

	while (!is_over) {
		state = state * 1664525 + 1013904223; /* all of them try the same ones */
		pgain((state >> 8) % POINTS, number);
	}
	return NULL;
}

static void draw_points(void)
{
	unsigned state = 7;

	for (int i = 0; i < POINTS; i++) {
		for (int k = 0; k < DIMS; k++) {
			state = state * 1664525 + 1013904223;
			points[i].place[k] = i % 10 * (k % 7) + (state >> 8) % 100 / 100.0f;
		}
		points[i].cost = dist(&points[i], &points[0]);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[CLUSTERERS];

	log_open(argc, argv, names);
	draw_points();
	for (intptr_t i = 0; i < CLUSTERERS; i++)
		if (pthread_create(&threads[i], NULL, localSearchSub, (void *)i))
			die("pthread_create");
	for (int i = 0; i < CLUSTERERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
