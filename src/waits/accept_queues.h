/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many connections waited at the sockets at which traced processes listen, and how often the kernel dropped what came for a new
 * one: file.LISTENER, added up. Each event says how it was at one moment; drops are counted in between, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct accept_queues;
struct session;

struct accept_queue {
	uint64_t file;
	uint32_t pid;       /* a process that has it, the first one that was seen */
	uint32_t processes; /* that have it, the most at a time */
	uint32_t capacity;  /* of connections, at the end */
	uint32_t waiting_max;
	uint64_t looks, waiting_looks, full_looks; /* moments; at which one waited or more, and as many as can */
	uint64_t waiting_sum;                      /* of all looks */
	uint64_t drops;                            /* since the first look */
	/*
	 * Between two looks, when some were dropped, ns, but of each time not more than the 200 ms that pass at least until who connects
	 * tries again (TCP_RTO_MIN).
	 */
	uint64_t dropping_ns;
	/* The look that lasts: each process with the socket tells of it. */
	uint64_t look_ns;
	uint32_t look_pid, look_processes, drops_before;
};

/* Subscribes to session. */
struct accept_queues *accept_queues_new(struct session *session);
void accept_queues_free(struct accept_queues *queues);

/* Walks the queues: start with *cursor = 0; NULL ends the walk. */
const struct accept_queue *accept_queues_next(const struct accept_queues *queues, size_t *cursor);
