/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

enum {
	WAIT_SECONDS_MAX = 30,
	FAILURES_MAX = 2, /* after that many slow answers the server is not asked again */
};

/* Declared here, so that neither building nor running needs the library. */
struct debuginfod_client;

struct library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id, int length, char **path);
	void (*set_progressfn)(struct debuginfod_client *client,
			       int (*fn)(struct debuginfod_client *client, long a, long b));
};

/* The library offers no user data for its callback: one client at a time. */
static time_t deadline;

static int on_progress(struct debuginfod_client *client, long a, long b)
{
	(void)client, (void)a, (void)b;
	return clock_seconds() > deadline;
}

static const struct library *library_get(void)
{
	static struct library library;
	static bool was_tried;
	void *handle;

	if (was_tried)
		return library.begin ? &library : NULL;
	was_tried = true;
	handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return NULL;
	library.end = dlsym(handle, "debuginfod_end");
	library.find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	library.set_progressfn = dlsym(handle, "debuginfod_set_progressfn");
	if (library.end && library.find_debuginfo && library.set_progressfn)
		library.begin = dlsym(handle, "debuginfod_begin");
	return library.begin ? &library : NULL;
}

void debuginfod_load(void)
{
	library_get();
}

int debuginfod_fetch(const uint8_t *build_id, size_t size_bytes)
{
	static unsigned int failure_count;
	const char *servers = getenv("DEBUGINFOD_URLS");
	const struct library *library;
	struct debuginfod_client *client;
	int fd;

	if (!servers || !servers[0] || failure_count >= FAILURES_MAX)
		return -ENOENT;
	library = library_get();
	client = library ? library->begin() : NULL;
	if (!client)
		return -ENOENT;
	deadline = clock_seconds() + WAIT_SECONDS_MAX;
	library->set_progressfn(client, on_progress);
	fd = library->find_debuginfo(client, build_id, size_bytes, NULL);
	library->end(client);
	/* That the server has no such file is an answer; that it does not speak is not. */
	if (fd < 0 && fd != -ENOENT)
		failure_count++;
	return fd;
}
