/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_loops_fixture.h"

#include "report/report.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { MS = 1000000 };

static const struct report_frame resize_frames[] = {
	{ .function = "resize_image", .file = "/home/ana/shop/thumbnail.c", .line = 88, .module = "shop" },
	{ .function = "serve", .file = "/home/ana/shop/server.c", .line = 31, .module = "shop" },
	{ .function = "main", .file = "/home/ana/shop/server.c", .line = 60, .module = "shop" },
};

static const struct report_frame log_frames[] = {
	{ .function = "write_log", .file = "/home/ana/shop/log.c", .line = 17, .module = "shop" },
	{ .function = "serve", .file = "/home/ana/shop/server.c", .line = 33, .module = "shop" },
};

static const struct report_blocked_code code[] = {
	{ .ns = 900 * MS,
	  .error_ns = 20 * MS,
	  .samples = 225,
	  .frames = resize_frames,
	  .frame_count = COUNT(resize_frames) },
};

static const struct report_blocked_wait waits[] = {
	{ .ns = 60 * MS,
	  .cause = CAUSE_FILE,
	  .object = "/var/log/shop",
	  .frames = log_frames,
	  .frame_count = COUNT(log_frames) },
};

static const struct report_blocked_on all = {
	.ns = 1300 * MS,
	.running_ns = 1200 * MS,
	.cpu_wait_ns = 40 * MS,
	.waiting_ns = 60 * MS,
	.text = "69 % ran resize_image (thumbnail.c:88), called by serve; 5 % waited: file /var/log/shop in write_log (log.c:17)",
	.samples = 96,
	.code = code,
	.code_count = COUNT(code),
	.waits = waits,
	.wait_count = COUNT(waits),
};

static const struct report_blocked_on long_ones = {
	.ns = 1000 * MS,
	.running_ns = 1000 * MS,
	.text = "90 % ran resize_image (thumbnail.c:88), called by serve",
	.samples = 48,
	.code = code,
	.code_count = COUNT(code),
};

static const struct report_blocked_on longest = {
	.ns = 61 * MS,
	.running_ns = 61 * MS,
	.text = "98 % ran resize_image (thumbnail.c:88), called by serve",
	.samples = 15,
	.code = code,
	.code_count = COUNT(code),
};

static const struct report_blocked_on small = { .ns = 7 * MS, .running_ns = 7 * MS };

static const struct report_event_loop loops[] = {
	{
		.pid = 812,
		.tid = 812,
		.name = "shop",
		.syscall = "epoll_wait",
		.polls = 2104,
		.polled_ns = 8700ull * MS,
		.iterations = 2104,
		.asked_iterations = 2000,
		.p50_ns = MS / 8,
		.p99_ns = 52 * MS,
		.max_ns = 61 * MS,
		.max_at_ns = 2300ull * MS,
		.long_min_ns = 1 << 22,
		.long_iterations = 20,
		.long_asked_iterations = 19,
		.long_poll_samples = 1,
		.turn_min_ns = 1 << 21,
		.turn_samples = 31,
		.long_turn_samples = 28,
		.short_turn_samples = 2,
		.looks = 60,
		.unread_looks = 7,
		.unread = 0.4,
		.unread_ns = 32 * MS,
		.work = &all,
		.long_work = &long_ones,
		.longest = &longest,
	},
	{
		.pid = 812,
		.tid = 815,
		.name = "shop-stats",
		.syscall = "poll",
		.polls = 10,
		.polled_ns = 9993ull * MS,
		.iterations = 10,
		.p50_ns = MS / 2,
		.p99_ns = MS,
		.max_ns = MS,
		.long_min_ns = 1 << 23,
		.work = &small,
		.longest = &small,
	},
};

void report_loops_set(struct report *report)
{
	report->event_loops = loops;
	report->event_loop_count = COUNT(loops);
}

void report_loops_set_hostile(struct report *report, const char *evil)
{
	static struct report_event_loop loop = {
		.pid = UINT32_MAX,
		.tid = UINT32_MAX,
		.iterations = INT64_MAX,
		.long_iterations = INT64_MAX,
		.looks = INT64_MAX,
		.unread_looks = INT64_MAX,
		.unread_ns = INT64_MAX,
		.max_ns = INT64_MAX,
	};
	static struct report_blocked_on work = { .ns = INT64_MAX };

	work.text = evil;
	loop.name = loop.syscall = evil;
	loop.work = loop.long_work = loop.longest = &work;
	report->event_loops = &loop;
	report->event_loop_count = 1;
}
