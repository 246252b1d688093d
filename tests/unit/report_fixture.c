/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"
#include "report_go_fixture.h"
#include "report_klocks_fixture.h"
#include "report_activities_fixture.h"
#include "report_listeners_fixture.h"
#include "report_loops_fixture.h"

/* What a fixture leaves out at the end of a struct is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { MS = 1000000 };

struct report_fixture {
	struct report report;
	struct arena *arena;
};

static const struct report_frame lock_frames[] = {
	{ "futex_wait", "nptl/futex-internal.h", 146, "libc.so.6", 0x8c3a0, true, false, false },
	{ "__lll_lock_wait", "nptl/lowlevellock.c", 49, "libc.so.6", 0x8c3a0, false, false, false },
	{ "pthread_mutex_lock", "nptl/pthread_mutex_lock.c", 93, "libc.so.6", 0x92c50, false, false, false },
	{ "__gthread_mutex_lock(pthread_mutex_t*)", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", 749,
	  "multi_mutex", 0x12e3, true, false, false },
	{ "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100, "multi_mutex", 0x12e3, true, false,
	  false },
	{ "std::lock_guard<std::mutex>::lock_guard(std::mutex&)", "/usr/include/c++/12/bits/std_mutex.h", 229,
	  "multi_mutex", 0x12e3, true, false, false },
	{ "big_work(int)", "/home/ana/pinch/tests/programs/multi_mutex.cpp", 23, "multi_mutex", 0x12e3, false, false,
	  false },
	{ "random_work(int, int)", "/home/ana/pinch/tests/programs/multi_mutex.cpp", 67, "multi_mutex", 0, false, false,
	  false, true },
	{ "void std::__invoke_impl<void, void (*)(int, int), int, int>(std::__invoke_other, "
	  "void (*&&)(int, int), int&&, int&&)",
	  "/usr/include/c++/12/bits/invoke.h", 61, "multi_mutex", 0x1a00, true, false, false },
	{ "std::thread::_Invoker<std::tuple<void (*)(int, int), int, int> >::operator()()",
	  "/usr/include/c++/12/bits/std_thread.h", 258, "multi_mutex", 0x1a00, true, false, false },
	{ "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int, int), int, "
	  "int> > >::_M_run()",
	  "/usr/include/c++/12/bits/std_thread.h", 211, "multi_mutex", 0x1a00, false, false, false },
	{ "execute_native_thread_routine", NULL, 0, "libstdc++.so.6.0.30", 0xd44a3, false, false, false },
	{ "start_thread", "nptl/pthread_create.c", 442, "libc.so.6", 0x89044, false, false, false },
	{ "clone3", "x86_64/clone3.S", 81, "libc.so.6", 0x1095fc, false, false, false },
};

static const struct report_line big_lines[] = {
	{ "/home/ana/pinch/tests/programs/multi_mutex.cpp", 27, 812 },
	{ "/home/ana/pinch/tests/programs/multi_mutex.cpp", 26, 204 },
};

static const struct report_line lock_lines[] = {
	{ "nptl/lowlevellock.c", 49, 31 },
};

static const struct report_function lock_functions[] = {
	{ "big_work(int)", 1016, 0, big_lines, COUNT(big_lines) },
	{ "__lll_lock_wait", 31, 31, lock_lines, COUNT(lock_lines) },
	{ "random_work(int, int)", 4, 0, NULL, 0 },
};

static const struct report_frame join_frames[] = {
	{ "__futex_abstimed_wait_common", "nptl/futex-internal.c", 57, "libc.so.6", 0x85d36, false, false, false },
	{ "pthread_join", "nptl/pthread_join_common.c", 105, "libc.so.6", 0x8b00f, false, false, false },
	{ "std::thread::join()", NULL, 0, "libstdc++.so.6.0.30", 0xd45a0, false, false, false },
	{ "main", "/home/ana/pinch/tests/programs/multi_mutex.cpp", 79, "multi_mutex", 0x1190, false, false, false },
	{ "__libc_start_call_main", "csu/libc_start_call_main.h", 58, "libc.so.6", 0x271c9, false, false, false },
	{ "__libc_start_main", "csu/libc-start.c", 360, "libc.so.6", 0x27284, false, false, false },
	{ "_start", NULL, 0, "multi_mutex", 0x1250, false, false, false },
};

static const struct report_function join_functions[] = {
	{ "__futex_abstimed_wait_common", 8, 8, NULL, 0 },
};

static const char *const lock_thread_names[] = { "multi_mutex" };

static const struct report_path lock_paths[] = {
	{ .rank = 1,
	  .cmetric_ns = 2989 * (uint64_t)MS,
	  .wall_share = 0.710,
	  .slices = 1233,
	  .stalled_ns = 412 * (uint64_t)MS,
	  .thread_names = lock_thread_names,
	  .thread_name_count = 1,
	  .thread_count = 144,
	  .frames = lock_frames,
	  .frame_count = COUNT(lock_frames),
	  .stack_end = STACK_COMPLETE,
	  .functions = lock_functions,
	  .function_count = COUNT(lock_functions),
	  .cause = CAUSE_LOCK,
	  .group = GROUP_SYNCHRONISATION },
	{ .rank = 2,
	  .cmetric_ns = 214 * (uint64_t)MS,
	  .wall_share = 0.0508,
	  .slices = 402,
	  .thread_names = lock_thread_names,
	  .thread_name_count = 1,
	  .thread_count = 141,
	  .frames = lock_frames + 5,
	  .frame_count = COUNT(lock_frames) - 5,
	  .stack_end = STACK_TRUNCATED,
	  .names_hint = "code that Java compiled has no names: use --java-map",
	  .functions = lock_functions + 2,
	  .function_count = 1,
	  .cause = CAUSE_PREEMPTED,
	  .group = GROUP_UNKNOWN },
	{ .rank = 3,
	  .cmetric_ns = 17 * (uint64_t)MS,
	  .wall_share = 0.004,
	  .slices = 8,
	  .stalled_ns = 93 * (uint64_t)MS,
	  .thread_names = lock_thread_names,
	  .thread_name_count = 1,
	  .thread_count = 1,
	  .frames = join_frames,
	  .frame_count = COUNT(join_frames),
	  .stack_end = STACK_COMPLETE,
	  .functions = join_functions,
	  .function_count = COUNT(join_functions),
	  .cause = CAUSE_JOIN,
	  .group = GROUP_SYNCHRONISATION },
	{ .rank = 4,
	  .cmetric_ns = 2 * (uint64_t)MS,
	  .wall_share = 0.0005,
	  .slices = 3,
	  .thread_names = lock_thread_names,
	  .thread_name_count = 1,
	  .thread_count = 3,
	  .cause = CAUSE_UNKNOWN,
	  .group = GROUP_NONE,
	  .stack_end = STACK_COMPLETE },
};

/* Who unlocks, and what else can end a wait. */
static const struct report_frame unlock_frames[] = {
	{ "__lll_lock_wake", "nptl/lowlevellock.c", 60, "libc.so.6", 0x8c3f0, false, false, false },
	{ "std::mutex::unlock()", "/usr/include/c++/12/bits/std_mutex.h", 118, "multi_mutex", 0x12f8, true, false,
	  false },
	{ "big_work(int)", "/home/ana/pinch/tests/programs/multi_mutex.cpp", 28, "multi_mutex", 0x12f8, false, false,
	  false },
};

