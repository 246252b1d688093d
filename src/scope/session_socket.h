/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a session, a pinch that traces, gives its trace to readers on the same machine: a Unix socket with an abstract
 * name, which others in the same network namespace find, and which goes with the session, however that ends. Both sides look at each
 * other's user: root, or the same one.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Listens. 0 or a negative errno; nothing is said. */
int session_socket_listen(int *fd);

/* Whether who is connected may have the trace, or is a session. */
bool session_socket_is_trusted(int fd);

/*
 * Connects to each session that is there and that data does not know: take() gets its ID, which no other one has had, and
 * the socket, which does not block and is its to close.
 */
void session_sockets_find(bool (*is_known)(const void *data, const char *id),
			  void (*take)(void *data, const char *id, int fd), void *data);

enum { SESSION_ID_BYTES = 48 };
