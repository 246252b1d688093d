/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the clocks of other hosts beside this one's as clock.SAMPLE: of each, 10 times a second at first, then once a
 * second, the best of 8 exchanges. A process of its own asks, which would read its clock late if it did anything else.
 */
#pragma once

#include <stddef.h>

struct clock_watch;
struct session;

/*
 * addresses: HOST or HOST:PORT of pinch clocks --serve, count of them. 0, or a negative errno after a message: each of them must answer
 * once. Comes before there are threads.
 */
int clock_watch_open(const char *const *addresses, size_t count, struct clock_watch **out);

/* NULL is fine. */
void clock_watch_close(struct clock_watch *watch);

/* Hands out the samples that have come, except for those that are later than the session. To be called often. */
void clock_watch_step(struct clock_watch *watch, struct session *session);

/* Hands out all that has come. */
void clock_watch_finish(struct clock_watch *watch, struct session *session);
