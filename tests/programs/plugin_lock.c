// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plugin_lock PLUGIN.SO			(lock_plugin.so)
 * Planted bottleneck: a lock in a shared library that is loaded, and unloaded, while the program
 * runs. The thread `holder` (main) keeps it for 600 ms while four threads, `user-0` to `user-3`,
 * wait for it.
 * Known answer: the heaviest wait is `lock`, on plugin_mutex, in plugin_use(); its wakers are
 * plugin_hold() in `holder` and, behind it, plugin_use().
 */
#include "roles.h"
#include <dlfcn.h>

enum { USERS = 4, HOLD_MS = 600 };

static void (*plugin_use)(void);
static struct role users[USERS];

static void use(int number)
{
	(void)number;
	plugin_use();
}

/* The library calls this one when it holds its lock. */
static void keep_waiting(void)
{
	role_start_all(users, USERS, "user-%d", use);
	role_await_all(users, USERS, SYS_futex);
	compute_ms(HOLD_MS);
}

static void *get_function(void *library, const char *name)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return function;
}

int main(int argc, char **argv)
{
	void (*plugin_hold)(void (*)(void));
	void *library;

	if (argc < 2) {
		fprintf(stderr, "usage: plugin_lock PLUGIN.SO\n");
		return 2;
	}
	role_name_self("holder");
	library = dlopen(argv[1], RTLD_NOW);
	*(void **)&plugin_use = get_function(library, "plugin_use");
	*(void **)&plugin_hold = get_function(library, "plugin_hold");
	plugin_hold(keep_waiting);
	role_join_all(users, USERS);
	dlclose(library);
	return 0;
}
