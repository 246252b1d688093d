// SPDX-License-Identifier: GPL-2.0-or-later
// Variables of C++. A std::mutex takes 40 bytes.

#include <array>
#include <bits/std_mutex.h>

namespace cache
{

struct Uncopyable {
};

struct Counted : private Uncopyable {
	long uses = 0;
	std::mutex count_lock;
};

class Store : public Uncopyable, public Counted
{
      public:
	static std::mutex instance_lock;
	static int instance_count;
	virtual ~Store()
	{
	}
	int find(int key);

	std::mutex lock;                // at 56
	std::mutex locks[2][2];         // at 96
	std::array<Counted, 3> counted; // at 256

	struct Inner {
		int value;
	} inner; // at 400
};

std::mutex Store::instance_lock;
Store store;
static std::mutex file_lock;
inline std::mutex shared_lock;
template <typename T> std::mutex lock_of;
using Stores = std::array<std::array<Store, 2>, 2>;
Stores stores;

int Store::find(int key)
{
	static std::mutex find_lock;
	std::lock_guard<std::mutex> a(find_lock), b(file_lock), c(shared_lock), d(lock_of<int>);

	return key + inner.value;
}

} // namespace cache

namespace
{
std::mutex anonymous_lock;
}

extern "C" {
std::mutex plain_lock;
}

std::mutex &reference = plain_lock;

int main(int count, char **)
{
	std::lock_guard<std::mutex> a(anonymous_lock), b(reference), c(cache::Store::instance_lock);

	return cache::store.find(count) + cache::stores[count & 1][0].find(count) == -1;
}
