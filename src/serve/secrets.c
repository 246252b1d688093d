/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/secrets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/fail.h"
#include "scope/token.h"

static int make(char secret[static SECRET_BYTES])
{
	unsigned char bytes[(SECRET_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail(-errno, "cannot get random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int secrets_make(struct secrets *secrets)
{
	int err = make(secrets->token);

	return err ? err : make(secrets->cookie);
}

bool secrets_use_token(struct secrets *secrets, const char *token)
{
	return token_is(secrets->token, token) && !make(secrets->token);
}

bool secrets_is_cookie(const struct secrets *secrets, const char *cookie)
{
	return token_is(secrets->cookie, cookie);
}
