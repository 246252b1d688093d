/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between pinch and its helpers: over a SOCK_SEQPACKET pair, with a descriptor or none. */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Sends the parts as one message; fd: -1 for none, stays the caller's. wait: until the socket takes it.
 * 0; -EAGAIN: it does not take it now; -EPIPE and the like: nobody is at its other end.
 */
int message_send(int socket, const struct iovec *parts, size_t count, int fd, int wait);

/*
 * Receives one message into the parts; what does not fit is -EMSGSIZE. *fd is the descriptor that came with
 * it and the caller's, or -1. Returns the message's bytes; 0: the other end is closed; -EAGAIN: there is
 * none now, and wait is not set.
 */
ssize_t message_receive(int socket, struct iovec *parts, size_t count, int *fd, int wait);

/* A message of one part. */
int message_put(int socket, const void *bytes, size_t size_bytes, int fd);
ssize_t message_get(int socket, void *bytes, size_t capacity_bytes, int *fd);
