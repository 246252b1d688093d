// SPDX-License-Identifier: GPL-2.0-or-later
// Classes that only one of two units describes.
#pragma once

#include <pthread.h>

namespace app {

// Described with its constructor, by clang.
class Built {
public:
	Built();
	long uses;
	pthread_mutex_t lock;
};

// Described with its first virtual function.
class Virtual {
public:
	virtual void first();
	long uses = 0;
	pthread_mutex_t lock;
};

// The same name, somewhere else.
namespace other {
class Virtual {
public:
	virtual void first();
	pthread_mutex_t other_lock;
};
}

// A name that is too short to be worth a place among the strings.
class V {
public:
	virtual void first();
	pthread_mutex_t lock;
};

} // namespace app
