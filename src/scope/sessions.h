/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All sessions of this machine, as a reader of theirs has them: they are found when they come, and what each sends goes into a file
 * without a name, which is merged with the others as it grows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_merge;
struct pollfd;
struct sessions;

/* Borrows the merge. */
struct sessions *sessions_new(struct live_merge *merge);
void sessions_free(struct sessions *sessions);

/* Connects to those that are new. Not too often: the kernel's list of sockets is read. */
void sessions_find(struct sessions *sessions);

/* Takes what has come. */
void sessions_take(struct sessions *sessions, uint64_t now_ns);

/* Whether one that was found has not said yet what a trace says first; not of one that has taken too long for that. */
bool sessions_are_awaited(const struct sessions *sessions, uint64_t now_ns);

/* Asks all for the ends of their traces, and finds no more. */
void sessions_end(struct sessions *sessions, uint64_t now_ns);

/* Whether all have come to their ends, or to what is taken for it. */
bool sessions_have_ended(const struct sessions *sessions, uint64_t now_ns);

/* Their sockets, SESSIONS_POLLED_MAX at most. Returns how many. */
enum { SESSIONS_POLLED_MAX = 64 };
size_t sessions_poll(const struct sessions *sessions, struct pollfd *poll_fds);
