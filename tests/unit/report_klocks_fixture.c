/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_klocks_fixture.h"

#include <string.h>

#include "report/report.h"
#include "klocks/lengths.h"

/* What a fixture leaves out at the end of a struct is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { US = 1000, MS = 1000000 };

#define LARGEST (uint64_t) INT64_MAX /* that readers of JSON take */

static const struct report_frame fault_frames[] = {
	{ .function = "rwsem_down_read_slowpath", .is_kernel = true },
	{ .function = "down_read", .is_kernel = true },
	{ .function = "lock_mm_and_find_vma", .is_kernel = true },
	{ .function = "do_user_addr_fault", .is_kernel = true },
	{ "touch(char*)", "/home/ana/pinch/tests/programs/faults.cpp", 23, "faults", 0x12e3 },
	{ "main", "/home/ana/pinch/tests/programs/faults.cpp", 51, "faults", 0x1400 },
};

static const struct report_frame map_frames[] = {
	{ .function = "rwsem_down_write_slowpath", .is_kernel = true },
	{ .function = "vm_mmap_pgoff", .is_kernel = true },
	{ "mmap64", NULL, 0, "libc.so.6", 0x10f3a0 },
	{ NULL, NULL, 0, "faults", 0x1a2b },
};

static const struct report_frame owner_frames[] = {
	{ .function = "folio_wait_bit_common", .is_kernel = true },
};

static const struct report_frame worker_frames[] = {
	{ .function = "native_queued_spin_lock_slowpath", .is_kernel = true },
	{ .function = "_raw_spin_lock", .is_kernel = true },
	{ .function = "try_to_wake_up", .is_kernel = true },
	{ .function = "kthread", .is_kernel = true },
};

static const struct report_klock_stack stacks[] = {
	{ fault_frames, COUNT(fault_frames), &fault_frames[3] },
	{ map_frames, COUNT(map_frames), &map_frames[1] },
	{ owner_frames, COUNT(owner_frames), &owner_frames[0] },
	{ worker_frames, COUNT(worker_frames), &worker_frames[2] },
};

static const struct report_klock_waiter read_waiters[] = {
	{ "faults", WAKE_THREAD, 4711, 4712, 1800, 1200 * (uint64_t)MS, 30 * MS, 1 },
	{ "faults", WAKE_THREAD, 4711, 4713, 200, 300 * MS, 40 * MS, 1 },
	{ "writer", WAKE_THREAD, 4711, 4714, 3, 80 * MS, 60 * MS, 0 },
	{ NULL, WAKE_THREAD, 0, 0, 90, 20 * MS, 1 * MS, 0 },
};

static const struct report_klock_owner read_owners[] = {
	{ "writer", 4714, 1500, 1400 * (uint64_t)MS, 3 },
	{ NULL, 0, 20, 100 * MS, 0 },
	{ NULL, 77, 1, 1 * MS, 0 },
};

static const struct report_klock_path read_paths[] = { { 2000, 1500 * (uint64_t)MS, 1 } };

static const struct report_klock_waiter write_waiters[] = {
	{ "writer", WAKE_THREAD, 4711, 4714, 1, 90 * MS, 90 * MS, 2 },
};
static const struct report_klock_owner write_owners[] = { { NULL, 0, 1, 90 * MS, 0 } };
static const struct report_klock_path write_paths[] = { { 1, 90 * MS, 2 } };

static const struct report_klock_waiter spin_waiters[] = {
	{ "faults", WAKE_SOFTIRQ, 4711, 4712, 40, 60 * US, 9 * US, 0 },
	{ "faults", WAKE_THREAD, 4711, 4713, 10, 40 * US, 8 * US, 0 },
	{ "ksoftirqd/1", WAKE_THREAD, 0, 23, 5, 10 * US, 4 * US, 4 },
};
static const struct report_klock_path spin_paths[] = { { 5, 10 * US, 4 } };

static const struct report_klock_waiter other_waiters[] = {
	{ "faults", WAKE_HARDIRQ, 4711, 4712, 2, 600, 500, 0 },
};

/* One for each wait, in as few steps as may be. */
static uint32_t read_lengths[LENGTHS], write_lengths[LENGTHS], spin_lengths[LENGTHS], other_lengths[LENGTHS],
	spinlock_lengths[LENGTHS];
