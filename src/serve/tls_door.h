/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where readers on other machines come in: TLS on an address, and behind it a port of this machine, to which the bytes go on. It has a
 * thread of its own, which waits for no reader.
 */
#pragma once

#include <stdint.h>

struct tls_door;

struct tls_door_options {
	const char *address;           /* HOST:PORT */
	const char *certificate, *key; /* files, in PEM */
	uint16_t port;                 /* of 127.0.0.1: where the bytes go */
};

/* 0, or a negative errno after a message. */
int tls_door_open(const struct tls_door_options *options, struct tls_door **out);

/* Closes all connections. */
void tls_door_close(struct tls_door *door);

/* Where it is, as a browser's address has it: HOST:PORT. Of an address that stands for all of the machine's, HOST is the machine's name. */
const char *tls_door_host(const struct tls_door *door);
