/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "collect/ring/ring_sizes.h"
#include "shared.h"

/* Of all rings of all CPUs, those of the machine's records included. */
static size_t total_bytes(unsigned int cpu_count)
{
	struct ring_sizes sizes = ring_sizes_choose(cpu_count, 0);

	return cpu_count * (sizes.slots * sizeof(struct slot) + 2 * sizes.main_bytes + sizes.sample_bytes);
}

TEST(the_rings_of_64_cpus_are_as_large_as_those_of_one)
{
	CHECK(ring_sizes_choose(64, 0).slots == ring_sizes_choose(1, 0).slots);
	CHECK(ring_sizes_choose(65, 0).slots == ring_sizes_choose(1, 0).slots / 2);
}

TEST(all_rings_of_any_machine_take_less_than_a_gigabyte)
{
	for (unsigned int cpu_count = 1; cpu_count <= KERNEL_CPUS_MAX; cpu_count++)
		CHECK_THAT(total_bytes(cpu_count), <, 1ull << 30);
}

TEST(what_is_asked_for_is_rounded_down_to_a_power_of_two_of_slots)
{
	struct ring_sizes sizes = ring_sizes_choose(256, 3 * sizeof(struct slot) * 1024);

	CHECK(sizes.slots == 2048);
}

TEST(a_tiny_ring_for_switches_leaves_a_page_for_other_records)
{
	struct ring_sizes sizes = ring_sizes_choose(2, sizeof(struct slot));

	CHECK(sizes.slots == 1);
	CHECK(sizes.main_bytes == 4096 && sizes.sample_bytes == 4096);
}
