/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies as HTTP has them. */
#pragma once

#include <stdbool.h>

struct mg_connection;
struct reply;

/* What every reply says, a line each, with their ends: how far browsers may use it elsewhere. */
extern const char http_common_headers[];

/* Its headers, and its body if that is wanted. Whoever goes away meanwhile gets no more. */
void http_send_reply(struct mg_connection *connection, const struct reply *reply, bool has_body);
