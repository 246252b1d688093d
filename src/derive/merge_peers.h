/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections between two hosts that are merged: who at the other end made a thread runnable that waited for data. Each
 * host has recorded its own socket; the addresses and ports of one are those of the other one, the other way round.
 *
 * Which connection it is, is certain. Who sent is inferred: sends that do not wait are not recorded, so it is taken to be the
 * thread that had data at the other end last; before there was any, the one that will wait for it first. A thread that
 * only sends there is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct merge_host;
struct merge_peers;
struct merge_source;

struct merge_peers *merge_peers_new(void);
void merge_peers_free(struct merge_peers *peers);

/* Data came to one end of a connection for which a thread waited there: by its host's own clock. */
struct arrival {
	uint64_t since_ns; /* when it began to wait; 0: not known */
	uint64_t time_ns;
};

struct arrivals {
	struct arrival *list; /* by time */
	size_t count, capacity;
};

/* All events of a source, as it has them, come here before the others are called. */
void merge_peers_learn(struct merge_peers *peers, const struct merge_source *source, const struct ev_header *header);

/* A thread begins to wait for a file; or, of a thread that polls, data has come to that. Numbers and names of the trace that is made. */
void merge_peers_wait(struct merge_peers *peers, uint32_t thread, uint64_t file);

/* Its wait ends: the thread at the other end that has sent, of another host; 0: there is none, or it is not known. */
uint32_t merge_peers_wake(struct merge_peers *peers, uint32_t thread);

/* Whether it was the network that ended a wait for a socket, and not a timer or a signal. */
bool merge_peers_is_arrival(const struct ev_sched_wake *e);

/* A connection in one direction: data goes from the first end to the second one. */
struct peer_ends {
	struct merge_host *hosts[2]; /* NULL: there is no further one */
	const struct arrivals *arrivals[2];
};

/* Each connection between two hosts in both directions: start with *cursor = 0. */
struct peer_ends merge_peers_next(const struct merge_peers *peers, size_t *cursor);

/* How many waits merge_peers_wake() has found a thread for. */
uint64_t merge_peers_count(const struct merge_peers *peers);
