// SPDX-License-Identifier: GPL-2.0-or-later
/* The plug-in that plugin_lock.c loads: it has a lock that its users wait for. */
#include <pthread.h>

extern void plugin_hold(void (*function)(void));
extern void plugin_use(void);

static pthread_mutex_t plugin_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int uses; /* owned by plugin_mutex */

void __attribute__((noinline)) plugin_hold(void (*function)(void))
{
	pthread_mutex_lock(&plugin_mutex);
	function();
	pthread_mutex_unlock(&plugin_mutex);
}

void __attribute__((noinline)) plugin_use(void)
{
	pthread_mutex_lock(&plugin_mutex);
	uses++;
	pthread_mutex_unlock(&plugin_mutex);
}
