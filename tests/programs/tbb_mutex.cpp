// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a hundred TBB tasks on four workers compute under one oneapi::tbb::mutex.
 * Known answer: main's lambda, main::{lambda(unsigned int)#1}::operator(), leads the sampled
 * functions, and its call of tbb::mutex::lock() leads the waits. TBB spins, then sleeps on a
 * futex of the waiting worker, not of the mutex, so work_mutex itself cannot be the named object.
 */
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

int main()
{
	using oneapi::tbb::global_control;
	global_control workers(global_control::max_allowed_parallelism, 4);
	oneapi::tbb::task_arena arena(4);
	oneapi::tbb::mutex work_mutex;

	auto task = [&](unsigned n) {
		volatile int count = 0;

		work_mutex.lock();
		for (unsigned i = 0; i < 24000000; i++)
			if (n > i || i % 10000 == 0)
				count = count + 1;
		work_mutex.unlock();
	};
	arena.execute([&] { oneapi::tbb::parallel_for(0u, 100u, task); });
	return 0;
}
