// SPDX-License-Identifier: GPL-2.0-or-later
/* The plug-in that dlopen_plugin.cpp loads: plugin_hot() computes for as long as it is asked to. */
#include <chrono>
#include <cstdint>

extern "C" uint64_t __attribute__((noinline)) plugin_hot(unsigned length_ms)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(length_ms);
	uint64_t x = length_ms;

	while (std::chrono::steady_clock::now() < end)
		for (int i = 0; i < 5000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
