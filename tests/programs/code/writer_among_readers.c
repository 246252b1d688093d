// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One writer holds a lock exclusively for most of the time; six readers share it in between. Known answer:
 * rebuild_index() leads: nobody else runs during it.
 */
#include "code_log.h"

enum { REBUILD_INDEX, LOOK_UP, RENDER_PAGE, READERS = 6 };

static const char *const names[] = { "rebuild_index", "look_up", "render_page", NULL };

static pthread_rwlock_t lock;

WORK(rebuild_index, REBUILD_INDEX)
WORK(look_up, LOOK_UP)
WORK(render_page, RENDER_PAGE)

static void run_reader(int number)
{
	(void)number;
	while (log_is_time()) {
		pthread_rwlock_rdlock(&lock);
		look_up(400);
		pthread_rwlock_unlock(&lock);
		render_page(100);
	}
}

static void run_writer(int number)
{
	(void)number;
	while (log_is_time()) {
		pthread_rwlock_wrlock(&lock);
		rebuild_index(6000);
		pthread_rwlock_unlock(&lock);
		pause_us(3000);
	}
}

int main(int argc, char **argv)
{
	struct role readers[READERS], writer;
	pthread_rwlockattr_t kind;

	log_open(argc, argv, names);
	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &kind);
	role_start(&writer, "writer", run_writer, 0);
	role_start_all(readers, READERS, "reader-%d", run_reader);
	role_join_all(readers, READERS);
	role_join_all(&writer, 1);
	return 0;
}
