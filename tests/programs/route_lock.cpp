// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a lock that is released by the last thing that a function does, so that the compiler leaves the
 * function by a jump: rebuild_routes() takes `routes`, computes for 200 ms when a reader waits for it, and the guard
 * releases it. Three rounds; its caller, serve(), goes on with other work.
 * Known answer: the waits are `lock`, in read_routes() on `routes`; `holder` (main) ends all of them
 * in rebuild_routes(), which is not on the stack, and not in serve().
 */
#include <mutex>

#include "roles.h"

enum { READERS = 1, ROUNDS = 3, HOLD_MS = 200 };

std::mutex routes;
volatile long version;

OWN_FRAME void read_routes(int number)
{
	(void)number;
	routes.lock();
	version++;
	routes.unlock();
	version++;
}

OWN_FRAME void rebuild_routes(struct role *readers)
{
	std::lock_guard<std::mutex> guard(routes);

	role_start_all(readers, READERS, "reader-%d", read_routes);
	role_await_all(readers, READERS, SYS_futex);
	compute_ms(HOLD_MS);
}

OWN_FRAME void serve(struct role *readers)
{
	rebuild_routes(readers);
	version++;
	role_join_all(readers, READERS);
}

int main()
{
	struct role readers[READERS];

	role_name_self("holder");
	for (int i = 0; i < ROUNDS; i++)
		serve(readers);
	return 0;
}
