// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pipeline [fixed]
 * A sample to try pinch on: a small log indexer. The thread `reader` makes batches of log lines,
 * four `worker-N` parse them and add each record to one index, and `writer` sums up the batches.
 *
 * Planted bottleneck: it has four workers and yet hardly keeps one CPU busy, for Index::add()
 * normalises every message, its most expensive step, while it holds Index::mutex_.
 * Known answer: Index::normalise(), called from Index::add(), leads the critical paths; the
 * heaviest wait is `lock`, on message_index.mutex_, in Index::add(). With `fixed` as argument, the
 * message is normalised before the lock is taken: compare the times.
 */
#include <cctype>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static constexpr int batch_count = 900, lines_per_batch = 100, worker_count = 4;

struct Record {
	std::string level, message;
	uint64_t checksum;
};

using Batch = std::vector<std::string>;
using Totals = std::map<std::string, int>;

/* A queue with room for eight, which can be closed. */
template <typename T> class Queue
{
      public:
	NOINLINE void push(T item)
	{
		std::unique_lock<std::mutex> guard(mutex_);
		not_full_.wait(guard, [&] { return items_.size() < 8; });
		items_.push_back(std::move(item));
		not_empty_.notify_one();
	}

	NOINLINE bool pop(T &item)
	{
		std::unique_lock<std::mutex> guard(mutex_);
		not_empty_.wait(guard, [&] { return !items_.empty() || is_closed_; });
		if (items_.empty())
			return false;
		item = std::move(items_.front());
		items_.pop_front();
		not_full_.notify_one();
		return true;
	}

	void close()
	{
		std::lock_guard<std::mutex> guard(mutex_);
		is_closed_ = true;
		not_empty_.notify_all();
	}

      private:
	std::mutex mutex_;
	std::condition_variable not_full_, not_empty_;
	std::deque<T> items_;
	bool is_closed_ = false;
};

class Index
{
      public:
	/* Lower case, numbers folded to one '#', and a fingerprint that is costly on purpose. */
	static NOINLINE std::string normalise(std::string_view message)
	{
		std::string text;
		uint64_t hash = 14695981039346656037u;

		for (char c : message) {
			if (!isdigit(c))
				text += tolower(c);
			else if (text.empty() || text.back() != '#')
				text += '#';
		}
		for (int pass = 0; pass < 500; pass++)
			for (char c : text)
				hash = (hash ^ c) * 1099511628211u;
		return text + ' ' + std::to_string(hash);
	}

	/* The planted bottleneck: normalise() needs nothing that the lock protects. */
	NOINLINE void add(const Record &record)
	{
		if (is_fixed) {
			std::string key = normalise(record.message);
			std::lock_guard<std::mutex> guard(mutex_);
			counts_[key]++;
		} else {
			std::lock_guard<std::mutex> guard(mutex_);
			counts_[normalise(record.message)]++;
		}
	}

	size_t size() const
	{
		return counts_.size();
	}

	bool is_fixed = false; /* set before the threads start */

      private:
	std::mutex mutex_;
	Totals counts_; /* protected by mutex_ */
};

static Index message_index;
static Queue<Batch> to_parse;
static Queue<Totals> to_write;

static NOINLINE Batch read_batch(int number)
{
	static const char *const levels[] = { "INFO", "INFO", "INFO", "WARN", "ERROR" };
	static const char *const services[] = { "Billing", "Search", "Login", "Mail" };
	static const char *const verbs[] = { "Finished", "Retried", "Queued" };
	Batch lines;

	for (int i = 0; i < lines_per_batch; i++)
		lines.push_back(std::string(levels[i % 5]) + " " + services[(number + i) % 4] + " " + verbs[i % 3] +
				" Request " + std::to_string(number * 7919 + i) + " On Shard " +
				std::to_string(number % 64));
	return lines;
}

static NOINLINE Record parse_line(const std::string &line)
{
	size_t space = line.find(' ');
	uint64_t checksum = 0; /* the line's, verified over and over: parsing costs something too */

	for (int pass = 0; pass < 200; pass++)
		for (char c : line)
			checksum = checksum * 31 + c;
	return { line.substr(0, space), line.substr(space + 1), checksum };
}

static NOINLINE void write_summary(const Totals &totals, Totals &sum)
{
	for (const auto &entry : totals)
		sum[entry.first] += entry.second;
}

static void read_all()
{
	for (int i = 0; i < batch_count; i++)
		to_parse.push(read_batch(i));
	to_parse.close();
}

static void parse_all()
{
	for (Batch lines; to_parse.pop(lines);) {
		Totals totals;

		for (const auto &line : lines) {
			Record record = parse_line(line);
			message_index.add(record);
			totals[record.level]++;
		}
		to_write.push(std::move(totals));
	}
}

static void write_all(Totals &sum)
{
	for (Totals totals; to_write.pop(totals);)
		write_summary(totals, sum);
}

static std::thread start(const std::string &name, std::function<void()> stage)
{
	std::thread thread(std::move(stage));

	pthread_setname_np(thread.native_handle(), name.c_str());
	return thread;
}

int main(int argc, char **argv)
{
	std::vector<std::thread> workers;
	Totals sum;

	message_index.is_fixed = argc > 1 && !strcmp(argv[1], "fixed");
	std::thread reader = start("reader", read_all);
	for (int i = 0; i < worker_count; i++)
		workers.push_back(start("worker-" + std::to_string(i), parse_all));
	std::thread writer = start("writer", [&] { write_all(sum); });

	reader.join();
	for (auto &worker : workers)
		worker.join();
	to_write.close();
	writer.join();
	for (const auto &entry : sum)
		printf("%-5s %d\n", entry.first.c_str(), entry.second);
	printf("%zu distinct messages\n", message_index.size());
	return 0;
}