static const uint32_t none[LENGTHS];

static const struct report_klock locks[] = {
	{
		.name = "mmap_lock of faults",
		.kind = "rwsem read",
		.address = "0xffff888104a3c118",
		.cache = "mm_struct",
		.where = "lock_mm_and_find_vma",
		.waits = 2093,
		.wait_ns = 1600 * (uint64_t)MS,
		.mean_ns = 764452,
		.p50_ns = 700 * US,
		.p90_ns = 2 * MS,
		.p99_ns = 20 * MS,
		.max_ns = 60 * MS,
		.unfinished = 2,
		.given_up = 7,
		.waiters = read_waiters,
		.waiter_count = COUNT(read_waiters),
		.owners = read_owners,
		.owner_count = COUNT(read_owners),
		.paths = read_paths,
		.path_count = COUNT(read_paths),
		.histogram = read_lengths,
	},
	{
		.name = "mmap_lock of faults",
		.kind = "rwsem write",
		.address = "0xffff888104a3c118",
		.where = "vm_mmap_pgoff",
		.waits = 1,
		.wait_ns = 90 * MS,
		.mean_ns = 90 * MS,
		.p50_ns = 90 * MS,
		.p90_ns = 90 * MS,
		.p99_ns = 90 * MS,
		.max_ns = 90 * MS,
		.waiters = write_waiters,
		.waiter_count = COUNT(write_waiters),
		.owners = write_owners,
		.owner_count = COUNT(write_owners),
		.paths = write_paths,
		.path_count = COUNT(write_paths),
		.histogram = write_lengths,
	},
	{
		.kind = "spinlock",
		.address = "0xffff88810b0d2a40",
		.cache = "kmalloc-512",
		.where = "free_pcppages_bulk",
		.waits = 55,
		.wait_ns = 110 * US,
		.mean_ns = 2 * US,
		.p50_ns = 1 * US,
		.p90_ns = 4 * US,
		.p99_ns = 9 * US,
		.max_ns = 9 * US,
		.waiters = spin_waiters,
		.waiter_count = COUNT(spin_waiters),
		.paths = spin_paths,
		.path_count = COUNT(spin_paths),
		.histogram = spin_lengths,
	},
	{
		.kind = "spinlock",
		.address = "others",
		.waits = 2,
		.wait_ns = 600,
		.mean_ns = 300,
		.p50_ns = 100,
		.p90_ns = 500,
		.p99_ns = 500,
		.max_ns = 500,
		.waiters = other_waiters,
		.waiter_count = COUNT(other_waiters),
		.histogram = other_lengths,
	},
};

static const struct report_klock_kind kinds[] = {
	{ "rwsem read", 2093, 1600 * (uint64_t)MS, 1600 * (uint64_t)MS / 2093, 300 * US, 700 * US, 1 * MS, 20 * MS,
	  60 * MS, read_lengths },
	{ "rwsem write", 1, 90 * MS, 90 * MS, 90 * MS, 90 * MS, 90 * MS, 90 * MS, 90 * MS, write_lengths },
	{ "spinlock", 57, 110600, 110600 / 57, 600, 1 * US, 2 * US, 9 * US, 9 * US, spinlock_lengths },
};

void report_klocks_set(struct report *report)
{
	read_lengths[length_index(600 * US)] = 2000;
	read_lengths[length_index(5 * MS)] = 92;
	read_lengths[length_index(60 * MS)] = 1;
	write_lengths[length_index(90 * MS)] = 1;
	spin_lengths[length_index(900)] = 55;
	other_lengths[0] = 1;
	other_lengths[length_index(500)] = 1;
	for (size_t i = 0; i < LENGTHS; i++)
		spinlock_lengths[i] = spin_lengths[i] + other_lengths[i];
	report->kernel_locks = (struct report_klocks){
		.waits = 2151,
		.wait_ns = 1690110600,
		.tracing_ns = 4302 * US,
		.locks = locks,
		.lock_count = COUNT(locks),
		.waited_count = COUNT(locks),
		.kinds = kinds,
		.kind_count = COUNT(kinds),
		.stacks = stacks,
		.stack_count = COUNT(stacks),
	};
}

