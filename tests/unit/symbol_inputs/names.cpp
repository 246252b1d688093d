// SPDX-License-Identifier: GPL-2.0-or-later
// Names that need demangling.

volatile int sink;

namespace cache
{

template <typename T> struct Table {
	__attribute__((noinline)) int find(T key, const char *name)
	{
		sink = key + name[0];
		return sink;
	}
};

class Store
{
      public:
	__attribute__((noinline)) int method(int value);
};

int Store::method(int value)
{
	sink = value;
	return sink + 1;
}

} // namespace cache

extern "C" __attribute__((noinline)) int legacy_rust(int value) __asm__(
	"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE");

extern "C" __attribute__((noinline)) int legacy_rust(int value)
{
	sink = value;
	return sink + 2;
}

extern "C" __attribute__((noinline)) int v0_rust(int value) __asm__("_RNvNtCs1234_7mycrate3foo3bar");

extern "C" __attribute__((noinline)) int v0_rust(int value)
{
	sink = value;
	return sink + 3;
}

extern "C" __attribute__((noinline)) int clone_of_c(int value) __asm__("plain.constprop.0");

extern "C" __attribute__((noinline)) int clone_of_c(int value)
{
	sink = value;
	return sink + 4;
}

int main(int count, char **args)
{
	cache::Table<int> table;
	cache::Store store;

	return table.find(count, args[0]) + store.method(count) + legacy_rust(count) + v0_rust(count) +
		       clone_of_c(count) ==
	       -1;
}
