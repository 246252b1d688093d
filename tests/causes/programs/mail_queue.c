// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two processes send messages by a queue of POSIX that takes eight of them; the one process that
 * receives them checks each for 3 ms. Cured: for 0.1 ms.
 * Known answer: check_message() in `checker`.
 */
#include "planted.h"
#include <mqueue.h>

enum { SENDERS = 2, CAPACITY = 8, MESSAGE_BYTES = 256, WRITE_US = 100, CHECK_US = 3000, CURED_US = 100 };

static mqd_t queue;

static OWN_FRAME void check_message(void)
{
	burn_us(is_cured ? CURED_US : CHECK_US);
}

static OWN_FRAME void send_message(void)
{
	static const char message[MESSAGE_BYTES];

	burn_us(WRITE_US);
	if (mq_send(queue, message, sizeof(message), 0))
		die("mq_send");
}

static void run_sender(void)
{
	for (;;)
		send_message();
}

int main(int argc, char **argv)
{
	struct mq_attr limits = { .mq_maxmsg = CAPACITY, .mq_msgsize = MESSAGE_BYTES };
	char name[32], message[MESSAGE_BYTES];

	planted_open(argc, argv);
	snprintf(name, sizeof(name), "/planted-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &limits);
	if (queue == (mqd_t)-1)
		die("mq_open");
	mq_unlink(name);
	for (int i = 0; i < SENDERS; i++)
		role_fork("sender", run_sender);
	role_name_self("checker");
	while (mq_receive(queue, message, sizeof(message), NULL) >= 0) {
		check_message();
		planted_done(1);
	}
	die("mq_receive");
}
