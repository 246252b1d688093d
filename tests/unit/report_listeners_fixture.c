/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_listeners_fixture.h"

#include "report/report.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { MS = 1000000 };

static const struct report_listener listeners[] = {
	{
		.pid = 812,
		.name = "shop",
		.address = "127.0.0.1:8080",
		.processes = 1,
		.capacity = 6,
		.looks = 60,
		.waiting_looks = 9,
		.full_looks = 2,
		.waiting = 0.4,
		.waiting_max = 6,
		.drops = 1145,
		.dropping_ns = 4200ull * MS,
	},
	{
		.pid = 813,
		.name = "shop-admin",
		.address = "/run/shop/admin.sock",
		.processes = 4,
		.capacity = 129,
		.looks = 60,
		.waiting_looks = 1,
		.waiting = 1 / 60.0,
		.waiting_max = 1,
	},
	{
		.pid = 812,
		.name = "shop",
		.processes = 1,
		.capacity = 4097,
		.looks = 60,
	},
};

void report_listeners_set(struct report *report)
{
	report->listeners = listeners;
	report->listener_count = COUNT(listeners);
}

void report_listeners_set_hostile(struct report *report, const char *evil)
{
	static struct report_listener listener = {
		.pid = UINT32_MAX,
		.processes = INT64_MAX,
		.capacity = INT64_MAX,
		.looks = INT64_MAX,
		.waiting_looks = INT64_MAX,
		.full_looks = INT64_MAX,
		.waiting = UINT32_MAX,
		.waiting_max = INT64_MAX,
		.drops = INT64_MAX,
		.dropping_ns = INT64_MAX,
	};

	listener.name = listener.address = evil;
	report->listeners = &listener;
	report->listener_count = 1;
}
