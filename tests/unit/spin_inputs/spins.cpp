// SPDX-License-Identifier: GPL-2.0-or-later
// Ways to wait with C++'s atomics; as in spins.c, the words are such that they wait for ever.
#include <atomic>
#include <thread>

#define SPINS extern "C" __attribute__((visibility("default")))

struct words {
	std::atomic<int> lock, next, serving;
};

// Set is what a cleared memory is not: the test's words are all 1.
SPINS void spin_atomic_flag(std::atomic_flag *flag)
{
	while (flag->test_and_set(std::memory_order_acquire))
		;
}

SPINS void spin_atomic_flag_with_pause(std::atomic_flag *flag)
{
	while (flag->test_and_set(std::memory_order_acquire))
		__builtin_ia32_pause();
}

SPINS void spin_atomic(words *words)
{
	while (words->lock.load(std::memory_order_acquire) != 0)
		;
}

SPINS void spin_atomic_exchange(words *words)
{
	while (words->lock.exchange(1) != 0)
		while (words->lock.load(std::memory_order_relaxed) != 0)
			;
}

SPINS void spin_atomic_compare(words *words)
{
	for (int free = 0; !words->lock.compare_exchange_weak(free, 1); free = 0)
		;
}

SPINS void yield_this_thread(words *words)
{
	while (words->lock.load() != 0)
		std::this_thread::yield();
}