static const struct report_waker lock_wakers[] = {
	{ .context = WAKER_THREAD,
	  .name = "multi_mutex",
	  .names = "multi_mutex",
	  .share = 0.83,
	  .wait_ns = 38020 * (uint64_t)MS,
	  .waits = 310,
	  .cmetric_ns = 2950 * (uint64_t)MS,
	  .frames = unlock_frames,
	  .frame_count = COUNT(unlock_frames) },
	{ .context = WAKER_THREAD,
	  .name = "multi_mutex",
	  .share = 0.16,
	  .wait_ns = 7330 * (uint64_t)MS,
	  .waits = 902,
	  .cmetric_ns = 41 * (uint64_t)MS },
	{ .context = WAKER_SIGNAL,
	  .name = "multi_mutex",
	  .share = 0.01,
	  .wait_ns = 458 * (uint64_t)MS,
	  .waits = 2,
	  .frames = join_frames,
	  .frame_count = COUNT(join_frames) },
};

static const struct report_waker other_wakers[] = {
	{ .context = WAKER_EXIT,
	  .name = "worker-4",
	  .names = "worker-*",
	  .share = 0.62,
	  .wait_ns = 2110 * (uint64_t)MS,
	  .waits = 90,
	  .cmetric_ns = 100 * (uint64_t)MS,
	  .frames = unlock_frames + 2,
	  .frame_count = 1 },
	{ .context = WAKER_PROCESS, .name = "client", .share = 0.2, .wait_ns = 680 * (uint64_t)MS, .waits = 20 },
	{ .context = WAKER_KERNEL, .name = "kworker/u8:2", .share = 0.1, .wait_ns = 340 * (uint64_t)MS, .waits = 10 },
	{ .context = WAKER_TIMER, .share = 0.05, .wait_ns = 170 * (uint64_t)MS, .waits = 5 },
	{ .context = WAKER_NONE, .share = 0.03, .wait_ns = 102 * (uint64_t)MS, .waits = 1 },
};

static const struct report_rival lock_rivals[] = {
	{ RIVAL_PROGRAM, NULL, 0, 1247 * (uint64_t)MS },
	{ RIVAL_PROCESS, "rustc", 4711, 390 * (uint64_t)MS },
	{ RIVAL_KERNEL, "kworker/u8:3", 88, 121 * (uint64_t)MS },
};

static const struct report_cause lock_causes[] = {
	{ CAUSE_LOCK, GROUP_SYNCHRONISATION, 45810 * (uint64_t)MS, 0, 1214, false },
	{ CAUSE_PREEMPTED, GROUP_UNKNOWN, 1758 * (uint64_t)MS, 0, 9120, true },
	{ CAUSE_CONDITION, GROUP_SYNCHRONISATION, 4190 * (uint64_t)MS, 3900 * (uint64_t)MS, 12, false },
	{ CAUSE_JOIN, GROUP_SYNCHRONISATION, 3400 * (uint64_t)MS, 0, 126, false },
	{ CAUSE_PAGE_FAULT, GROUP_IO, 2 * (uint64_t)MS, 0, 40, false },
};

static const struct report_blocked_code lock_blocked_code[] = {
	{ .ns = 40200 * (uint64_t)MS,
	  .error_ns = 1200 * (uint64_t)MS,
	  .samples = 8123,
	  .frames = lock_frames,
	  .frame_count = COUNT(lock_frames) },
};

static const struct report_blocked_wait lock_blocked_waits[] = {
	{ .ns = 2000 * (uint64_t)MS,
	  .cause = CAUSE_FILE,
	  .object = "/var/lib/\x1b[31mlog",
	  .frames = join_frames,
	  .frame_count = COUNT(join_frames) },
};

static const struct report_blocked_on lock_blocked_on = {
	.ns = 45810 * (uint64_t)MS,
	.running_ns = 40210 * (uint64_t)MS,
	.cpu_wait_ns = 3000 * (uint64_t)MS,
	.waiting_ns = 2500 * (uint64_t)MS,
	.unknown_ns = 100 * (uint64_t)MS,
	.text = "88 % (+-3 %) ran big_work() (multi_mutex.cpp:28), called by worker(); 7 % waited for a CPU; 4 % waited: file "
		"/var/lib/\x1b[31mlog",
	.samples = 1016,
	.code = lock_blocked_code,
	.code_count = COUNT(lock_blocked_code),
	.waits = lock_blocked_waits,
	.wait_count = COUNT(lock_blocked_waits),
};

static const struct report_cpu_taken lock_cpu_taken = {
	.ns = 40200 * (uint64_t)MS,
	.samples = 512,
	.text = "97 % big_work() (multi_mutex.cpp:28)",
	.code = lock_blocked_code,
	.code_count = COUNT(lock_blocked_code),
};

static const struct report_wait lock_waits[] = {
	{ .cause = CAUSE_LOCK,
	  .group = GROUP_SYNCHRONISATION,
	  .object = "work_mutex",
	  .wait_ns = 45810 * (uint64_t)MS,
	  .waits = 1214,
	  .max_ns = 552 * (uint64_t)MS,
	  .cmetric_ns = 2989 * (uint64_t)MS,
	  .frames = lock_frames,
	  .frame_count = COUNT(lock_frames),
	  .stack_end = STACK_COMPLETE,
	  .wakers = lock_wakers,
	  .waker_count = COUNT(lock_wakers),
	  .blocked_on = &lock_blocked_on },
	{ .cause = CAUSE_JOIN,
	  .group = GROUP_SYNCHRONISATION,
	  .wait_ns = 3400 * (uint64_t)MS,
	  .waits = 126,
	  .max_ns = 700 * (uint64_t)MS,
	  .frames = join_frames,
	  .frame_count = COUNT(join_frames),
	  .stack_end = STACK_COMPLETE,
	  .wakers = other_wakers,
	  .waker_count = COUNT(other_wakers) },
	{ .cause = CAUSE_CONDITION,
	  .group = GROUP_SYNCHRONISATION,
	  .wait_ns = 4190 * (uint64_t)MS,
	  .idle_ns = 3900 * (uint64_t)MS,
	  .waits = 12,
	  .max_ns = 4000 * (uint64_t)MS,
	  .stack_end = STACK_UNREADABLE,
	  .wakers = other_wakers + 4,
	  .waker_count = 1 },
	{ .cause = CAUSE_OTHER,
	  .syscall = "pause",
	  .group = GROUP_UNKNOWN,
	  .wait_ns = 2 * (uint64_t)MS,
	  .waits = 1,
	  .max_ns = 2 * (uint64_t)MS,
	  .stack_end = STACK_COMPLETE },
};

