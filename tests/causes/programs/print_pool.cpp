// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: four threads have pages printed by a pool of two threads, and wait for each page's future; a page takes
 * a sleep of 20 ms. Cured: of 1 ms.
 * Known answer: the sleep in print_page().
 */
#include "planted.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

enum { PRINTERS = 2, AUTHORS = 4, PRINT_MS = 20, CURED_MS = 1, WRITE_US = 200 };

class Pool
{
      public:
	std::future<int> Submit(int page)
	{
		std::packaged_task<int()> task([page] { return print_page(page); });
		std::future<int> printed = task.get_future();
		std::lock_guard<std::mutex> guard(mutex);

		tasks.push_back(std::move(task));
		changed.notify_one();
		return printed;
	}
	OWN_FRAME void Work()
	{
		std::unique_lock<std::mutex> guard(mutex);

		changed.wait(guard, [this] { return !tasks.empty(); });
		std::packaged_task<int()> task = std::move(tasks.front());
		tasks.pop_front();
		guard.unlock();
		task();
	}

      private:
	static OWN_FRAME int print_page(int page)
	{
		sleep_ms(is_cured ? CURED_MS : PRINT_MS);
		return page;
	}

	std::mutex mutex;
	std::condition_variable changed;
	std::deque<std::packaged_task<int()>> tasks; /* owned by mutex */
};

static Pool *pool;

static OWN_FRAME void write_page(int number)
{
	burn_us(WRITE_US);
	planted_done(pool->Submit(number).get() == number);
}

static void run_author(int number)
{
	for (;;)
		write_page(number);
}

static void run_printer(int)
{
	for (;;)
		pool->Work();
}

int main(int argc, char **argv)
{
	struct role authors[AUTHORS], printers[PRINTERS];

	planted_open(argc, argv);
	pool = new Pool;
	role_start_all(printers, PRINTERS, "printer-%d", run_printer);
	role_start_all(authors, AUTHORS, "author-%d", run_author);
	role_join_all(authors, AUTHORS);
	return 0;
}
