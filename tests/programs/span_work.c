// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted tasks: one thread serves REQUESTS requests in serve_request(), which computes in answer(); in each fifth
 * one it computes four times as long in rebuild_index(), too.
 * Known answer: slow executions run rebuild_index() more, and answer() as long as the fast ones.
 */
#include "roles.h"

enum { REQUESTS = 400, SLOW_EACH = 5, UNIT = 20000 };

/* About 0.1 us for each count, whatever the clock says. */
static inline __attribute__((always_inline)) void spend(unsigned count)
{
	volatile uint64_t sink;
	uint64_t x = count;

	for (unsigned i = 0; i < count * 100; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	sink = x;
	(void)sink;
}

static OWN_FRAME void answer(void)
{
	spend(UNIT);
	__asm__ volatile("");
}

static OWN_FRAME void rebuild_index(void)
{
	spend(4 * UNIT);
	__asm__ volatile("");
}

OWN_FRAME void serve_request(int request)
{
	answer();
	if (request % SLOW_EACH == 0)
		rebuild_index();
	__asm__ volatile("");
}

int main(void)
{
	for (int i = 0; i < REQUESTS; i++)
		serve_request(i);
	return 0;
}