static const struct report_lock lock_locks[] = {
	{ .name = "work_mutex",
	  .blocked_on = &lock_blocked_on,
	  .address = "0x4c8140",
	  .kind = "mutex",
	  .where = "big_work(int)",
	  .waits = 1214,
	  .wait_ns = 45810 * (uint64_t)MS,
	  .p50_ns = 9 * (uint64_t)MS,
	  .p99_ns = 470 * (uint64_t)MS,
	  .max_ns = 552 * (uint64_t)MS,
	  .queue_max = 17,
	  .hold_ns = 4040 * (uint64_t)MS,
	  .holds = 1214,
	  .holder = "multi_mutex",
	  .unlockers = lock_wakers,
	  .unlocker_count = COUNT(lock_wakers),
	  .waker = "multi_mutex",
	  .waker_share = 0.83,
	  .spurious_wakeups = 7 },
	{ .address = "0x7f3c5501e990",
	  .kind = "join",
	  .where = "main",
	  .waits = 1,
	  .wait_ns = 700 * (uint64_t)MS,
	  .p50_ns = 700 * (uint64_t)MS,
	  .p99_ns = 700 * (uint64_t)MS,
	  .max_ns = 700 * (uint64_t)MS,
	  .queue_max = 1,
	  .unlockers = other_wakers,
	  .unlocker_count = 1,
	  .waker = "multi_mutex",
	  .waker_share = 1 },
	{ .address = "0x7f3c00001020",
	  .kind = "rwlock",
	  .waits = 3,
	  .wait_ns = 301 * (uint64_t)MS,
	  .p50_ns = 100 * (uint64_t)MS,
	  .p99_ns = 120 * (uint64_t)MS,
	  .max_ns = 120 * (uint64_t)MS,
	  .queue_max = 2,
	  .hold_ns = 90 * (uint64_t)MS,
	  .holds = 1 },
	{ .address = "others",
	  .kind = "futex",
	  .waits = 9,
	  .wait_ns = 1 * (uint64_t)MS,
	  .idle_ns = 1 * (uint64_t)MS,
	  .p50_ns = 1000,
	  .p99_ns = 2000,
	  .max_ns = 3000,
	  .queue_max = 1 },
};

static const struct report_file lock_files[] = {
	{ .path = "/var/lib/data/ib_logfile0",
	  .inode = 406978,
	  .device = { 254, 0 },
	  .cause = CAUSE_FILE,
	  .wait_ns = 396 * (uint64_t)MS,
	  .waits = 7320,
	  .max_ns = 4 * (uint64_t)MS,
	  .cmetric_ns = 43 * (uint64_t)MS,
	  .transfer = { .write_ns = 396 * (uint64_t)MS, .asked_bytes = 3747840, .asked_waits = 7320 } },
	{ .path = "/tmp/\033[31mred\nname",
	  .inode = 17,
	  .device = { 0, 30 },
	  .is_deleted = true,
	  .cause = CAUSE_FILE,
	  .wait_ns = 90 * (uint64_t)MS,
	  .waits = 3,
	  .max_ns = 40 * (uint64_t)MS,
	  .transfer = { .read_ns = 60 * (uint64_t)MS,
			.write_ns = 20 * (uint64_t)MS,
			.asked_bytes = 65536,
			.asked_waits = 1 } },
	{ .path = "pipe:[9917]",
	  .inode = 9917,
	  .device = { 0, 14 },
	  .cause = CAUSE_PIPE,
	  .wait_ns = 80 * (uint64_t)MS,
	  .idle_ns = 79 * (uint64_t)MS,
	  .waits = 10,
	  .max_ns = 9 * (uint64_t)MS,
	  .transfer = { .read_ns = 80 * (uint64_t)MS, .asked_bytes = 40960, .asked_waits = 10 },
	  .other_end = { .peer_name = "feeder\033[2J",
			 .peer_thread = "feed-1",
			 .peer_pid = 4803,
			 .peer_share = 0.97 } },
	{ .path = "others",
	  .cause = CAUSE_FILE,
	  .wait_ns = 2 * (uint64_t)MS,
	  .waits = 4100,
	  .max_ns = 1 * (uint64_t)MS },
};

static const struct report_socket lock_sockets[] = {
	{ .family = FAMILY_IPV4,
	  .local = "127.0.0.1:40312",
	  .peer = "127.0.0.1:3306",
	  .host = "db.example",
	  .wait_ns = 120 * (uint64_t)MS,
	  .waits = 44,
	  .connections = 1,
	  .max_ns = 11 * (uint64_t)MS,
	  .cmetric_ns = 5 * (uint64_t)MS,
	  .transfer = { .read_ns = 100 * (uint64_t)MS, .write_ns = 20 * (uint64_t)MS },
	  .other_end = { .peer_name = "mariadbd", .peer_thread = "connection", .peer_pid = 812, .peer_share = 0.8 } },
	{ .family = FAMILY_UNIX,
	  .local = "",
	  .peer = "",
	  .wait_ns = 110 * (uint64_t)MS,
	  .waits = 3,
	  .connections = 1,
	  .max_ns = 50 * (uint64_t)MS,
	  .transfer = { .read_ns = 110 * (uint64_t)MS, .asked_bytes = 3, .asked_waits = 3 },
	  .other_end = { .peer_name = "backend", .peer_thread = "backend", .peer_pid = 4711 } },
};

static const char *const lock_evidence[] = {
	"1,214 waits: mean 37.7 ms, max 552 ms; up to 17 threads at once",
	"held 3.33 ms on average while others waited, mostly by thread multi_mutex",
	"83 % of the waiting ended when big_work(int) (multi_mutex.cpp:28) released it, 310 of 1214 times",
};

static const struct report_whatif whatifs[] = {
	{
		.kind = "function",
		.name = "Parser::parse(std::vector<Token, std::allocator<Token> > const&, Options const&) const",
		.scale = 0.5,
		.run_ns = 2800000000,
		.predicted_ns = 2010000000,
		.least_ns = 1950000000,
		.most_ns = 2100000000,
	},
	{
		.kind = "lock",
		.name = "work_mutex",
		.scale = 0.5,
		.run_ns = 2800000000,
		.predicted_ns = 2200000000,
		.least_ns = 2150000000,
		.most_ns = 2400000000,
	},
	{
		.kind = "cpus",
		.name = "3",
		.scale = 1,
		.run_ns = 2800000000,
		.predicted_ns = 2500000000,
		.least_ns = 2500000000,
		.most_ns = 2500000000,
	},
};

static const char *const lock_symptoms[] = { "threads wait for a condition in take_job() (12 %)" };

