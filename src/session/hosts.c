/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/hosts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "session/session.h"

struct hosts {
	char *names[HOSTS_MAX]; /* NULL: it is not in the trace */
};

static void on_host(void *data, const struct ev_header *header)
{
	const struct ev_clock_host *e = (const void *)header;
	struct hosts *hosts = data;

	if (e->host >= HOSTS_MAX || !e->text_bytes)
		return;
	free(hosts->names[e->host]);
	hosts->names[e->host] = xstrdup(e->name);
}

static const struct event_handler handlers[] = {
	{ EV_CLOCK_HOST, on_host },
	{ 0, NULL },
};

struct hosts *hosts_new(struct session *session)
{
	struct hosts *hosts = xcalloc(1, sizeof(*hosts));

	session_subscribe(session, handlers, hosts);
	return hosts;
}

void hosts_free(struct hosts *hosts)
{
	if (!hosts)
		return;
	for (size_t i = 0; i < HOSTS_MAX; i++)
		free(hosts->names[i]);
	free(hosts);
}

const char *hosts_name(const struct hosts *hosts, uint32_t id)
{
	uint32_t host = host_of_id(id);

	return host < HOSTS_MAX ? hosts->names[host] : NULL;
}
