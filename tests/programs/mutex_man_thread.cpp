// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: as mutex.cpp, but the twelve threads are made with clone(), without pthreads.
 * Known answer: the heaviest wait is `lock`, on work_mutex, in FutexLock::lock() called from
 * mutex_work(void*); FutexLock::unlock(), called from mutex_work, ends each wait.
 *
 * A thread made this way shares the thread-local storage of main, and glibc believes that the
 * process has one thread, so its mutexes skip atomics and wake-ups. Hence a lock of our own, and
 * no libc call in a thread but syscall() (which writes the shared errno, that nobody reads).
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <linux/futex.h>
#include <mutex>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static long futex(std::atomic<uint32_t> *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, nullptr, nullptr, 0);
}

/* 0: free, 1: held, 2: held and perhaps waited for. */
class FutexLock
{
      public:
	void lock()
	{
		uint32_t expected = 0;

		if (word.compare_exchange_strong(expected, 1))
			return;
		while (word.exchange(2) != 0)
			futex(&word, FUTEX_WAIT_PRIVATE, 2);
	}

	void unlock()
	{
		if (word.exchange(0) == 2)
			futex(&word, FUTEX_WAKE_PRIVATE, 1);
	}

      private:
	std::atomic<uint32_t> word{ 0 };
};

static constexpr int thread_count = 12, stack_size = 64 << 10;
static FutexLock work_mutex;
alignas(16) static char stacks[thread_count][stack_size];
/* The kernel writes each thread's id here, and zeroes it and wakes its waiters when it is gone. */
static std::atomic<uint32_t> alive[thread_count];

static int mutex_work(void *)
{
	std::lock_guard<FutexLock> guard(work_mutex);
	timespec delay{ 0, 150 * 1000 * 1000 };

	syscall(SYS_nanosleep, &delay, nullptr);
	return 0;
}

int main()
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

	for (int i = 0; i < thread_count; i++)
		if (clone(mutex_work, stacks[i] + stack_size, flags, nullptr, &alive[i], nullptr, &alive[i]) < 0) {
			perror("clone");
			return 1;
		}
	for (auto &word : alive)
		while (uint32_t tid = word)
			futex(&word, FUTEX_WAIT, tid); /* not private: the kernel's wake is not */
	return 0;
}