static const struct report_finding lock_findings[] = {
	{ .title = "threads wait for work_mutex behind a rare but slow holder: big_work(int) "
		   "(multi_mutex.cpp:28)",
	  .pattern = PATTERN_RARE_SLOW_HOLDER,
	  .cause = CAUSE_LOCK,
	  .share = 0.815,
	  .evidence = lock_evidence,
	  .evidence_count = COUNT(lock_evidence),
	  .symptoms = lock_symptoms,
	  .symptom_count = COUNT(lock_symptoms),
	  .wait_rank = 1 },
	{ .title = "for 60 % of the wall time only one thread was active",
	  .pattern = PATTERN_SERIAL_PHASE,
	  .cause = CAUSE_UNKNOWN,
	  .share = 0.57,
	  .path_rank = 1 },
};

static const char *const straight_steps[] = { "lock work_mutex in big_work(int) (multi_mutex.cpp:28)" };
static const char *const roundabout_steps[] = { "condition in take_job() (multi_mutex.cpp:51)",
						"lock work_mutex in big_work(int) (multi_mutex.cpp:28)" };
static const struct report_root_chain lock_chains[] = {
	{ .ns = 30000 * (uint64_t)MS, .steps = straight_steps, .step_count = COUNT(straight_steps) },
	{ .ns = 7000 * (uint64_t)MS, .steps = roundabout_steps, .step_count = COUNT(roundabout_steps) },
};

static const struct report_user lock_users[] = {
	{ .ns = 1682 * (uint64_t)MS,
	  .text = "big_work(int) (multi_mutex.cpp:28) in thread multi_mutex",
	  .kind = RIVAL_PROGRAM,
	  .name = "multi_mutex",
	  .frames = lock_frames,
	  .frame_count = COUNT(lock_frames) },
	{ .ns = 552 * (uint64_t)MS, .text = "backup (pid 77)", .kind = RIVAL_PROCESS, .name = "backup", .pid = 77 },
};

static const struct report_root lock_roots[] = {
	{ .ns = 37000 * (uint64_t)MS,
	  .error_ns = 800 * (uint64_t)MS,
	  .text = "big_work(int) (multi_mutex.cpp:28) runs",
	  .kind = ROOT_CODE,
	  .cause = CAUSE_UNKNOWN,
	  .victims = 17,
	  .frames = lock_frames,
	  .frame_count = COUNT(lock_frames),
	  .chains = lock_chains,
	  .chain_count = COUNT(lock_chains) },
	{ .ns = 9000 * (uint64_t)MS,
	  .direct_ns = 4000 * (uint64_t)MS,
	  .text = "files in /var/lib/app",
	  .kind = ROOT_WAIT,
	  .cause = CAUSE_FILE,
	  .object = "/var/lib/app",
	  .victims = 16 },
	{ .ns = 2758 * (uint64_t)MS,
	  .direct_ns = 1758 * (uint64_t)MS,
	  .text = "no CPU to run on; meanwhile ran: 61 % big_work(int) (multi_mutex.cpp:28) in thread multi_mutex, 20 % backup "
		  "(pid 77)",
	  .kind = ROOT_CPU,
	  .cause = CAUSE_UNKNOWN,
	  .users = lock_users,
	  .user_count = COUNT(lock_users),
	  .victims = 4 },
	{ .ns = 2000 * (uint64_t)MS,
	  .direct_ns = 2000 * (uint64_t)MS,
	  .text = "socket 127.0.0.1:3306",
	  .kind = ROOT_WAIT,
	  .cause = CAUSE_SOCKET,
	  .object = "127.0.0.1:3306",
	  .ender = "mariadbd",
	  .victims = 2 },
	{ .ns = 502 * (uint64_t)MS, .text = "not known", .kind = ROOT_UNKNOWN, .cause = CAUSE_UNKNOWN },
};

static const char *const lock_verdict[] = {
	("Main bottleneck (82 % of non-idle thread time; 17 threads): threads wait for work_mutex behind a rare but slow "
	 "holder: big_work(int) (multi_mutex.cpp:28)"),
	"Evidence: 1,214 waits: mean 37.7 ms, max 552 ms; up to 17 threads at once; it used 1.18 of 4 CPUs",
	"Try next: hold it for less time, or take it less often: big_work(int) (multi_mutex.cpp:23), for work_mutex",
};

static void set_verdict(struct report *report, enum verdict_kind kind, double share, const char *const *lines)
{
	report->verdict.kind = kind;
	report->verdict.confidence = CONFIDENCE_LIKELY;
	report->verdict.share = share;
	report->verdict.lines = lines;
	report->verdict.line_count = 3;
	report->target.cpu_count = 4;
}

static void set_waits(struct report *report)
{
	report->blame.lost_ns = 51260 * (uint64_t)MS;
	report->blame.followed_ns = 51000 * (uint64_t)MS;
	report->blame.roots = lock_roots;
	report->blame.root_count = COUNT(lock_roots);
	set_verdict(report, VERDICT_LOCK, 0.815, lock_verdict);
	report->findings = lock_findings;
	report->finding_count = COUNT(lock_findings);
	report->whatifs = whatifs;
	report->whatif_count = COUNT(whatifs);
	report->balance.threads.total_ns = 60140 * (uint64_t)MS;
	report->balance.threads.busy_ns = 56240 * (uint64_t)MS;
	report->balance.threads.running_ns = 4980 * (uint64_t)MS;
	report->balance.threads.cpu_wait_ns = 1758 * (uint64_t)MS;
	report->balance.threads.causes = lock_causes;
	report->balance.threads.cause_count = COUNT(lock_causes);
	report->balance.threads.ran_instead = lock_rivals;
	report->balance.threads.rival_count = COUNT(lock_rivals);
	report->balance.threads.cpu_taken = &lock_cpu_taken;
	report->waits = lock_waits;
	report->wait_count = COUNT(lock_waits);
	report->locks = lock_locks;
	report->lock_count = COUNT(lock_locks);
	report->files = lock_files;
	report->file_count = COUNT(lock_files);
	report->sockets = lock_sockets;
	report->socket_count = COUNT(lock_sockets);
}

static void *copy(struct report_fixture *fixture, const void *bytes, size_t size_bytes)
{
	return memcpy(arena_alloc(fixture->arena, size_bytes), bytes, size_bytes);
}

/* A thread whose run-queue part is given in percent of its CMetric. */
static struct report_thread thread_of(uint32_t tid, const char *name, uint64_t cmetric_ns,
				      unsigned int runqueue_percent, uint64_t wall_ns)
{
	uint64_t active_ns = cmetric_ns * 2 < wall_ns ? cmetric_ns * 2 : wall_ns;

	return (struct report_thread){
		.tid = tid,
		.pid = 4711,
		.host_tid = 20000 + tid,
		.host_pid = 24711,
		.name = name,
		.thread_count = 1,
		.cmetric_ns = cmetric_ns,
		.cmetric_oncpu_ns = cmetric_ns - cmetric_ns * runqueue_percent / 100,
		.running_ns = active_ns - active_ns * runqueue_percent / 100,
		.cpu_wait_ns = active_ns * runqueue_percent / 100,
		.blocked_ns = wall_ns - active_ns,
		.slices = 120,
		.critical_slices = 40,
	};
}

