// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted tasks that go from thread to thread: a receiver records request.BEGIN, hands the request over, and one of two answerers
 * computes, takes a lock in take_ledger(), and records request.END. An auditor has the lock for 20 ms in audit_ledger() now and
 * then: while it does, a request waits.
 * With an argument it records nothing until somebody else starts that.
 * Known answer: the slowest requests wait for the lock that audit_ledger() has; where they began, nothing says so.
 */
#include "roles.h"

#include <stdatomic.h>

#include "own_events.h"
#include "pinchtrace.h"

enum { REQUESTS = 120, AUDIT_EACH = 20, AUDIT_US = 20000, QUEUE = 256 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER, audit_wanted = PTHREAD_COND_INITIALIZER;
static uint32_t queue[QUEUE], put_count, taken_count;
static int audits_wanted;
static atomic_int audits_begun;

static void spend(unsigned count)
{
	volatile uint64_t sink;
	uint64_t x = count;

	for (unsigned i = 0; i < count * 100; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	sink = x;
	(void)sink;
}

OWN_FRAME void take_ledger(void)
{
	pthread_mutex_lock(&ledger_lock);
	spend(200);
	pthread_mutex_unlock(&ledger_lock);
	__asm__ volatile("");
}

static void answer(uint32_t request)
{
	struct ev_request_step step = { .request = request, .part = 1, .what = "ledger" };
	struct ev_request_end end = { .request = request, .bytes = 100ull * request };

	spend(2000);
	trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_STEP, request, &step);
	take_ledger();
	trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_END, request, &end);
}

static void *answer_all(void *data)
{
	uint32_t request;

	pthread_setname_np(pthread_self(), "answerer");
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (taken_count == put_count && put_count < REQUESTS)
			pthread_cond_wait(&queue_filled, &queue_lock);
		if (taken_count == put_count) {
			pthread_mutex_unlock(&queue_lock);
			return data;
		}
		request = queue[taken_count++ % QUEUE];
		pthread_mutex_unlock(&queue_lock);
		answer(request);
	}
}

OWN_FRAME void audit_ledger(void)
{
	pthread_mutex_lock(&ledger_lock);
	atomic_fetch_add(&audits_begun, 1);
	usleep(AUDIT_US);
	pthread_mutex_unlock(&ledger_lock);
	__asm__ volatile("");
}

static void *audit(void *data)
{
	pthread_setname_np(pthread_self(), "auditor");
	for (int done = 0; done < REQUESTS / AUDIT_EACH; done++) {
		pthread_mutex_lock(&queue_lock);
		while (audits_wanted <= done)
			pthread_cond_wait(&audit_wanted, &queue_lock);
		pthread_mutex_unlock(&queue_lock);
		audit_ledger();
	}
	return data;
}

static void receive(uint32_t request)
{
	if (request % AUDIT_EACH == AUDIT_EACH / 2) {
		pthread_mutex_lock(&queue_lock);
		audits_wanted++;
		pthread_cond_signal(&audit_wanted);
		pthread_mutex_unlock(&queue_lock);
		while (atomic_load(&audits_begun) < audits_wanted)
			usleep(100);
	}
	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_BEGIN, request);
	pthread_mutex_lock(&queue_lock);
	queue[put_count % QUEUE] = request;
	put_count++;
	if (put_count == REQUESTS)
		pthread_cond_broadcast(&queue_filled);
	else
		pthread_cond_signal(&queue_filled);
	pthread_mutex_unlock(&queue_lock);
	usleep(2000);
}

int main(int argc, char **argv)
{
	pthread_t answerers[2], auditor;

	(void)argv;
	if (trace_register(TRACE_DEFS_JSON))
		return 1;
	/* Armed: with an event that never comes. */
	if (argc > 1)
		trace_set_triggers(TRACE_SUBSYS_COUNT, TRACE_EVENT_COUNT_ALL, TRACE_NO_EVENT, 0, 0, 0, TRACE_ONE_SHOT);
	for (int i = 0; i < 2; i++)
		pthread_create(&answerers[i], NULL, answer_all, NULL);
	pthread_create(&auditor, NULL, audit, NULL);
	pthread_setname_np(pthread_self(), "receiver");
	for (uint32_t i = 0; i < REQUESTS; i++)
		receive(i);
	for (int i = 0; i < 2; i++)
		pthread_join(answerers[i], NULL);
	pthread_join(auditor, NULL);
	return 0;
}
