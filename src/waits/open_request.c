/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/open_request.h"

#include <sys/syscall.h>

#include "waits/file_calls.h"
#include "waits/files.h"

enum role {
	ROLE_OTHER,
	ROLE_TAKES,  /* it waits for requests */
	ROLE_ASKS,   /* it waits for the answer to its own */
	ROLE_SLEEPS, /* for as long as it said */
	ROLE_STAYS,  /* in the handler of an event loop, for something that this has started */
	ROLE_JOINS,  /* for another thread of its process, which may have a job for it */
};

/* Used as a sleep with a finer unit. */
static bool polls_nothing(const struct wait_facts *facts)
{
	switch (facts->syscall) {
	case SYS_poll:
	case SYS_ppoll:
		return !facts->value;
	case SYS_select:
	case SYS_pselect6:
		return !facts->object;
	default:
		return false;
	}
}

static enum role role_of(const struct request_wait *wait)
{
	bool is_writing = file_waited_direction(wait->facts) == FILE_WRITING;

	switch (wait->cause) {
	case CAUSE_SOCKET:
		if (is_writing)
			return ROLE_OTHER;
		return wait->file && !wait->file->is_server ? ROLE_ASKS : ROLE_TAKES;
	case CAUSE_POLL:
		if (polls_nothing(wait->facts))
			return ROLE_SLEEPS;
		return wait->is_in_iteration ? ROLE_STAYS : ROLE_TAKES;
	case CAUSE_PIPE:
		if (is_writing)
			return ROLE_OTHER;
		return wait->is_in_iteration ? ROLE_STAYS : ROLE_TAKES;
	case CAUSE_SLEEP:
		return wait_has_file(wait->facts) ? ROLE_TAKES : ROLE_SLEEPS;
	case CAUSE_CONDITION:
	case CAUSE_SEMAPHORE:
		return wait_has_futex(wait->facts) ? ROLE_JOINS : ROLE_OTHER;
	default:
		return ROLE_OTHER;
	}
}

/* A condition of glibc's has two words, used by turns. */
static bool is_near(uint64_t object, uint64_t other)
{
	enum { WORDS_APART = 4 };

	return object && object + WORDS_APART - other <= 2 * WORDS_APART;
}

static bool is_at(const struct request_place *place, const struct request_wait *wait)
{
	return (wait->stack && wait->stack == place->stack) || is_near(place->object, wait->facts->object);
}

static struct request_place place_of(const struct request_wait *wait)
{
	return (struct request_place){ wait->stack, wait->facts->object };
}

/* Whether a condition or descriptors were waited for until a limit, elsewhere than jobs are: as a sleep. As long as that is not known, it is not. */
static bool is_sleep_elsewhere(const struct open_request *request, const struct request_wait *wait)
{
	if (wait->cause == CAUSE_POLL && !request->taken.stack)
		return false;
	return wait->kind == WAKER_TIMER && wait->stack && !wait->is_repeated && !is_at(&request->taken, wait);
}

bool open_request_is_delayed(const struct open_request *request, const struct request_wait *wait)
{
	if (!request->is_open || wait->is_by_thread)
		return false;
	switch (role_of(wait)) {
	case ROLE_ASKS:
		return wait->kind == WAKER_TIMER;
	case ROLE_SLEEPS:
	case ROLE_STAYS:
		return !is_at(&request->slept, wait);
	case ROLE_TAKES:
		if (wait->cause != CAUSE_POLL)
			return false;
		/* fallthrough */
	case ROLE_JOINS:
		return is_sleep_elsewhere(request, wait) && !is_at(&request->slept, wait);
	default:
		return false;
	}
}

bool open_request_is_sleep(const struct request_wait *wait)
{
	enum role role = role_of(wait);

	return role == ROLE_SLEEPS || (role == ROLE_JOINS && wait->kind == WAKER_TIMER);
}

static bool brings_request(const struct request_wait *wait)
{
	switch (wait->kind) {
	case WAKER_NETWORK:
	case WAKER_PROCESS:
		return true;
	case WAKER_THREAD:
		return wait->is_job;
	default:
		return false;
	}
}

static void open_at(struct open_request *request, const struct request_wait *wait)
{
	*request = (struct open_request){ .is_open = true, .taken = place_of(wait) };
}

/* Who sleeps at one place twice, without anything new to do in between, only ticks. */
static void sleep_at(struct open_request *request, const struct request_wait *wait)
{
	if (is_at(&request->slept, wait))
		request->is_open = false;
	request->slept = place_of(wait);
}

bool open_request_is_brought(const struct open_request *request, const struct request_wait *wait)
{
	return role_of(wait) == ROLE_JOINS && wait->is_by_thread && wait->is_job &&
	       (!request->is_open || is_at(&request->taken, wait));
}

/* Where others end waits, too, it does not sleep. */
static void end_on_futex(struct open_request *request, const struct request_wait *wait)
{
	if (wait->is_by_thread) {
		if (is_at(&request->slept, wait))
			request->slept = (struct request_place){ 0 };
		if (open_request_is_brought(request, wait))
			open_at(request, wait);
	} else if (is_sleep_elsewhere(request, wait)) {
		sleep_at(request, wait);
	} else if (wait->kind == WAKER_TIMER && is_at(&request->taken, wait)) {
		request->is_open = false;
	}
}

void open_request_end_wait(struct open_request *request, const struct request_wait *wait)
{
	switch (role_of(wait)) {
	case ROLE_TAKES:
		if (wait->cause == CAUSE_POLL && request->is_open && is_sleep_elsewhere(request, wait)) {
			sleep_at(request, wait);
			break;
		}
		request->is_open = false;
		if (brings_request(wait))
			open_at(request, wait);
		break;
	case ROLE_SLEEPS:
		sleep_at(request, wait);
		break;
	case ROLE_STAYS:
		if (!wait->is_by_thread)
			sleep_at(request, wait);
		break;
	case ROLE_JOINS:
		end_on_futex(request, wait);
		break;
	default:
		break;
	}
}

void open_request_inherit(struct open_request *request, const struct open_request *parent)
{
	*request = (struct open_request){ .is_open = parent->is_open };
}