static int by_cmetric(const void *a, const void *b)
{
	const struct report_thread *left = a, *right = b;

	return (left->cmetric_ns < right->cmetric_ns) - (left->cmetric_ns > right->cmetric_ns);
}

static void group_finish(struct report_group *group, struct report_thread *threads)
{
	double mean, max = 0;

	qsort(threads, group->row_count, sizeof(*threads), by_cmetric);
	group->threads = threads;
	group->cmetric_ns = group->thread_count = 0;
	for (size_t i = 0; i < group->row_count; i++) {
		group->cmetric_ns += threads[i].cmetric_ns;
		group->thread_count += threads[i].thread_count;
		if ((double)threads[i].cmetric_ns / threads[i].thread_count > max)
			max = (double)threads[i].cmetric_ns / threads[i].thread_count;
	}
	mean = (double)group->cmetric_ns / group->thread_count;
	group->imbalance = mean > 0 ? max / mean : 1;
}

/* The time with [n] threads active. */
static void set_levels(struct report_fixture *fixture, const uint64_t *time_ns, const uint64_t *spinning_ns,
		       size_t count)
{
	struct report_level *levels = arena_alloc(fixture->arena, count * sizeof(*levels));
	struct report *report = &fixture->report;

	report->parallelism = levels;
	report->level_count = 0;
	for (size_t n = 0; n < count; n++)
		if (time_ns[n])
			levels[report->level_count++] = (struct report_level){
				.active = n,
				.ns = time_ns[n],
				.has_spinning = spinning_ns,
				.spinning_ns = spinning_ns ? spinning_ns[n] : 0,
			};
}

static void set_stacks(struct report *report)
{
	report->stacks.taken = 41000;
	report->stacks.frames = 451000;
	report->stacks.ends[STACK_COMPLETE] = 40000;
	report->stacks.ends[STACK_TRUNCATED] = 700;
	report->stacks.ends[STACK_NO_TABLE] = 290;
	report->stacks.ends[STACK_UNREADABLE] = 10;
	report->stacks.unwound_late = 17;
	report->stacks.ns = 38000000;
	report->stacks.median_ns = 840;
	report->stacks.tables = 6;
	report->stacks.table_bytes = 4 << 20;
}

static void set_cost(struct report *report)
{
	report->cost.bpf_ns = 12300000;
	report->cost.bpf_runs = 231004;
	report->cost.collector_cpu_ns = 45000000;
	report->cost.peak_rss_bytes = 32715571;
	report->cost.startup_ns = 121000000;
	report->cost.post_processing_ns = 243000000;
	report->cost.events = 231912;
	report->cost.event_bytes = 9300000;
	report->cost.events_deferred = 118000;
}

static void make_lock(struct report_fixture *fixture)
{
	static const uint32_t pids[] = { 24711 };
	static const uint64_t parallelism_ns[] = {
		505 * (uint64_t)MS,
		2530 * (uint64_t)MS,
		610 * (uint64_t)MS,
		300 * (uint64_t)MS,
		120 * (uint64_t)MS,
		60 * (uint64_t)MS,
		40 * (uint64_t)MS,
		20 * (uint64_t)MS,
		10 * (uint64_t)MS,
		5 * (uint64_t)MS,
		4 * (uint64_t)MS,
		2 * (uint64_t)MS,
		1 * (uint64_t)MS,
		1 * (uint64_t)MS,
		1 * (uint64_t)MS,
		500000,
		300000,
		100000,
		100000,
	};
	struct report *report = &fixture->report;
	struct report_thread *workers = arena_alloc(fixture->arena, 19 * sizeof(*workers));
	struct report_thread *main_thread = arena_alloc(fixture->arena, sizeof(*main_thread));
	struct report_group *groups = arena_alloc(fixture->arena, 2 * sizeof(*groups));
	double *timeline = arena_alloc(fixture->arena, 120 * sizeof(*timeline));
	uint64_t wall_ns = 4210 * (uint64_t)MS;

	for (size_t i = 0; i < 18; i++)
		workers[i] = thread_of(4712 + i, "multi_mutex", (i * 24 + 2) * MS / 2, i % 3 * 9, wall_ns);
	workers[18] = thread_of(4800, "multi_mutex", 1800 * (uint64_t)MS, 5, wall_ns);
	workers[18].thread_count = 126;
	*main_thread = thread_of(4711, "multi_mutex", 20 * MS, 0, wall_ns);
	groups[0] =
		(struct report_group){ .name = "random_work(int, int)", .is_start_function = true, .row_count = 19 };
	group_finish(&groups[0], workers);
	groups[1] = (struct report_group){ .name = "main", .is_start_function = true, .row_count = 1 };
	group_finish(&groups[1], main_thread);
	for (size_t i = 0; i < 120; i++)
		timeline[i] = i % 15 == 14 ? 0 : 1 + (i * 7 % 11) / 4.0 + (i % 15 == 0) * 4;
	report->target.command = "./multi_mutex 18";
	report->target.pids = pids;
	report->target.pid_count = 1;
	report->target.wall_ns = wall_ns;
	report->totals.active_ns = report->totals.cmetric_ns = 3705 * (uint64_t)MS;
	report->totals.stalled_ns = 505 * (uint64_t)MS;
	report->totals.critical_ns = 3494 * (uint64_t)MS;
	report->totals.threads = 145;
	report->totals.alive_max = 19;
	report->totals.switches = 231004;
	report->totals.slices = 115220;
	report->totals.critical_slices = 9120;
	report->totals.samples = 1051;
	report->totals.stack_tops = 39;
	report->totals.stalls = 412;
	report->totals.parallelism = 1.68;
	report->totals.nmin = 9;
	report->totals.is_nmin_default = true;
	set_levels(fixture, parallelism_ns, NULL, COUNT(parallelism_ns));
	report->timeline = timeline;
	report->timeline_count = 120;
	report->losses.keep_min = 1;
	set_waits(report);
	set_stacks(report);
	set_cost(report);
	report->paths = lock_paths;
	report->stall_paths = lock_paths;
	report->stall_path_count = 1;
	report->path_count = COUNT(lock_paths);
	report->totals.paths = 11;
	report->groups = groups;
	report->group_count = 2;
}

