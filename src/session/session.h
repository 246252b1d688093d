/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session puts the events of several streams in time order and hands each one to every
 * handler that asked for its kind. Providers push; handlers never learn where from.
 *
 * Owns: the order of events, their kinds, and who is who.
 * Used by: any folder above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct session;

/*
 * What an analysis wants to hear of; a list ends with { 0, NULL }. The event is borrowed:
 * valid, aligned to 8 bytes and complete (its size was checked) until on_event returns.
 */
struct event_handler {
	enum event_id id;
	void (*on_event)(void *data, const struct ev_header *header);
};

/* pending_bytes_max bounds what the streams may hold back; see session_push(). */
struct session *session_new(unsigned int stream_count, size_t pending_bytes_max);
void session_free(struct session *session);

/* Handlers of one kind are called in the order in which they subscribed. */
void session_subscribe(struct session *session, const struct event_handler *handlers, void *data);

bool session_has_handlers(const struct session *session, enum event_id id);

/*
 * Copies one event of a stream. A stream is in time order except for neighbours that an
 * interrupt swapped. -EBADMSG: unknown kind or wrong size, the event is counted and dropped.
 * -ENOSPC: the bound is reached; the caller must advance first. While others are delivered it
 * waits for the end of that, as if it came then.
 */
int session_push(struct session *session, unsigned int stream, const void *event, size_t size_bytes);

/*
 * The provider vouches that no event before until_ns will come any more: all earlier ones
 * are delivered, by time, and by stream number where times are equal. An event that comes
 * too late nevertheless is delivered with the next advance, and counted.
 */
void session_advance(struct session *session, uint64_t until_ns);

/* Delivers all that is left. */
void session_finish(struct session *session);

/*
 * Hands an event out at once, well-formed and not earlier than the one that was delivered last: for
 * handlers to which one event says what another should have said, and for what is read elsewhere.
 */
void session_hand_out(struct session *session, const struct ev_header *header);

/* The time of the last event delivered, 0 before any. */
uint64_t session_time_ns(const struct session *session);

struct session_counts {
	uint64_t delivered, malformed, late;
	uint64_t pushed_bytes; /* of all events that were taken */
	size_t pending_bytes, pending_bytes_peak;
};

struct session_counts session_counts(const struct session *session);
