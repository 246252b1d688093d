// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads take two locks in opposite order and wait for each other for ever; two more wait for
 * one of the locks. Prints `hung` first. Cured: both take them in the same order.
 * Known answer: a deadlock of accounts_lock, in book_transfer(), and audit_lock, in write_audit().
 */
#include "planted.h"

enum { CLIENTS = 2 };

static pthread_mutex_t accounts_lock = PTHREAD_MUTEX_INITIALIZER, audit_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;

static OWN_FRAME void book_transfer(void)
{
	pthread_mutex_lock(&accounts_lock);
	if (!is_cured)
		pthread_barrier_wait(&both_hold);
	pthread_mutex_lock(&audit_lock);
	planted_done(1);
	pthread_mutex_unlock(&audit_lock);
	pthread_mutex_unlock(&accounts_lock);
}

static OWN_FRAME void write_audit(void)
{
	pthread_mutex_t *first = is_cured ? &accounts_lock : &audit_lock;
	pthread_mutex_t *second = is_cured ? &audit_lock : &accounts_lock;

	pthread_mutex_lock(first);
	if (!is_cured)
		pthread_barrier_wait(&both_hold);
	pthread_mutex_lock(second);
	planted_done(1);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static OWN_FRAME void read_balance(void)
{
	pthread_mutex_lock(&accounts_lock);
	pthread_mutex_unlock(&accounts_lock);
}

static void run_booker(int number)
{
	for (number = 0;; number++)
		book_transfer();
}

static void run_auditor(int number)
{
	for (number = 0;; number++)
		write_audit();
}

static void run_client(int number)
{
	for (number = 0;; number++)
		read_balance();
}

int main(int argc, char **argv)
{
	struct role booker, auditor, clients[CLIENTS];

	planted_open(argc, argv);
	pthread_barrier_init(&both_hold, NULL, 2);
	role_start(&booker, "booker", run_booker, 0);
	role_start(&auditor, "auditor", run_auditor, 0);
	if (!is_cured) {
		role_await_all(&booker, 1, SYS_futex);
		role_await_all(&auditor, 1, SYS_futex);
	}
	role_start_all(clients, CLIENTS, "client-%d", run_client);
	if (!is_cured)
		dprintf(STDOUT_FILENO, "hung\n");
	role_join_all(clients, CLIENTS);
	return 0;
}
