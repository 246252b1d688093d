/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may read: whoever has the cookie, which a link with a token gives. A token opens once, so that the one that stands in a terminal, a
 * list of processes or a browser's history opens nothing any more.
 */
#pragma once

#include <stdbool.h>

enum { SECRET_BYTES = 33 }; /* 128 random bits in hexadecimal digits, and the NUL */

struct secrets {
	char token[SECRET_BYTES], cookie[SECRET_BYTES];
};

/* 0 or a negative errno, after a message. */
int secrets_make(struct secrets *secrets);

/* Whether it is the token: then another one takes its place. */
bool secrets_use_token(struct secrets *secrets, const char *token);

bool secrets_is_cookie(const struct secrets *secrets, const char *cookie);
