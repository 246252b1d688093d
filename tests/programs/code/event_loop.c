// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread waits for three sources of events and calls a function for each; another one makes the events.
 * Known answer: on_query() leads, before on_upload() and on_ping().
 */
#include "code_log.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { ON_PING, ON_UPLOAD, ON_QUERY, MAKE_EVENT, SOURCES = 3 };

static const char *const names[] = { "on_ping", "on_upload", "on_query", "make_event", NULL };

static int sources[SOURCES];
static bool is_over; /* atomic */

WORK(on_ping, ON_PING)
WORK(on_upload, ON_UPLOAD)
WORK(on_query, ON_QUERY)
WORK(make_event, MAKE_EVENT)

static void on_event(uint32_t source)
{
	eventfd_t count;

	if (eventfd_read(sources[source], &count))
		die("eventfd");
	if (source == 0)
		on_ping(40);
	else if (source == 1)
		on_upload(350);
	else
		on_query(900);
}

static void run_loop(int number)
{
	int poll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };

	(void)number;
	for (int i = 0; i < SOURCES; i++) {
		event.data.u32 = i;
		epoll_ctl(poll, EPOLL_CTL_ADD, sources[i], &event);
	}
	while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST) && epoll_wait(poll, &event, 1, -1) == 1)
		on_event(event.data.u32);
	close(poll);
}

static void run_maker(int number)
{
	(void)number;
	for (unsigned i = 0; log_is_time(); i++) {
		make_event(100);
		eventfd_write(sources[i % SOURCES], 1);
		pause_us(1000);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
	eventfd_write(sources[0], 1);
}

int main(int argc, char **argv)
{
	struct role loop, maker;

	log_open(argc, argv, names);
	for (int i = 0; i < SOURCES; i++)
		sources[i] = eventfd(0, EFD_CLOEXEC);
	role_start(&loop, "loop", run_loop, 0);
	role_start(&maker, "maker", run_maker, 0);
	role_join_all(&maker, 1);
	role_join_all(&loop, 1);
	return 0;
}