static void make_pipeline(struct report_fixture *fixture)
{
	static const struct {
		const char *name;
		unsigned int threads, ms;
	} stages[] = {
		{ "rank", 15, 1030 }, { "extract", 15, 210 }, { "index", 15, 124 }, { "segment", 15, 40 },
		{ "out", 1, 230 },    { "load", 1, 95 },      { "ferret", 2, 1 },
	};
	static const struct report_frame frames[] = {
		{ "dist_L2_float", "src/lsh/dist.c", 42, "ferret", 0x9a10, false, false, false },
		{ "emd", "src/emd/emd.c", 219, "ferret", 0x7730, false, false, false },
		{ "cass_result_merge_lists", "src/rank/rank.c", 508, "ferret", 0x8800, true, false, false },
		{ "cass_table_query", "src/rank/rank.c", 611, "ferret", 0x8800, false, false, false },
		{ "t_rank", "benchmark/ferret-pthreads.c", 362, "ferret", 0x5120, false, false, false },
		{ "start_thread", NULL, 0, "libc.so.6", 0x89044, false, false, false },
		{ "clone3", NULL, 0, "libc.so.6", 0x1095fc, false, false, false },
	};
	static const struct report_line lines[] = {
		{ "src/lsh/dist.c", 44, 1702 }, { "src/lsh/dist.c", 43, 391 }, { "src/lsh/dist.c", 42, 11 },
		{ "src/lsh/simd.h", 9, 3 },     { "src/lsh/dist.c", 41, 1 },
	};
	static const struct report_function functions[] = {
		{ "dist_L2_float", 2108, 0, lines, COUNT(lines) },
		{ "emd", 390, 4, NULL, 0 },
		{ "a", 9, 0, NULL, 0 },
		{ "b", 8, 0, NULL, 0 },
		{ "c", 7, 0, NULL, 0 },
		{ "d", 6, 0, NULL, 0 },
		{ "e", 5, 0, NULL, 0 },
	};
	static const char *const names[] = { "rank" };
	struct report_path *path = arena_alloc(fixture->arena, sizeof(*path));
	struct report *report = &fixture->report;
	struct report_group *groups = arena_alloc(fixture->arena, COUNT(stages) * sizeof(*groups));
	uint64_t *parallelism_ns = arena_alloc(fixture->arena, 65 * sizeof(uint64_t));
	uint64_t wall_ns = 22600 * (uint64_t)MS, sum_ns = 0;
	uint32_t tid = 900;

	make_lock(fixture);
	for (size_t i = 0; i < COUNT(stages); i++) {
		struct report_thread *threads = arena_alloc(fixture->arena, stages[i].threads * sizeof(*threads));

		for (size_t j = 0; j < stages[i].threads; j++)
			threads[j] =
				thread_of(tid++, stages[i].name,
					  stages[i].ms * (uint64_t)MS * (90 + (j * 7 + i) % 20) / 100, j * 3, wall_ns);
		groups[i] = (struct report_group){ .name = stages[i].name, .row_count = stages[i].threads };
		group_finish(&groups[i], threads);
		sum_ns += groups[i].cmetric_ns;
	}
	wall_ns = sum_ns;
	for (size_t i = 1; i < 65; i++)
		parallelism_ns[i] = wall_ns / 64;
	report->target.command = "ferret corel lsh queries 10 20 15 output.txt";
	report->target.wall_ns = wall_ns;
	report->target.exit_status = 0;
	report->totals.active_ns = report->totals.cmetric_ns = wall_ns;
	report->totals.stalled_ns = 0;
	report->totals.stalls = 0;
	report->totals.critical_ns = wall_ns / 4;
	report->totals.threads = report->totals.alive_max = 64;
	report->totals.parallelism = 32.5;
	report->totals.nmin = 16;
	report->totals.is_nmin_default = false;
	set_levels(fixture, parallelism_ns, NULL, 65);
	report->groups = groups;
	report->group_count = COUNT(stages);
	*path = (struct report_path){ .rank = 1,
				      .cmetric_ns = wall_ns / 5,
				      .wall_share = 0.2,
				      .slices = 42127,
				      .thread_names = names,
				      .thread_name_count = 1,
				      .thread_count = 15,
				      .frames = frames,
				      .frame_count = COUNT(frames),
				      .stack_end = STACK_COMPLETE,
				      .functions = functions,
				      .function_count = COUNT(functions),
				      .cause = CAUSE_CONDITION,
				      .group = GROUP_SYNCHRONISATION };
	report->paths = path;
	report->path_count = report->totals.paths = 1;
}

static void make_mpi(struct report_fixture *fixture)
{
	static const unsigned int rank_ms[] = { 820, 310, 290, 1480, 300, 270, 640, 300 };
	static const struct report_frame frames[] = {
		{ "tcp_recvmsg_locked", NULL, 0, "[kernel]", 0x3b2, false, true, false },
		{ "__libc_recv", NULL, 0, "libc.so.6", 0x10a2c4, false, false, false },
		{ "MPIDU_Sock_wait", NULL, 0, "libmpich.so.12", 0x2e0a41, false, false, false },
		{ "MPIDI_CH3I_Progress", NULL, 0, "libmpich.so.12", 0x2a7c10, false, false, false },
		{ "MPIR_Wait_impl", NULL, 0, "libmpich.so.12", 0x1d0411, false, false, false },
		{ "MPI_Waitall", NULL, 0, "libmpich.so.12", 0x1d0a02, false, false, false },
		{ "Gs::Gather(std::vector<double, std::allocator<double> >&, Gs::gs_op, "
		  "Gs::gs_data*, std::vector<double, std::allocator<double> > const&)",
		  "library/Communication/GsLib.hpp", 280, "IncNavierStokesSolver", 0x88, false, false, false },
		{ "main", "solvers/IncNavierStokesSolver/IncNavierStokesSolver.cpp", 61, "IncNavierStokesSolver", 0x11,
		  false, false, false },
		{ "__libc_start_main", NULL, 0, "libc.so.6", 0x27284, false, false, false },
	};
	static const char *const names[] = { "IncNavierStokes" };
	static const struct report_function functions[] = {
		{ "dgemv_", 640, 0, NULL, 0 },
		{ "tcp_recvmsg_locked", 33, 33, NULL, 0 },
	};
	static const uint64_t parallelism_ns[] = {
		0,
		2080 * (uint64_t)MS,
		900 * (uint64_t)MS,
		380 * (uint64_t)MS,
		140 * (uint64_t)MS,
		110 * (uint64_t)MS,
		200 * (uint64_t)MS,
		300 * (uint64_t)MS,
		300 * (uint64_t)MS,
	};
	static const uint64_t spinning_ns[COUNT(parallelism_ns)] = {
		[2] = 540 * (uint64_t)MS,
		[8] = 600 * (uint64_t)MS,
	};
	struct report *report = &fixture->report;
	struct report_group *groups = arena_alloc(fixture->arena, sizeof(*groups));
	struct report_thread *threads = arena_alloc(fixture->arena, 8 * sizeof(*threads));
	struct report_path *path;
	uint64_t wall_ns = 4410 * (uint64_t)MS;

	make_lock(fixture);
	for (size_t i = 0; i < 8; i++) {
		threads[i] = thread_of(7001 + i, "IncNavierStokes", rank_ms[i] * (uint64_t)MS, 0, wall_ns);
		threads[i].pid = threads[i].tid;
	}
	threads[2].title = "solver: rank 2";
	groups[0] = (struct report_group){ .name = "IncNavierStokes", .row_count = 8 };
	group_finish(&groups[0], threads);
	path = copy(fixture, &lock_paths[0], sizeof(*path));
	path->frames = frames;
	path->frame_count = COUNT(frames);
	path->thread_count = 8;
	path->stalled_ns = 0;
	path->thread_names = names;
	path->functions = functions;
	path->function_count = COUNT(functions);
	report->paths = path;
	report->path_count = report->totals.paths = 1;
	report->target.command = "mpirun -n 8 IncNavierStokesSolver cylinder.xml";
	report->target.wall_ns = wall_ns;
	report->totals.active_ns = report->totals.cmetric_ns = groups[0].cmetric_ns;
	report->totals.stalled_ns = 0;
	report->totals.stalls = 0;
	report->totals.threads = report->totals.alive_max = 8;
	set_levels(fixture, parallelism_ns, spinning_ns, COUNT(parallelism_ns));
	report->balance.threads.spinning_ns = 2100 * (uint64_t)MS;
	report->balance.wall.spinning_ns = 1140 * (uint64_t)MS;
	report->balance.samples.running = 1660;
	report->balance.samples.spinning = 700;
	report->totals.parallelism = 2.45;
	report->groups = groups;
	report->group_count = 1;
}

