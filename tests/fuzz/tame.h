/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arbitrary events are made to be about the same few things, so that they meet. */
#pragma once

#include <string.h>
#include <sys/socket.h>

#include "events.h"
#include "values.h"

static inline void tame_switch(struct ev_sched_switch *e)
{
	e->next %= 16;
	e->state %= 5;
	e->cpu %= 4;
	e->stack %= 8;
	e->object %= 4;
}

static inline void tame_wake(struct ev_sched_wake *e)
{
	e->waker %= 16;
	e->tid %= 32;
	e->pid %= 8;
	e->context %= 4;
	e->object %= 4;
	e->stack %= 8;
	e->wait_stack %= 8;
}

static inline void tame_found(struct ev_thread_found *e)
{
	e->tid %= 32;
	e->pid %= 8;
	e->phase %= 5;
	e->cpu %= 4;
	e->object %= 4;
}

static inline void tame_lock_wait(struct ev_klock_wait *e)
{
	e->begin_ns %= 1ull << 40;
	e->lock %= 4;
	e->tid %= 32;
	e->owner %= 32;
	e->context %= 4;
	e->kind %= KLOCK_KINDS + 1;
	e->stack %= 8;
	e->owner_stack %= 8;
}

static inline void tame_lock(struct ev_klock_lock *e)
{
	e->lock %= 4;
	e->pid %= 8;
	e->object %= KLOCK_OBJECTS + 1;
	e->offset %= 1024;
}

/* Both ends of a connection meet. */
static inline void tame_socket(struct ev_file_socket *e)
{
	e->file %= 4;
	e->family = AF_INET;
	e->local_port %= 2;
	e->peer_port %= 2;
	memset(e->local + 1, 0, sizeof(e->local) - 1);
	memset(e->peer + 1, 0, sizeof(e->peer) - 1);
	e->local[0] %= 2;
	e->peer[0] %= 2;
	e->peer_pid %= 8;
}

/* Few threads, stacks and objects; times that a run may have. */
static inline void tame(struct ev_header *header)
{
	header->thread %= 16;
	header->time_ns %= 1ull << 40;
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		tame_switch((struct ev_sched_switch *)header);
		break;
	case EV_SCHED_WAKE:
		tame_wake((struct ev_sched_wake *)header);
		break;
	case EV_THREAD_FOUND:
		tame_found((struct ev_thread_found *)header);
		break;
	case EV_THREAD_BORN:
		((struct ev_thread_born *)header)->tid %= 32;
		((struct ev_thread_born *)header)->pid %= 8;
		break;
	case EV_THREAD_OTHER:
		((struct ev_thread_other *)header)->tid %= 32;
		((struct ev_thread_other *)header)->pid %= 8;
		break;
	case EV_THREAD_WAITS:
		((struct ev_thread_waits *)header)->stack %= 8;
		break;
	case EV_FILE_SOCKET:
		tame_socket((struct ev_file_socket *)header);
		break;
	case EV_STACK_FRAMES:
		((struct ev_stack_frames *)header)->stack %= 8;
		break;
	case EV_KLOCK_WAIT:
		tame_lock_wait((struct ev_klock_wait *)header);
		break;
	case EV_KLOCK_LOCK:
		tame_lock((struct ev_klock_lock *)header);
		break;
	case EV_SPACE_MAP:
	case EV_SPACE_FOUND:
		((struct ev_space_map *)header)->pid %= 8;
		break;
	}
}
