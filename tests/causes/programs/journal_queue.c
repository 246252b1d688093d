// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads parse records and put them into a queue of 16, which is full: the one thread that
 * takes them waits for the disk after each record, for journal.dat. Cured: after each 64th record.
 * Known answer: fdatasync() of journal.dat.
 */
#include "planted.h"

enum { PARSERS = 2, PARSE_US = 30, CAPACITY = 16, RECORD_BYTES = 256, RECORDS_A_SYNC = 64 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t record_added = PTHREAD_COND_INITIALIZER, record_taken = PTHREAD_COND_INITIALIZER;
static int records; /* owned by queue_lock */

static OWN_FRAME void parse_record(void)
{
	burn_us(PARSE_US);
}

static OWN_FRAME void add_record(void)
{
	pthread_mutex_lock(&queue_lock);
	while (records == CAPACITY)
		pthread_cond_wait(&record_taken, &queue_lock);
	records++;
	pthread_cond_signal(&record_added);
	pthread_mutex_unlock(&queue_lock);
}

static OWN_FRAME void take_record(void)
{
	pthread_mutex_lock(&queue_lock);
	while (!records)
		pthread_cond_wait(&record_added, &queue_lock);
	records--;
	pthread_cond_signal(&record_taken);
	pthread_mutex_unlock(&queue_lock);
}

static OWN_FRAME void write_record(int fd, uint64_t number)
{
	static char record[RECORD_BYTES];

	if (pwrite(fd, record, sizeof(record), number % 4096 * sizeof(record)) != sizeof(record) ||
	    ((!is_cured || number % RECORDS_A_SYNC == 0) && fdatasync(fd)))
		die("journal.dat");
}

static void run_parser(int number)
{
	for (number = 0;; number++) {
		parse_record();
		add_record();
	}
}

static void run_writer(int number)
{
	int fd = planted_file("journal.dat", 1 << 20);

	for (number = 0;; number++) {
		take_record();
		write_record(fd, number);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role parsers[PARSERS], writer;

	planted_open(argc, argv);
	role_start(&writer, "writer", run_writer, 0);
	role_start_all(parsers, PARSERS, "parser-%d", run_parser);
	role_join_all(parsers, PARSERS);
	return 0;
}
