/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several scopes' traces at once: each is received by a process of its own, so that none waits for another one, while a
 * further process asks its host's clock. They end together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_readings;
struct receiver_options;
struct spool;

struct received {
	const struct receiver_options *options; /* borrowed; the duration does not count */
	struct spool *spool;                    /* what came, to be closed by the caller */
	bool has_failed;                        /* nothing came, or not all: that was said */
};

/*
 * Receives count traces to their ends, for duration_ns (0: however long that is), or until a signal (SIGINT, SIGTERM, SIGHUP): then
 * all scopes are asked to end them. A second signal ends it at once. *clocks: what was read of the scopes'
 * hosts; its list is the caller's to free. 0, whatever came, or a negative errno, after a message.
 */
int receivers_run(struct received *list, size_t count, uint64_t duration_ns, struct clock_readings *clocks);
