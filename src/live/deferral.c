/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/deferral.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "session/backlog.h"

/* Between two looks, at least; and where no events come. */
static const uint64_t PERIOD_NS = 50 * 1000 * 1000, QUIET_PERIOD_NS = 1000 * 1000 * 1000;

/*
 * With fewer, to analyse them takes less than half a percent of a CPU. With more than the most, one CPU may not be enough,
 * however many there are.
 */
static const uint64_t EVENTS_A_SECOND_MIN = 10000, EVENTS_A_SECOND_MAX = 200000;

/* At once, for the rings are read in between. */
static const uint64_t CATCH_UP_NS = 50 * 1000 * 1000;

static const uint64_t SECOND_NS = 1000 * 1000 * 1000;

/* Busy: on average, less than most of one CPU was idle. Shorter gaps do not fit what a batch takes. */
static const double IDLE_CPUS_MIN = 0.8;

enum { LINE_BYTES = 256, CLOSED = 0, MISSING = -1 };

/* How long CPUs had nothing to do, together, also as they waited for disks. False: not known. */
static bool read_idle(struct deferral *deferral, uint64_t *ticks)
{
	unsigned long long idle, iowait;
	char line[LINE_BYTES];
	ssize_t n;

	if (deferral->stat_fd == CLOSED)
		deferral->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (deferral->stat_fd < 0)
		return false;
	n = pread(deferral->stat_fd, line, sizeof(line) - 1, 0);
	if (n <= 0)
		return false;
	line[n] = '\0';
	if (sscanf(line, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		return false;
	*ticks = idle + iowait;
	return true;
}

/* Since this was asked last; what the kernel has to add up for it takes the longer, the more CPUs there are. */
static bool is_busy(struct deferral *deferral, uint64_t now_ns)
{
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t before = deferral->idle_ticks, since_ns = deferral->idle_read_ns;

	deferral->idle_read_ns = now_ns;
	return read_idle(deferral, &deferral->idle_ticks) && since_ns &&
	       (double)(deferral->idle_ticks - before) * (double)tick_ns < IDLE_CPUS_MIN * (double)(now_ns - since_ns);
}

static bool wants_deferral(struct deferral *deferral, uint64_t events, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - deferral->looked_ns, per_s = (events - deferral->events) * SECOND_NS / passed_ns;

	deferral->looked_ns = now_ns;
	deferral->events = events;
	return per_s > EVENTS_A_SECOND_MIN && (per_s > EVENTS_A_SECOND_MAX || is_busy(deferral, now_ns));
}

static void look(struct deferral *deferral, struct backlog *backlog, uint64_t events, uint64_t now_ns,
		 struct pause *pause)
{
	bool is_deferring = wants_deferral(deferral, events, now_ns);

	if (!is_deferring)
		backlog_catch_up(backlog, CATCH_UP_NS, pause);
	backlog_set_deferring(backlog, is_deferring || !backlog_is_empty(backlog), pause);
}

void deferral_step(struct deferral *deferral, struct backlog *backlog, uint64_t events, uint64_t now_ns,
		   struct pause *pause)
{
	if (backlog_is_full(backlog))
		backlog_catch_up(backlog, 0, pause);
	/* Events come in batches: between two there is nothing to go by. */
	if (now_ns - deferral->looked_ns >= (events == deferral->events ? QUIET_PERIOD_NS : PERIOD_NS))
		look(deferral, backlog, events, now_ns, pause);
}

void deferral_end(struct deferral *deferral, struct backlog *backlog, struct pause *pause)
{
	backlog_set_deferring(backlog, false, pause);
	if (deferral->stat_fd > CLOSED)
		close(deferral->stat_fd);
	deferral->stat_fd = MISSING;
}
