/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One reader's connection with TLS, and the one within this machine that its bytes go on to. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct tls;
struct tls_relay;

enum { TLS_RELAY_FDS = 2 };

/* Takes the socket. port: of 127.0.0.1. NULL, after the socket is closed: TLS cannot begin. */
struct tls_relay *tls_relay_new(int fd, const struct tls *tls, uint16_t port, uint64_t now_ns);
void tls_relay_free(struct tls_relay *relay);

/* What it waits for. */
void tls_relay_poll(const struct tls_relay *relay, struct pollfd fds[static TLS_RELAY_FDS]);

/* Moves what can be moved now. False: it is over. */
bool tls_relay_step(struct tls_relay *relay, uint64_t now_ns);
