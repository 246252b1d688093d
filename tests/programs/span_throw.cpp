// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted tasks that exceptions leave: risky() is called 30 times, and each third time raise_third(), which
 * it calls, throws through it. With the argument "wait", a line is waited for first.
 * Known answer: 20 executions of each, 10 left.
 */
#include "roles.h"

#include <stdexcept>

static OWN_FRAME int raise_third(int number)
{
	if (number % 3 == 0)
		throw std::runtime_error("third");
	return number;
}

static volatile int sum;

static OWN_FRAME void risky(int number)
{
	sum += raise_third(number);
}

int main(int argc, char **argv)
{
	int caught = 0;

	(void)argv;
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		if (getchar() < 0)
			return 1;
	}
	for (int i = 0; i < 30; i++) {
		try {
			risky(i);
		} catch (const std::exception &) {
			caught++;
		}
	}
	printf("%d of 30 were thrown\n", caught);
	return 0;
}