static const char *const no_verdict[] = {
	"Nothing held it back: no wait and no code stands out; it used 1.00 of 4 CPUs",
	("Evidence: all threads together ran for 100.0 % of their time, waited for a CPU for 0.0 % and had nothing to do "
	 "for 0.0 %; it used 1.00 of 4 CPUs"),
	"Try next: -v shows the code that ran; --page threads, how even its threads are",
};

static const char *const nothing_verdict[] = {
	"No thread of the program ran while it was traced",
	"Evidence: there is no event of its threads",
	"Try next: trace for longer, or see that it is the process that works",
};

static void make_empty(struct report_fixture *fixture)
{
	struct report *report = &fixture->report;
	struct report_group *groups = arena_alloc(fixture->arena, sizeof(*groups));
	struct report_thread *thread = arena_alloc(fixture->arena, sizeof(*thread));
	uint64_t *parallelism_ns = arena_alloc(fixture->arena, 2 * sizeof(uint64_t));

	*thread = thread_of(31, "true", 1 * MS, 0, 1 * MS);
	groups[0] = (struct report_group){ .name = "true", .row_count = 1 };
	group_finish(&groups[0], thread);
	parallelism_ns[1] = 1 * MS;
	report->target.command = "true";
	report->target.wall_ns = 1 * MS;
	report->totals.active_ns = report->totals.cmetric_ns = 1 * MS;
	report->totals.threads = report->totals.alive_max = 1;
	report->totals.switches = report->totals.slices = 1;
	report->totals.parallelism = 1;
	report->totals.nmin = 1;
	report->totals.is_nmin_default = true;
	set_levels(fixture, parallelism_ns, NULL, 2);
	report->losses.keep_min = 1;
	report->groups = groups;
	report->group_count = 1;
	set_verdict(report, VERDICT_NONE, 0, no_verdict);
}

/* Not even a thread: what the command line names had ended before tracing began. */
static void make_nothing(struct report_fixture *fixture)
{
	set_verdict(&fixture->report, VERDICT_NONE, 0, nothing_verdict);
	fixture->report.target.exit_status = -1;
}

static void make_hostile(struct report_fixture *fixture)
{
	static const char evil[] = "\033[2J\033]0;owned\007\r\nexit status 0\x7f";
	static const char long_name[] =
		"std::map<std::basic_string<char>, std::vector<std::pair<int, evil<\033[31m> > > "
		">::operator[](std::basic_string<char>&&) const::{lambda(auto:1)#1}::operator()"
		"<unclosed";
	static const char *const names[] = { evil, "\xff\xfe\x80", "", "\"\\</script>" };
	static const struct report_frame frames[] = {
		{ evil, evil, 1, evil, 1, false, false, false },
		{ long_name, "////////////////////////////", 4294967295u, "x", 2, true, false, false },
		{ "operator<<(std::ostream&, \xc3(\x28)", "naïve/größe.cpp", 7, "x", 2, false, false, false },
		{ NULL, NULL, 0, NULL, 0, false, false, false },
		{ NULL, NULL, 0, "libstripped.so.1", 0x1a2b, false, false, false },
		{ "", "", 0, "", 0, false, false, false },
		{ "f", "f.c", 3, "x", 1, false, false, false },
		{ "f", "f.c", 3, "x", 1, false, false, false },
		{ "f", "f.c", 3, "x", 1, false, false, false },
		{ "(((", ")))", 3, ">>><<<", 1, false, false, false },
	};
	static const struct report_line lines[] = { { evil, 1, 3 }, { evil, 2, 2 }, { "", 0, 1 } };
	static const struct report_function functions[] = {
		{ evil, 6, 2, lines, COUNT(lines) },
		{ long_name, 1, 1, NULL, 0 },
		{ "", 0, 0, NULL, 0 },
	};
	static const char *const notes[] = { evil, "A note.\n\tWith a tab." };
	static const char *const verdict[] = { evil, long_name, "A line.\n\tWith a tab." };
	struct report *report = &fixture->report;
	struct report_path *path;
	struct report_group *groups;
	struct report_thread *threads = arena_alloc(fixture->arena, 4 * sizeof(*threads));

	make_lock(fixture);
	set_verdict(report, VERDICT_LOCK, 0.815, verdict);
	path = copy(fixture, lock_paths, sizeof(*path));
	path->frames = frames;
	path->frame_count = COUNT(frames);
	path->functions = functions;
	path->function_count = COUNT(functions);
	path->thread_names = names;
	path->thread_name_count = COUNT(names);
	path->wall_share = 7;
	report->paths = path;
	report->path_count = 1;
	groups = copy(fixture, report->groups, 2 * sizeof(*groups));
	for (size_t i = 0; i < 4; i++)
		threads[i] = thread_of(i * 1400000000u, names[i], (i + 1) * 40 * MS, 30, 4210 * (uint64_t)MS);
	threads[0].title = evil;
	groups[0].row_count = 4;
	group_finish(&groups[0], threads);
	groups[0].name = evil;
	groups[1].name = long_name;
	report->groups = groups;
	report->target.command = evil;
	report->target.exit_status = 139;
	report->notes = notes;
	report->note_count = COUNT(notes);
	report_klocks_set_hostile(report, evil);
	report_go_set_hostile(report, evil);
	report_loops_set_hostile(report, evil);
	report_listeners_set_hostile(report, evil);
	report_activities_set_hostile(report, evil);
}

