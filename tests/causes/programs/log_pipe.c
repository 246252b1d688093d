// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four threads write lines into a pipe under log_lock. The process at its other end, `shipper`, sleeps
 * for 20 ms after each 4 KB: the pipe is full, so that one thread waits for it and the others for the lock. Cured: it
 * does not sleep.
 * Known answer: `shipper`, which sleeps in ship_batch().
 */
#include "planted.h"

enum { THREADS = 4, BATCH_BYTES = 4096, LINE_BYTES = 128, HANDLE_US = 50, SHIP_MS = 20 };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static OWN_FRAME void ship_batch(void)
{
	if (!is_cured)
		sleep_ms(SHIP_MS);
}

static void run_shipper(void)
{
	char batch[BATCH_BYTES];

	close(ends[1]);
	while (read(ends[0], batch, sizeof(batch)) > 0)
		ship_batch();
}

static OWN_FRAME void log_line(void)
{
	char line[LINE_BYTES] = "handled\n";

	pthread_mutex_lock(&log_lock);
	if (write(ends[1], line, sizeof(line)) != sizeof(line))
		die("write");
	pthread_mutex_unlock(&log_lock);
}

static OWN_FRAME void handle_request(void)
{
	burn_us(HANDLE_US);
}

static void run(int number)
{
	for (number = 0;; number++) {
		handle_request();
		log_line();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	if (pipe(ends))
		die("pipe");
	role_fork("shipper", run_shipper);
	role_start_all(threads, THREADS, "request-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
