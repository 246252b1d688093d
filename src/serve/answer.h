/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a browser asks for, and what it gets.
 *
 * Owns: a trace as a browser sees it, and the server that shows it.
 * Used by: agent, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct request {
	const char *path;  /* decoded: "/tiles" */
	const char *query; /* as it came, behind the question mark; never NULL */
	bool is_post;      /* it asks for something to be done; else for something to be read */
	const char *body;  /* of these; NULL: there is none */
	size_t body_bytes;
};

struct reply {
	int status;       /* of HTTP */
	const char *type; /* of the body */
	bool is_constant; /* the same request never gets another one */
	struct text body;
	/* Of a file that is to be kept: its bytes are the body. -1: it is none. */
	int fd;
	const char *file_name;
};

/* An error in one line, without its newline. */
void reply_fail(struct reply *reply, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The value of a parameter, decoded. False: there is none, or it is longer than the buffer. */
bool request_text(const struct request *request, const char *name, char *buffer, size_t size_bytes);

/* The same of the one with this number among those of that name. */
bool request_text_at(const struct request *request, const char *name, size_t number, char *buffer, size_t size_bytes);

/* The same of a number. False: there is none, or it is no number of this range. */
bool request_number(const struct request *request, const char *name, int64_t min, int64_t max, int64_t *out);
