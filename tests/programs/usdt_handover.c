// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted tasks between two USDT probes, from thread to thread: a receiver hits handover:request_begin with the request's number, hands
 * the request over through a pipe, and an answerer hits handover:request_end. Each tenth request is answered after 10 ms of sleep.
 * Known answer: 100 executions, 10 of which wait in sleep_over().
 */
#include "roles.h"

#include <sys/sdt.h>

enum { REQUESTS = 100, SLOW_EACH = 10, SLOW_US = 10000 };

static int pipe_fds[2], done_fds[2];

OWN_FRAME void sleep_over(void)
{
	usleep(SLOW_US);
	__asm__ volatile("");
}

static void *answer_all(void *data)
{
	uint32_t request;

	pthread_setname_np(pthread_self(), "answerer");
	while (read(pipe_fds[0], &request, sizeof(request)) == sizeof(request)) {
		if (request % SLOW_EACH == 0)
			sleep_over();
		DTRACE_PROBE2(handover, request_end, request, (uint64_t)request * 100);
		if (write(done_fds[1], &request, sizeof(request)) != sizeof(request))
			abort();
	}
	return data;
}

int main(void)
{
	pthread_t thread;

	if (pipe(pipe_fds) || pipe(done_fds) || pthread_create(&thread, NULL, answer_all, NULL))
		return 1;
	pthread_setname_np(pthread_self(), "receiver");
	for (uint32_t request = 0; request < REQUESTS; request++) {
		uint32_t done;

		DTRACE_PROBE1(handover, request_begin, request);
		if (write(pipe_fds[1], &request, sizeof(request)) != sizeof(request) ||
		    read(done_fds[0], &done, sizeof(done)) != sizeof(done))
			return 1;
	}
	close(pipe_fds[1]);
	pthread_join(thread, NULL);
	return 0;
}
