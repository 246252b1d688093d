// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: a chain of two locks. big_work holds work_mutex_two; medium_work holds
 * work_mutex and, inside it, work_mutex_two; small_work holds work_mutex. So small_work waits for
 * medium_work, which waits for big_work, which computes a hundred times longer than either.
 * Known answer: big_work(int) leads the critical paths and the sampled functions; both locks are
 * listed; the most critical unlocker of work_mutex_two is big_work, of work_mutex medium_work.
 */
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

static constexpr int rounds = 8, threads_per_round = 18, calls_per_thread = 10;
static std::mutex work_mutex, work_mutex_two;

static void __attribute__((noinline)) big_work(int id)
{
	std::lock_guard<std::mutex> guard(work_mutex_two);
	volatile int x = 5;

	for (int i = 0; i < id * 1000000; i++)
		x = x * 3 + i;
}

static void __attribute__((noinline)) medium_work(int id)
{
	std::lock_guard<std::mutex> outer(work_mutex);
	std::lock_guard<std::mutex> inner(work_mutex_two);
	volatile int x = 5;

	for (int i = 0; i < id * 10000; i++)
		x = x * 3 + i;
}

static void __attribute__((noinline)) small_work(int id)
{
	std::lock_guard<std::mutex> guard(work_mutex);
	volatile int x = 5;

	for (int i = 0; i < id * 2000; i++)
		x = x * 3 + i;
}

/* Each thread has its own generator, so the work done does not depend on who runs first. */
static unsigned next_percent(uint64_t &state)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % 100;
}

static void random_work(int round, int id)
{
	uint64_t state = round * threads_per_round + id + 1;

	for (int i = 0; i < calls_per_thread; i++) {
		unsigned percent = next_percent(state);

		if (percent < 33)
			small_work(id);
		else if (percent < 66)
			medium_work(id);
		else
			big_work(id);
	}
}

int main()
{
	for (int round = 0; round < rounds; round++) {
		std::vector<std::thread> threads;

		for (int id = 0; id < threads_per_round; id++)
			threads.emplace_back(random_work, round, id);
		for (auto &thread : threads)
			thread.join();
	}
	return 0;
}
