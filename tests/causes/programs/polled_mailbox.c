// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads put a letter into a mailbox each and wait for the answer. The thread that answers looks
 * into the mailboxes every 25 ms only. Cured: it looks again at once, and sleeps if there was nothing.
 * Known answer: the sleep in poll_mailboxes().
 */
#include "planted.h"

enum { SENDERS = 2, POLL_MS = 25, CURED_MS = 1, WRITE_US = 200, ANSWER_US = 200 };

static pthread_mutex_t mail_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int letters[SENDERS]; /* owned by mail_lock */

static OWN_FRAME void answer_letter(void)
{
	burn_us(ANSWER_US);
}

static OWN_FRAME void poll_mailboxes(void)
{
	sleep_ms(is_cured ? CURED_MS : POLL_MS);
	pthread_mutex_lock(&mail_lock);
	for (int i = 0; i < SENDERS; i++) {
		if (letters[i]) {
			answer_letter();
			letters[i] = 0;
		}
	}
	pthread_cond_broadcast(&answered);
	pthread_mutex_unlock(&mail_lock);
}

static OWN_FRAME void send_letter(int number)
{
	burn_us(WRITE_US);
	pthread_mutex_lock(&mail_lock);
	letters[number] = 1;
	while (letters[number])
		pthread_cond_wait(&answered, &mail_lock);
	pthread_mutex_unlock(&mail_lock);
}

static void run(int number)
{
	for (;;) {
		send_letter(number);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role senders[SENDERS];

	planted_open(argc, argv);
	role_name_self("postman");
	role_start_all(senders, SENDERS, "sender-%d", run);
	for (;;)
		poll_mailboxes();
}
