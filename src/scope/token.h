/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secret that readers of a scope show when it can be reached from other machines. */
#pragma once

#include <stdbool.h>

/* What a reader sends before it, with a newline behind it. */
#define TOKEN_WORD "token "

/* The first line of a file; to be freed. 0, -EINVAL when it is too short to be a secret, or too long; after a message. */
int token_read(const char *path, char **out);

/* Whether a reader showed the token. How long that takes says nothing about the token but its length. */
bool token_is(const char *token, const char *shown);
