// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `flusher` (main) has page_lock for 600 ms, in which it sleeps in flush_pages(), or
 * computes there if there is an argument. `writer`, which has answer_lock, waits for that in write_page(), and four threads,
 * `client-0` to `client-3`, wait for answer_lock in ask().
 * Known answer: the cause of all of it is what flush_pages() does; the two locks are its symptoms.
 */
#include "roles.h"

#include <stdbool.h>

enum { CLIENTS = 4, FLUSH_MS = 600 };

static pthread_mutex_t page_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int pages;   /* owned by page_lock */
static volatile int answers; /* owned by answer_lock */
static bool does_compute;

static OWN_FRAME void ask(void)
{
	pthread_mutex_lock(&answer_lock);
	answers++;
	pthread_mutex_unlock(&answer_lock);
}

/* What those did who have ended is not known: all stay until everybody has asked. */
static void ask_and_stay(int number)
{
	(void)number;
	ask();
	while (answers < CLIENTS)
		sleep_ms(5);
}

static OWN_FRAME void write_page(void)
{
	pthread_mutex_lock(&page_lock);
	pages++;
	pthread_mutex_unlock(&page_lock);
}

static void answer(int number)
{
	(void)number;
	pthread_mutex_lock(&answer_lock);
	write_page();
	pthread_mutex_unlock(&answer_lock);
}

static OWN_FRAME void flush_pages(void)
{
	if (does_compute)
		compute_ms(FLUSH_MS);
	else
		sleep_ms(FLUSH_MS);
}

int main(int argc, char **argv)
{
	struct role writer, clients[CLIENTS];

	(void)argv;
	does_compute = argc > 1;
	role_name_self("flusher");
	pthread_mutex_lock(&page_lock);
	role_start_all(&writer, 1, "writer", answer);
	role_await_all(&writer, 1, SYS_futex);
	role_start_all(clients, CLIENTS, "client-%d", ask_and_stay);
	role_await_all(clients, CLIENTS, SYS_futex);
	flush_pages();
	pthread_mutex_unlock(&page_lock);
	role_join_all(clients, CLIENTS);
	role_join_all(&writer, 1);
	return 0;
}
