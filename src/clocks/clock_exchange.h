/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads another host's clock: a question and an answer, each a UDP packet of the same size, so that nobody can make a
 * server send more than it got. Neither has a secret, nor anything of a traced program.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "clocks/clock_sample.h"

enum { CLOCK_BOOT_BYTES = 16, CLOCK_PORT = 7467 };

/* What a peer's clock showed, and which boot of which machine the peer is. */
struct clock_reading {
	struct clock_sample sample;
	uint8_t boot[CLOCK_BOOT_BYTES];
};

/* What one host has read of others. */
struct clock_readings {
	uint8_t boot[CLOCK_BOOT_BYTES]; /* its own */
	struct clock_reading *list;     /* of all of them; NULL: there are none */
	size_t count;
};

struct clock_server {
	int fd;
	uint8_t boot[CLOCK_BOOT_BYTES];
	uint64_t (*now_ns)(const void *data); /* NULL: CLOCK_MONOTONIC */
	const void *data;
};

/*
 * address: HOST, HOST:PORT or [IPV6]:PORT; NULL: 127.0.0.1. 0, or a negative errno after a message. The descriptor is
 * the caller's to close.
 */
int clock_server_open(struct clock_server *server, const char *address);

/* Answers one packet, if one has come: wait with poll(). What is no question gets no answer. */
void clock_server_answer(const struct clock_server *server);

/* 0 and a descriptor of a connected socket in *fd, the caller's; or a negative errno after a message. */
int clock_peer_open(const char *address, int *fd);

/*
 * Asks count times, count above 0, and gives the sample with the smallest round trip, and the peer's boot. 0;
 * -ETIMEDOUT: no answer came within a second of a question; or another negative errno. Says nothing.
 */
int clock_peer_ask(int fd, unsigned int count, struct clock_sample *sample, uint8_t boot[CLOCK_BOOT_BYTES]);

/* This boot of this machine; zeros: it is not known. */
void clock_boot_read(uint8_t boot[CLOCK_BOOT_BYTES]);

/* The same of its text, such as 0123...-..., with any dashes; false: it is none. */
bool clock_boot_parse(const char *text, uint8_t boot[CLOCK_BOOT_BYTES]);
