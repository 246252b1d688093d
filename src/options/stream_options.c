/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a scope, of those who read its trace, and of a page that other machines see. */
#include "options/settings.h"

#include <errno.h>

#include "base/fail.h"

static int set_listen(struct settings *settings, const char *argument)
{
	settings->stream.listen = argument;
	return 0;
}

static int set_tls_cert(struct settings *settings, const char *argument)
{
	settings->stream.tls_cert = argument;
	return 0;
}

static int set_tls_key(struct settings *settings, const char *argument)
{
	settings->stream.tls_key = argument;
	return 0;
}

static int set_tls_ca(struct settings *settings, const char *argument)
{
	settings->stream.tls_ca = argument;
	return 0;
}

static int set_token(struct settings *settings, const char *argument)
{
	settings->stream.token = argument;
	return 0;
}

const struct option_spec scope_options[] = {
	{ "listen", 0, "ADDRESS", "HOST:PORT or unix:PATH (default: 127.0.0.1:7466)", set_listen },
	{ "tls-cert", 0, "FILE", "the certificate for TLS, in PEM", set_tls_cert },
	{ "tls-key", 0, "FILE", "its key", set_tls_key },
	{ "token", 0, "FILE", "the secret that readers must show, in the first line of FILE; with TLS", set_token },
	{ 0 },
};

const struct option_spec stream_options[] = {
	{ "token", 0, "FILE", "of tls:HOST:PORT: the secret that the scope asks for", set_token },
	{ "tls-ca", 0, "FILE", "of tls:HOST:PORT: the certificates that may sign the scope's (default: the system's)",
	  set_tls_ca },
	{ 0 },
};

const struct option_spec receive_options[] = {
	{ "duration", 0, "TIME", "of a scope's trace: take what comes in TIME, such as 30s (default: until it ends)",
	  settings_set_duration },
	{ 0 },
};

static int set_door(struct settings *settings, const char *argument)
{
	settings->door.listen = argument;
	return 0;
}

static int set_door_cert(struct settings *settings, const char *argument)
{
	settings->door.tls_cert = argument;
	return 0;
}

static int set_door_key(struct settings *settings, const char *argument)
{
	settings->door.tls_key = argument;
	return 0;
}

const struct option_spec door_options[] = {
	{ "listen", 0, "ADDRESS", "HOST:PORT where other machines find the page, with TLS (default: they do not)",
	  set_door },
	{ "tls-cert", 0, "FILE", "the certificate for TLS, in PEM", set_door_cert },
	{ "tls-key", 0, "FILE", "its key", set_door_key },
	{ 0 },
};

int door_check(const struct door_settings *door)
{
	if (!door->listen == !door->tls_cert && !door->listen == !door->tls_key)
		return 0;
	return fail_plain(-EINVAL, "%s",
			  door->listen ? "other machines may see the page with TLS only: --listen needs --tls-cert and "
					 "--tls-key; or let ssh -L forward a port of 127.0.0.1"
				       : "--tls-cert and --tls-key are for --listen");
}
