/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers browsers, several at a time, in threads of its own (answer_thread.h): on this machine, where it answers only to the names of the
 * loopback device; or, with TLS, of other machines. It answers to pages that it sent itself, and to those who have come by a link with a
 * token.
 */
#pragma once

#include <stdint.h>

struct http_server;
struct reply;
struct request;

enum { HTTP_BODY_BYTES_MAX = 64 << 10 };

struct http_answers {
	/* Fills the reply in, which begins empty. Called by several threads at a time. */
	void (*answer)(void *data, const struct request *request, struct reply *reply);
	void *data;
};

struct http_place {
	uint16_t port;           /* of 127.0.0.1; 0: one that is free */
	unsigned int port_count; /* the first one of so many from port on, if it is free; or else any. 0: port alone */
	const char *listen;      /* HOST:PORT, for other machines; NULL: not for these */
	const char *certificate, *key; /* files, if it is */
	const char *page;              /* the path to which links lead: "/" */
};

/* 0 or a negative errno, after a message. */
int http_server_open(const struct http_place *place, const struct http_answers *answers, struct http_server **out);

/* Waits for the answers that are being made. */
void http_server_close(struct http_server *server);

enum { HTTP_LINK_BYTES = 400 };

/* A link for one reader more. */
void http_server_link(struct http_server *server, char link[static HTTP_LINK_BYTES]);
