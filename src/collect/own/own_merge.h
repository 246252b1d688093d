/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many runs of events, each in the order of time, as one stream of a session in that order, however long the runs are. What may still
 * have something before it is kept.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct own_merge;
struct own_run;
struct session;

/* Borrows the session. */
struct own_merge *own_merge_new(struct session *session, unsigned int stream);
void own_merge_free(struct own_merge *merge);

/* A run is the merge's; once it has ended nothing may be added, and it goes when its last event does. */
struct own_run *own_merge_begin(struct own_merge *merge);
void own_merge_end(struct own_run *run);

/* Copies an event, well-formed and not earlier than the run's last one. */
void own_merge_add(struct own_merge *merge, struct own_run *run, const void *event, size_t size_bytes);

/*
 * Pushes all up to until_ns, by time, and run by run where times are equal. Returns until when that is done: until_ns, or less if the
 * session has no space.
 */
uint64_t own_merge_push(struct own_merge *merge, uint64_t until_ns);

/* Of what is kept. */
uint64_t own_merge_bytes(const struct own_merge *merge);
uint64_t own_merge_count(const struct own_merge *merge);
