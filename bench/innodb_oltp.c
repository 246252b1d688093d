// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * innodb_oltp DIRECTORY [TRANSACTIONS [THREADS]]		(4000, 16)
 * MariaDB's embedded server, with all its debug information, under a load like sysbench's
 * oltp_read_write: for showing that pinch names the functions of InnoDB. Data are in DIRECTORY,
 * which must exist; the tables are made when they are not there, so a run with 0 transactions
 * prepares those that follow. The threads are called oltp-0, oltp-1, ...
 */
#define _GNU_SOURCE
#include <mysql.h>
#include <mysqld_error.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TABLES = 4,
	ROWS = 10000,
	ROWS_EACH_INSERT = 100,
	RANGE = 100,        /* rows of a range select */
	POINT_SELECTS = 10, /* of a transaction, as in sysbench */
	THREADS_MAX = 256,
	SQL_MAX = 32 * 1024,
};

struct connection {
	MYSQL *mysql;
	uint64_t random;
	char sql[SQL_MAX];
};

static atomic_long transactions_left;
static atomic_long retry_count;

static unsigned int random_below(struct connection *to, unsigned int limit)
{
	to->random = to->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(to->random >> 33) % limit;
}

/* Digits in groups: what sysbench writes into c (10 groups) and pad (5 groups). */
static const char *random_text(struct connection *to, int groups, char text[128])
{
	int size = 0;

	for (int i = 0; i < groups; i++)
		size += snprintf(text + size, 128 - size, "%s%011u", i ? "-" : "", random_below(to, 1u << 30));
	return text;
}

static void give_up(struct connection *to)
{
	fprintf(stderr, "innodb_oltp: %s: %.200s\n", mysql_error(to->mysql), to->sql);
	exit(1);
}

/* Runs the statement in to->sql. False: InnoDB has rolled the transaction back. */
static bool run_statement(struct connection *to)
{
	MYSQL_RES *result;

	if (mysql_query(to->mysql, to->sql)) {
		unsigned int error = mysql_errno(to->mysql);

		if (error != ER_LOCK_DEADLOCK && error != ER_LOCK_WAIT_TIMEOUT && error != ER_CHECKREAD)
			give_up(to);
		return false;
	}
	result = mysql_store_result(to->mysql);
	if (result)
		mysql_free_result(result);
	return true;
}

__attribute__((format(printf, 2, 3))) static bool run(struct connection *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(to->sql, sizeof(to->sql), format, arguments);
	va_end(arguments);
	return run_statement(to);
}

static struct connection *connection_open(uint64_t seed, const char *database)
{
	struct connection *to = calloc(1, sizeof(*to));

	if (!to || !(to->mysql = mysql_init(NULL))) {
		fprintf(stderr, "innodb_oltp: no memory\n");
		exit(1);
	}
	to->random = seed;
	mysql_options(to->mysql, MYSQL_OPT_USE_EMBEDDED_CONNECTION, NULL);
	strcpy(to->sql, "connecting");
	if (!mysql_real_connect(to->mysql, NULL, NULL, NULL, database, 0, NULL, 0))
		give_up(to);
	return to;
}

static void connection_close(struct connection *to)
{
	mysql_close(to->mysql);
	free(to);
}

static void fill_table(struct connection *to, int table)
{
	char c[128], pad[128];

	for (int row = 1; row <= ROWS;) {
		int size = snprintf(to->sql, sizeof(to->sql), "INSERT INTO sbtest%d (k, c, pad) VALUES", table);

		for (int i = 0; i < ROWS_EACH_INSERT; i++, row++)
			size += snprintf(to->sql + size, sizeof(to->sql) - size, "%s (%u, '%s', '%s')", i ? "," : "",
					 random_below(to, ROWS) + 1, random_text(to, 10, c), random_text(to, 5, pad));
		run_statement(to);
	}
}

static void make_tables(void)
{
	struct connection *to = connection_open(1, NULL);

	run(to, "CREATE DATABASE IF NOT EXISTS sbtest");
	run(to, "USE sbtest");
	for (int table = 1; table <= TABLES; table++) {
		run(to,
		    "CREATE TABLE IF NOT EXISTS sbtest%d (id INTEGER NOT NULL AUTO_INCREMENT, "
		    "k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, "
		    "pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id), KEY (k)) "
		    "ENGINE = InnoDB",
		    table);
		if (!mysql_warning_count(to->mysql)) /* it was not there */
			fill_table(to, table);
	}
	connection_close(to);
}