void report_klocks_set_held(struct report *report)
{
	static struct report_klock taken[COUNT(locks) + 2];
	struct report_klocks *klocks = &report->kernel_locks;

	report_klocks_set(report);
	memcpy(taken, locks, sizeof(locks));
	for (size_t i = 0; i < COUNT(locks); i++)
		taken[i].is_counted = true;
	taken[0].acquisitions = 123456;
	taken[0].take_ns = 1700 * (uint64_t)MS;
	taken[0].holds = 123455;
	taken[0].hold_ns = 800 * (uint64_t)MS;
	taken[0].max_hold_ns = 61 * MS;
	taken[2].acquisitions = 1;
	taken[COUNT(locks)] = (struct report_klock){
		.name = "mutex of pipe:[4711]",
		.kind = "mutex",
		.address = "0xffff888104a3d000",
		.where = "pipe_read",
		.acquisitions = 2000,
		.take_ns = 3 * MS,
		.holds = 2000,
		.hold_ns = 900 * (uint64_t)MS,
		.max_hold_ns = 2 * MS,
		.histogram = none,
		.is_counted = true,
	};
	taken[COUNT(locks) + 1] = (struct report_klock){
		.kind = "my mutex",
		.address = "0xffff888104a3e000",
		.where = "anon_vma_clone",
		.acquisitions = 30,
		.take_ns = 900,
		.holds = 30,
		.hold_ns = 12 * US,
		.max_hold_ns = 4 * US,
		.histogram = none,
		.is_counted = true,
	};
	klocks->locks = taken;
	klocks->lock_count = COUNT(taken);
	klocks->counts_acquisitions = true;
	klocks->acquisitions = 125487;
	klocks->take_ns = 1703000900;
	klocks->hold_ns = 1700012000;
	klocks->take_cost_ns = 842;
	klocks->hold_cost_ns = 761;
}

void report_klocks_set_hostile(struct report *report, const char *evil)
{
	static struct report_frame frames[3];
	static struct report_klock_stack stack = { frames, COUNT(frames), frames };
	static struct report_klock_waiter waiters[2];
	static struct report_klock_owner owner;
	static const struct report_klock_path path = { LARGEST, LARGEST, 1 };
	static struct report_klock lock;

	frames[0] = (struct report_frame){ .function = evil, .is_kernel = true };
	frames[1] = (struct report_frame){ .function = "", .file = evil, .module = evil };
	waiters[0] =
		(struct report_klock_waiter){ evil, WAKE_THREAD, UINT32_MAX, UINT32_MAX, LARGEST, LARGEST, LARGEST, 1 };
	owner = (struct report_klock_owner){ evil, UINT32_MAX, LARGEST, LARGEST, 1 };
	lock = (struct report_klock){
		.name = evil,
		.kind = "mutex",
		.address = "0xffffffffffffffff",
		.cache = evil,
		.where = evil,
		.waits = LARGEST,
		.wait_ns = LARGEST,
		.mean_ns = 1,
		.p50_ns = LARGEST,
		.p90_ns = LARGEST,
		.p99_ns = LARGEST,
		.max_ns = LARGEST,
		.unfinished = LARGEST,
		.given_up = LARGEST,
		.acquisitions = LARGEST,
		.take_ns = LARGEST,
		.holds = LARGEST,
		.hold_ns = LARGEST,
		.max_hold_ns = LARGEST,
		.is_counted = true,
		.waiters = waiters,
		.waiter_count = COUNT(waiters),
		.owners = &owner,
		.owner_count = 1,
		.paths = &path,
		.path_count = 1,
		.histogram = other_lengths,
	};
	report->kernel_locks = (struct report_klocks){
		.waits = LARGEST,
		.wait_ns = LARGEST,
		.tracing_ns = LARGEST,
		.locks = &lock,
		.lock_count = 1,
		.waited_count = 1,
		.counts_acquisitions = true,
		.acquisitions = LARGEST,
		.take_ns = LARGEST,
		.hold_ns = LARGEST,
		.take_cost_ns = LARGEST,
		.hold_cost_ns = LARGEST,
		.kinds = kinds,
		.kind_count = 1,
		.stacks = &stack,
		.stack_count = 1,
	};
}
