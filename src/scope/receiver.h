/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's end of a scope: receives a trace and writes it somewhere, as it is. What comes is checked by who reads
 * the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct receiver_options {
	const char *address;    /* tcp:, tls: or unix:; borrowed as long as there is a receiver, like the others */
	const char *ca, *token; /* files; NULL: the system's CAs, no token */
	uint64_t duration_ns;   /* then its trace shall end; 0: with the scope's */
	bool is_quiet;          /* nothing is said but what went wrong */
};

struct receiver;

/* Whether the address can be one, and the secrets are for it. 0, or -EINVAL after a message. */
int receiver_check(const struct receiver_options *options);

/* Connects. 0 or a negative errno, after a message. */
int receiver_open(const struct receiver_options *options, struct receiver **out);
void receiver_close(struct receiver *receiver);

/* Its connected socket; borrowed. */
int receiver_socket(const struct receiver *receiver);

/*
 * Receives to the end of the trace, until duration_ns has passed or a signal comes (SIGINT, SIGTERM, SIGHUP): then the
 * scope is asked to end it. A second signal ends it at once. What came is written to fd. 0 also when it has no end, or
 * a negative errno, after a message.
 */
int receiver_take(struct receiver *receiver, int fd);

/* Connects, receives and closes. */
int receiver_run(const struct receiver_options *options, int fd);

/* Writes all of what came, however long it takes. 0 or a negative errno, after a message. */
int receiver_write(int fd, const char *bytes, size_t size_bytes);
