// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thousand threads of about a millisecond each, or more if there is time, three at once. Known answer:
 * serve_request() has most of the CPU time, but accept_request(), of the one that creates them, leads: nobody
 * else runs meanwhile.
 */
#include "code_log.h"

enum { SERVE_REQUEST, LOG_REQUEST, ACCEPT_REQUEST, AT_ONCE = 3, THREADS_MIN = 1000 };

static const char *const names[] = { "serve_request", "log_request", "accept_request", NULL };

WORK(serve_request, SERVE_REQUEST)
WORK(log_request, LOG_REQUEST)
WORK(accept_request, ACCEPT_REQUEST)

static void run(int number)
{
	(void)number;
	serve_request(700);
	log_request(250);
}

int main(int argc, char **argv)
{
	struct role threads[AT_ONCE];

	log_open(argc, argv, names);
	for (int i = 0; i < THREADS_MIN || log_is_time(); i += AT_ONCE) {
		accept_request(1000);
		role_start_all(threads, AT_ONCE, "request-%d", run);
		role_join_all(threads, AT_ONCE);
	}
	return 0;
}
