/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connected socket that is never waited for, with or without TLS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct connection;
struct tls;

/* Takes the socket; tls is borrowed, NULL: without. NULL, after the socket is closed: TLS cannot begin. */
struct connection *connection_new(int fd, const struct tls *tls);
void connection_free(struct connection *connection);

int connection_fd(const struct connection *connection);

/* Both sides agree on keys. 0, -EAGAIN: it goes on, or another negative errno. Without TLS it is done at once. */
int connection_greet(struct connection *connection);

/* How many bytes went; -EAGAIN: none for now; or another negative errno. */
ssize_t connection_send(struct connection *connection, const void *bytes, size_t size_bytes);

/* How many bytes came; 0: the other side has ended; -EAGAIN: none for now; or another negative errno. */
ssize_t connection_receive(struct connection *connection, void *bytes, size_t size_bytes);

/* Whether some of what came was not received yet, and the socket does not tell. */
bool connection_has_more(const struct connection *connection);

/* Whether the other side has closed it altogether, and takes nothing more. */
bool connection_is_broken(const struct connection *connection);

/* Nothing comes from here any more, and the other side sees the end. */
void connection_end(struct connection *connection);

/* Whether it waits for space to send, where the call before returned -EAGAIN; else for bytes to come. */
bool connection_wants_space(const struct connection *connection);

/* Why the last call failed, for a message: TLS knows more than an errno. NULL: it does not. */
const char *connection_reason(const struct connection *connection);
