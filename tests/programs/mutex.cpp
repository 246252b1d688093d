// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: twelve threads race for one mutex and sleep while holding it.
 * Known answer: the heaviest wait is `lock`, on mutex_work(int)::work_mutex, called from
 * mutex_work(int) through std::lock_guard; the unlock that ends each wait is mutex_work's too.
 * 66 SLEEPs of lost parallelism in the lock against 12 in the sleep.
 */
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

static void mutex_work(int)
{
	static std::mutex work_mutex;
	std::lock_guard<std::mutex> guard(work_mutex);

	std::this_thread::sleep_for(std::chrono::milliseconds(150));
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 12; i++)
		threads.emplace_back(mutex_work, i);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
