// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * multi_mutex [PERCENT]			(100)
 * Planted bottleneck: big_work, medium_work and small_work share the lock work_mutex; big_work
 * computes a hundred times longer under it than medium_work, and five hundred times longer than
 * small_work.
 * Known answer: big_work(int) leads the critical paths and the sampled functions by far; all lock
 * waits are on work_mutex, and its most critical unlocker is big_work. With PERCENT of the work that
 * holds as well.
 */
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static constexpr int rounds = 8, threads_per_round = 18, calls_per_thread = 10;
static std::mutex work_mutex;
static int percent = 100;

static void __attribute__((noinline)) big_work(int id)
{
	std::lock_guard<std::mutex> guard(work_mutex);
	volatile int x = 5;

	for (int i = 0; i < id * percent * 10000; i++)
		x = x * 3 + i;
}

static void __attribute__((noinline)) medium_work(int id)
{
	std::lock_guard<std::mutex> guard(work_mutex);
	volatile int x = 5;

	for (int i = 0; i < id * percent * 100; i++)
		x = x * 3 + i;
}

static void __attribute__((noinline)) small_work(int id)
{
	std::lock_guard<std::mutex> guard(work_mutex);
	volatile int x = 5;

	for (int i = 0; i < id * percent * 20; i++)
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

int main(int argc, char **argv)
{
	if (argc > 1)
		percent = std::atoi(argv[1]);
	for (int round = 0; round < rounds; round++) {
		std::vector<std::thread> threads;

		for (int id = 0; id < threads_per_round; id++)
			threads.emplace_back(random_work, round, id);
		for (auto &thread : threads)
			thread.join();
	}
	return 0;
}