static bool select_ranges(struct connection *to, int table)
{
	static const char *const queries[] = {
		"SELECT c FROM sbtest%d WHERE id BETWEEN %u AND %u",
		"SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN %u AND %u",
		"SELECT c FROM sbtest%d WHERE id BETWEEN %u AND %u ORDER BY c",
		"SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN %u AND %u ORDER BY c",
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		unsigned int id = random_below(to, ROWS) + 1;

		snprintf(to->sql, sizeof(to->sql), queries[i], table, id, id + RANGE - 1);
		if (!run_statement(to))
			return false;
	}
	return true;
}

static bool transact(struct connection *to)
{
	int table = random_below(to, TABLES) + 1;
	unsigned int id = random_below(to, ROWS) + 1;
	char c[128], pad[128];

	if (!run(to, "BEGIN"))
		return false;
	for (int i = 0; i < POINT_SELECTS; i++)
		if (!run(to, "SELECT c FROM sbtest%d WHERE id = %u", table, random_below(to, ROWS) + 1))
			return false;
	return select_ranges(to, table) &&
	       run(to, "UPDATE sbtest%d SET k = k + 1 WHERE id = %u", table, random_below(to, ROWS) + 1) &&
	       run(to, "UPDATE sbtest%d SET c = '%s' WHERE id = %u", table, random_text(to, 10, c),
		   random_below(to, ROWS) + 1) &&
	       run(to, "DELETE FROM sbtest%d WHERE id = %u", table, id) &&
	       run(to, "INSERT INTO sbtest%d (id, k, c, pad) VALUES (%u, %u, '%s', '%s')", table, id,
		   random_below(to, ROWS) + 1, random_text(to, 10, c), random_text(to, 5, pad)) &&
	       run(to, "COMMIT");
}

static void *run_transactions(void *number)
{
	struct connection *to;

	mysql_thread_init();
	to = connection_open((uint64_t)(uintptr_t)number + 2, "sbtest");
	while (atomic_fetch_sub(&transactions_left, 1) > 0)
		while (!transact(to)) {
			atomic_fetch_add(&retry_count, 1);
			run(to, "ROLLBACK");
		}
	connection_close(to);
	mysql_thread_end();
	return NULL;
}

static void start_server(const char *directory)
{
	char datadir[4096], tmpdir[4096];
	char *options[] = {
		"innodb_oltp",
		"--no-defaults",
		datadir,
		tmpdir,
		"--default-storage-engine=InnoDB",
		"--skip-log-bin",
		"--innodb-buffer-pool-size=128M",
		"--innodb-flush-log-at-trx-commit=1",
		"--innodb-stats-persistent=0", /* their tables are not in an empty directory */
	};

	snprintf(datadir, sizeof(datadir), "--datadir=%s", directory);
	snprintf(tmpdir, sizeof(tmpdir), "--tmpdir=%s", directory);
	if (mysql_library_init(sizeof(options) / sizeof(options[0]), options, NULL)) {
		fprintf(stderr, "innodb_oltp: the server does not start in %s\n", directory);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long transactions = argc > 2 ? atol(argv[2]) : 4000;
	int thread_count = argc > 3 ? atoi(argv[3]) : 16;
	pthread_t threads[THREADS_MAX];
	char name[16];

	if (argc < 2 || transactions < 0 || thread_count < 1 || thread_count > THREADS_MAX) {
		fprintf(stderr, "usage: innodb_oltp DIRECTORY [TRANSACTIONS [THREADS]]\n");
		return 2;
	}
	start_server(argv[1]);
	make_tables();
	transactions_left = transactions;
	for (int i = 0; i < thread_count; i++) {
		if (pthread_create(&threads[i], NULL, run_transactions, (void *)(uintptr_t)i)) {
			perror("pthread_create");
			return 1;
		}
		snprintf(name, sizeof(name), "oltp-%d", i);
		pthread_setname_np(threads[i], name);
	}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	mysql_library_end();
	printf("%ld transactions, %ld tried again\n", transactions, (long)retry_count);
	return 0;
}
