// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: three threads, `waiter-0` to `waiter-2`, wait for an atomic variable of C++20
 * to change: first for one of 32 bits, on which the library waits itself, then for one of 64 bits,
 * for which it waits on a word of its own. The thread `setter` (main) computes for 300 ms before
 * each.
 * Known answer: the waits are of the group SYNCHRONISATION, in await_generation() on generation,
 * and in await_total(), where the word is the library's; their wakers are set_generation() and
 * set_total() in `setter`.
 */
#include "roles.h"
#include <atomic>

enum { WAITERS = 3, SET_MS = 300 };

static std::atomic<int> generation;
static std::atomic<long> total;
static struct role waiters[WAITERS];

static OWN_FRAME void await_generation()
{
	generation.wait(0);
}

static OWN_FRAME void await_total()
{
	total.wait(0);
}

static OWN_FRAME void set_generation()
{
	compute_ms(SET_MS);
	generation.store(1);
	generation.notify_all();
}

static OWN_FRAME void set_total()
{
	compute_ms(SET_MS);
	total.store(1);
	total.notify_all();
}

static void wait_generation(int)
{
	await_generation();
}

static void wait_total(int)
{
	await_total();
}

int main()
{
	role_name_self("setter");
	role_start_all(waiters, WAITERS, "waiter-%d", wait_generation);
	role_await_all(waiters, WAITERS, SYS_futex);
	set_generation();
	role_join_all(waiters, WAITERS);
	role_start_all(waiters, WAITERS, "waiter-%d", wait_total);
	role_await_all(waiters, WAITERS, SYS_futex);
	set_total();
	role_join_all(waiters, WAITERS);
	return 0;
}
