/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a scope listens, and where its readers find it: a port of TCP, with or without TLS, or a Unix socket. */
#pragma once

#include <stdbool.h>

#include "scope/address_socket.h"

/* Whether it names a stream rather than a file: tcp:, tls: or unix: and what follows. */
bool address_is_stream(const char *text);

/* Whether it is tls: and what follows. */
bool address_is_tls(const char *text);

/*
 * Reads "tcp:HOST:PORT", "tls:HOST:PORT" or "unix:PATH"; HOST:PORT alone is TCP, an IPv6 address stands in brackets.
 * 0 or -EINVAL, after a message.
 */
int address_parse(const char *text, struct address *out);

/*
 * Listens there. Without TLS (is_protected) only on addresses that other machines cannot reach: -EACCES otherwise.
 * The address becomes the one that was chosen, as a number. 0 or a negative errno, after a message.
 */
int address_listen(struct address *address, bool is_protected, int *fd);

/* Connects; waits at most so long. 0 or a negative errno, after a message. */
int address_connect(const struct address *address, int wait_ms, int *fd);
