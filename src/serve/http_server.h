/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers browsers on this machine, several at a time, in threads of its own. It answers only to the names of the loopback device, to
 * pages that it sent itself, and to those who have come by a link with a token.
 */
#pragma once

#include <stdint.h>

struct http_server;
struct reply;
struct request;

struct http_answers {
	/* Fills the reply in, which begins empty. Called by several threads at a time. */
	void (*answer)(void *data, const struct request *request, struct reply *reply);
	void *data;
};

/* port: 0: one that is free. 0 or a negative errno, after a message. */
int http_server_open(uint16_t port, const struct http_answers *answers, struct http_server **out);

/* Waits for the answers that are being made. */
void http_server_close(struct http_server *server);

enum { HTTP_LINK_BYTES = 96 };

/* A link for one reader more. */
void http_server_link(struct http_server *server, char link[static HTTP_LINK_BYTES]);
