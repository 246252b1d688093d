// SPDX-License-Identifier: GPL-2.0-or-later
// With IS_DESCRIBED, the unit that has all of the classes; else the one that has the variables.

#include "declared.hpp"

#ifdef IS_DESCRIBED

namespace app
{
Built::Built() : uses(1)
{
}
void other::Virtual::first()
{
}
void Virtual::first()
{
	uses++;
}
void V::first()
{
}
} // namespace app

#else

app::Built built[2];
app::Virtual is_virtual;
app::other::Virtual other;
app::V v;

struct Holder {
	long before;
	app::Virtual inner;
} holder;

int main()
{
	return pthread_mutex_lock(&built[0].lock) + pthread_mutex_lock(&is_virtual.lock) +
	       pthread_mutex_lock(&other.other_lock) + pthread_mutex_lock(&v.lock) +
	       pthread_mutex_lock(&holder.inner.lock);
}

#endif