static void make_losses(struct report_fixture *fixture)
{
	static const char *const notes[] = {
		"The program's debug information is missing: functions have no lines. Install "
		"multi-mutex-dbgsym, or set DEBUGINFOD_URLS.",
		"Sampling was not possible: perf_event_paranoid is 3.",
	};
	static const struct report_frame frame = { .module = "multi_mutex", .offset = 0x2a40 };
	static const struct report_trunk trunk = {
		.cmetric_ns = 3800 * (uint64_t)MS,
		.wall_share = 0.9,
		.path_count = 1214,
		.frames = &frame,
		.frame_count = 1,
	};
	struct report *report = &fixture->report;

	make_lock(fixture);
	report->trunk = &trunk;
	report->losses.records = 12345;
	report->losses.gaps = 3;
	report->losses.gap_ns = 12 * MS;
	report->losses.malformed = 1;
	report->losses.late = 2;
	report->losses.hidden = 603;
	report->losses.unexplained_transitions = 1;
	report->balance.threads.hidden_waits = 238;
	report->balance.threads.lost_waits = 17;
	report->balance.threads.unexplained_waits = 1;
	report->losses.stacks_unreadable = 14;
	report->losses.stacks_not_kept = 1;
	report->losses.keep_min = 0.5;
	report->losses.stacks_resent = 7;
	report->losses.mappings = 1;
	report->losses.threads_untracked = 1200;
	report->totals.accounting_error_ns = -18000;
	report->cost.bpf_runs = report->cost.bpf_ns = 0;
	report->notes = notes;
	report->note_count = COUNT(notes);
}

static void make_governor(struct report_fixture *fixture)
{
	struct report_path *paths;

	make_lock(fixture);
	paths = copy(fixture, lock_paths, sizeof(lock_paths));
	for (size_t i = 0; i < COUNT(lock_paths); i++)
		paths[i].is_estimated = true;
	fixture->report.paths = paths;
	fixture->report.losses.stacks_not_kept = 8700;
	fixture->report.losses.keep_min = 1.0 / 64;
}

static void make_attach(struct report_fixture *fixture)
{
	static const uint32_t pids[] = { 4711, 4712, 977000, 12, 13, 14, 15, 16, 17, 18 };

	make_lock(fixture);
	fixture->report.target.command = NULL;
	fixture->report.target.pids = pids;
	fixture->report.target.pid_count = COUNT(pids);
	fixture->report.target.exit_status = -1;
	fixture->report.target.is_running = true;
	fixture->report.totals.nmin = 2;
	fixture->report.totals.is_nmin_default = false;
}

static void make_klock(struct report_fixture *fixture)
{
	make_lock(fixture);
	report_klocks_set(&fixture->report);
}

static void make_held(struct report_fixture *fixture)
{
	make_lock(fixture);
	report_klocks_set_held(&fixture->report);
}

static void make_go(struct report_fixture *fixture)
{
	make_lock(fixture);
	report_go_set(&fixture->report);
	report_loops_set(&fixture->report);
	report_listeners_set(&fixture->report);
	report_activities_set(&fixture->report);
}

/* All threads in one list, each with the name of its group. */
static void set_threads(struct report_fixture *fixture)
{
	struct report *report = &fixture->report;
	struct report_thread *threads;

	for (size_t i = 0; i < report->group_count; i++)
		report->thread_count += report->groups[i].row_count;
	report->threads = threads = arena_alloc(fixture->arena, report->thread_count * sizeof(*threads));
	for (size_t i = 0; i < report->group_count; i++)
		for (size_t k = 0; k < report->groups[i].row_count; k++) {
			*threads = report->groups[i].threads[k];
			threads++->group = report->groups[i].name;
		}
}

/* The account of the wall time, whatever part of it was spent spinning. */
static void set_wall(struct report *report)
{
	report->balance.wall.wall_ns = report->target.wall_ns;
	report->balance.wall.useful_ns = report->totals.active_ns - report->balance.wall.spinning_ns;
	report->balance.wall.stalled_ns = report->totals.stalled_ns;
}

static const struct {
	const char *name;
	void (*make)(struct report_fixture *fixture);
} makers[] = {
	{ "lock", make_lock },     { "pipeline", make_pipeline }, { "mpi", make_mpi },
	{ "empty", make_empty },   { "nothing", make_nothing },   { "hostile", make_hostile },
	{ "losses", make_losses }, { "governor", make_governor }, { "attach", make_attach },
	{ "klock", make_klock },   { "held", make_held },         { "go", make_go },
};

const char *const report_fixture_names[] = {
	"lock",     "pipeline", "mpi",   "empty", "nothing", "hostile", "losses",
	"governor", "attach",   "klock", "held",  "go",      NULL,
};

struct report_fixture *report_fixture_new(const char *name)
{
	struct report_fixture *fixture = xcalloc(1, sizeof(*fixture));

	fixture->arena = arena_new();
	for (size_t i = 0; i < COUNT(makers); i++) {
		if (strcmp(makers[i].name, name))
			continue;
		makers[i].make(fixture);
		set_wall(&fixture->report);
		set_threads(fixture);
		return fixture;
	}
	assert(!"a fixture of that name");
	return NULL;
}

void report_fixture_free(struct report_fixture *fixture)
{
	arena_free(fixture->arena);
	free(fixture);
}

const struct report *report_fixture_get(const struct report_fixture *fixture)
{
	return &fixture->report;
}

/* The whole file, or NULL. */
static char *file_read(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length = 0, count;
	char *bytes = NULL;

	if (!file)
		return NULL;
	do {
		bytes = xrealloc(bytes, length + 65536, 1);
		count = fread(bytes + length, 1, 65535, file);
		length += count;
	} while (count);
	bytes[length] = '\0';
	fclose(file);
	return bytes;
}

static void show_difference(const char *path, const char *expected, const char *actual)
{
	size_t i = 0, line = 1, begin = 0;

	for (; expected[i] && expected[i] == actual[i]; i++) {
		if (expected[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	fprintf(stderr, "%s:%zu differs (UPDATE=1 rewrites it)\n-%.*s\n+%.*s\n", path, line,
		(int)strcspn(expected + begin, "\n"), expected + begin, (int)strcspn(actual + begin, "\n"),
		actual + begin);
}

bool golden_view_matches(const char *name, const char *actual)
{
	char path[256], *expected;
	FILE *file;
	bool is_same;

	snprintf(path, sizeof(path), "tests/golden/view/%s", name);
	if (getenv("UPDATE")) {
		file = fopen(path, "w");
		if (!file)
			return false;
		fputs(actual, file);
		return !fclose(file);
	}
	expected = file_read(path);
	is_same = expected && !strcmp(expected, actual);
	if (!is_same)
		show_difference(path, expected ? expected : "", actual);
	free(expected);
	return is_same;
}
