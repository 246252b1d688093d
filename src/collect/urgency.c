/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/urgency.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>

enum { SHARE = 4 }; /* of one CPU: a quarter before all others */

/* Whoever was late stays urgent for as long as it may happen again. */
static const uint64_t hold_ns = 60000000000;

/* What it may use at once, having used nothing for long. */
static const int64_t budget_ns_max = 500000000;

static bool wants(const struct urgency *urgency, uint64_t now_ns)
{
	if (!urgency->late_ns || now_ns - urgency->late_ns > hold_ns)
		return false;
	/* Not to and fro at each moment. */
	return urgency->is_urgent ? urgency->budget_ns > 0 : urgency->budget_ns > budget_ns_max / 4;
}

bool urgency_update(struct urgency *urgency, uint64_t now_ns, uint64_t cpu_ns, bool is_late)
{
	bool was_urgent = urgency->is_urgent;

	if (!urgency->updated_ns) {
		urgency->budget_ns = budget_ns_max;
	} else {
		urgency->budget_ns += (now_ns - urgency->updated_ns) / SHARE;
		urgency->budget_ns -= cpu_ns - urgency->updated_cpu_ns;
	}
	if (urgency->budget_ns > budget_ns_max)
		urgency->budget_ns = budget_ns_max;
	if (urgency->budget_ns < 0)
		urgency->budget_ns = 0;
	urgency->updated_ns = now_ns;
	urgency->updated_cpu_ns = cpu_ns;
	if (is_late)
		urgency->late_ns = now_ns;
	urgency->is_urgent = wants(urgency, now_ns);
	return urgency->is_urgent != was_urgent;
}

bool urgency_is_expected(void)
{
	struct sysinfo info;

	return !sysinfo(&info) && info.loads[0] >> SI_LOAD_SHIFT >= (unsigned int)get_nprocs() + 1;
}

static uint64_t cpu_time_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return spent.tv_sec * 1000000000ull + spent.tv_nsec;
}

/* Children are not as urgent. The nice value stays. */
static void set_policy(struct urgency *urgency)
{
	struct sched_param param = { .sched_priority = urgency->is_urgent };

	if (sched_setscheduler(0, (urgency->is_urgent ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK, &param)) {
		urgency->is_refused = true;
		urgency->is_urgent = false;
	}
}

void urgency_apply(struct urgency *urgency, uint64_t now_ns, bool is_late)
{
	if (!urgency->is_refused && urgency_update(urgency, now_ns, cpu_time_ns(), is_late))
		set_policy(urgency);
}

void urgency_end(struct urgency *urgency)
{
	urgency->late_ns = 0;
	if (!urgency->is_urgent)
		return;
	urgency->is_urgent = false;
	set_policy(urgency);
}
