// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: one thread decodes frames for 5 ms each, three threads draw them for 1 ms each: the queue between
 * is empty. Cured: two threads decode.
 * Known answer: decode_frame().
 */
#include "planted.h"

enum { DRAWERS = 3, DECODE_US = 5000, DRAW_US = 1000, CAPACITY = 64 };

static pthread_mutex_t frames_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t frame_added = PTHREAD_COND_INITIALIZER, frame_taken = PTHREAD_COND_INITIALIZER;
static int frames; /* owned by frames_lock */

static OWN_FRAME void decode_frame(void)
{
	burn_us(DECODE_US);
}

static OWN_FRAME void draw_frame(void)
{
	burn_us(DRAW_US);
}

static OWN_FRAME void add_frame(void)
{
	pthread_mutex_lock(&frames_lock);
	while (frames == CAPACITY)
		pthread_cond_wait(&frame_taken, &frames_lock);
	frames++;
	pthread_cond_signal(&frame_added);
	pthread_mutex_unlock(&frames_lock);
}

static OWN_FRAME void take_frame(void)
{
	pthread_mutex_lock(&frames_lock);
	while (!frames)
		pthread_cond_wait(&frame_added, &frames_lock);
	frames--;
	pthread_cond_signal(&frame_taken);
	pthread_mutex_unlock(&frames_lock);
}

static void run_decoder(int number)
{
	for (number = 0;; number++) {
		decode_frame();
		add_frame();
	}
}

static void run_drawer(int number)
{
	for (number = 0;; number++) {
		take_frame();
		draw_frame();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role drawers[DRAWERS], decoders[2];

	planted_open(argc, argv);
	role_start_all(drawers, DRAWERS, "drawer-%d", run_drawer);
	role_start_all(decoders, 1 + is_cured, "decoder-%d", run_decoder);
	role_join_all(drawers, DRAWERS);
	return 0;
}
