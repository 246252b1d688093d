// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: three processes share a table in a mapped file, each at an address of its own, with one mutex in it,
 * which they hold while they expire sessions. Cured: a mutex a process.
 * Known answer: one lock, in sessions.map, held by expire_sessions().
 */
#include "planted.h"

enum { PROCESSES = 3, EXPIRE_US = 1500, SERVE_US = 150, TABLE_BYTES = 1 << 20, PAGE_BYTES = 4096 };

static int number;

static OWN_FRAME void expire_sessions(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	burn_us(EXPIRE_US);
	pthread_mutex_unlock(lock);
}

static OWN_FRAME void serve_session(void)
{
	burn_us(SERVE_US);
}

static pthread_mutex_t *map_table(int fd)
{
	void *table = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (table == MAP_FAILED)
		die("mmap");
	return (pthread_mutex_t *)table;
}

static void run(void)
{
	/* What else is mapped makes the address differ. */
	void *other = mmap(NULL, PAGE_BYTES * (number + 1), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_t *locks = map_table(open("sessions.map", O_RDWR));

	(void)other;
	for (;;) {
		serve_session();
		expire_sessions(&locks[is_cured ? number : 0]);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t shared;
	pthread_mutex_t *locks;
	pid_t pids[PROCESSES];

	planted_open(argc, argv);
	locks = map_table(planted_file("sessions.map", TABLE_BYTES));
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	for (number = 0; number < PROCESSES; number++)
		pthread_mutex_init(&locks[number], &shared);
	munmap(locks, TABLE_BYTES);
	for (number = 0; number < PROCESSES; number++)
		pids[number] = role_fork("session", run);
	for (number = 0; number < PROCESSES; number++)
		role_wait(pids[number]);
	return 0;
}
