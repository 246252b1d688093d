/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_go_fixture.h"

#include "report/report.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct report_frame lock_frames[] = {
	{ .function = "runtime.gopark",
	  .file = "/usr/lib/go-1.19/src/runtime/proc.go",
	  .line = 364,
	  .module = "ledger" },
	{ .function = "sync.runtime_SemacquireMutex",
	  .file = "/usr/lib/go-1.19/src/runtime/sema.go",
	  .line = 77,
	  .module = "ledger" },
	{ .function = "sync.(*Mutex).Lock",
	  .file = "/usr/lib/go-1.19/src/sync/mutex.go",
	  .line = 90,
	  .module = "ledger",
	  .is_inlined = true },
	{ .function = "main.(*ledger).book", .file = "/home/ana/ledger/ledger.go", .line = 21, .module = "ledger" },
};

static const struct report_frame sleep_frames[] = {
	{ .function = "runtime.gopark",
	  .file = "/usr/lib/go-1.19/src/runtime/proc.go",
	  .line = 364,
	  .module = "ledger" },
	{ .function = "runtime.bgscavenge",
	  .file = "/usr/lib/go-1.19/src/runtime/mgcscavenge.go",
	  .line = 635,
	  .module = "ledger" },
};

static const struct report_frame creators[] = {
	{ .function = "main.main", .file = "/home/ana/ledger/ledger.go", .line = 36, .module = "ledger" },
	{ .function = "runtime.gcenable",
	  .file = "/usr/lib/go-1.19/src/runtime/mgc.go",
	  .line = 179,
	  .module = "ledger" },
};

static const struct report_goroutine_wait ledger_waits[] = {
	{
		.what = "sync.(*Mutex).Lock",
		.reason = "semacquire",
		.kind = GOROUTINE_LOCK,
		.waiting = 13.875,
		.waiting_error = 0.25,
		.waiting_max = 15,
		.frames = lock_frames,
		.frame_count = COUNT(lock_frames),
		.own_frame = 3,
		.creator = &creators[0],
		.creator_count = 1,
	},
	{
		.what = "GC scavenge wait",
		.reason = "GC scavenge wait",
		.kind = GOROUTINE_RUNTIME,
		.waiting = 1,
		.waiting_error = 0.03125,
		.waiting_max = 1,
		.frames = sleep_frames,
		.frame_count = COUNT(sleep_frames),
		.creator = &creators[1],
		.creator_count = 1,
	},
};

static const struct report_goroutine_wait crowd_waits[] = {
	{
		.what = "chan receive",
		.reason = "chan receive",
		.kind = GOROUTINE_CHANNEL,
		.waiting = 98000.5,
		.waiting_error = 812.25,
		.waiting_max = 99400,
	},
};

static const struct report_go_process processes[] = {
	{
		.pid = 4712,
		.samples = 74,
		.examined_share = 0.0025,
		.running = 2,
		.running_error = 3.5,
		.waiting = 98000.5,
		.waiting_error = 812.25,
		.waits = crowd_waits,
		.wait_count = COUNT(crowd_waits),
	},
	{
		.pid = 4711,
		.samples = 128,
		.examined_share = 1,
		.running = 1.125,
		.running_error = 0.125,
		.runnable = 0.5,
		.runnable_error = 0.25,
		.in_syscall = 0,
		.in_syscall_error = 0,
		.waiting = 14.875,
		.waiting_error = 0.25,
		.waits = ledger_waits,
		.wait_count = COUNT(ledger_waits),
	},
};

void report_go_set(struct report *report)
{
	report->goroutines = processes;
	report->go_process_count = COUNT(processes);
}

void report_go_set_hostile(struct report *report, const char *evil)
{
	static struct report_go_process process = { .pid = UINT32_MAX, .samples = INT64_MAX, .waiting = UINT32_MAX };
	static struct report_goroutine_wait wait = { .kind = GOROUTINE_LOCK,
						     .waiting = UINT32_MAX,
						     .waiting_error = UINT32_MAX / 10.0 };
	static struct report_frame frame = { .line = UINT32_MAX };

	frame.function = frame.file = frame.module = evil;
	wait.what = wait.reason = evil;
	wait.frames = wait.creator = &frame;
	wait.frame_count = wait.creator_count = 1;
	process.waits = &wait;
	process.wait_count = 1;
	report->goroutines = &process;
	report->go_process_count = 1;
}
