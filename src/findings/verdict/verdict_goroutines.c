/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_goroutines.h"

#include <string.h>

#include "findings/names/go_names.h"
#include "report/report.h"

/* Of the CPUs, so much is nearly all; of active threads' time, so much is a shortage of CPUs. */
static const double cpus_min = 0.8, cpu_wait_min = 0.25;

/* A lock, and a channel that takes no more, are waited for while there is something to do; others may be idle. */
static bool holds_back(const struct report_goroutine_wait *wait)
{
	return wait->kind == GOROUTINE_LOCK || !strncmp(wait->reason, "chan send", strlen("chan send"));
}

const struct report_goroutine_wait *verdict_goroutine_wait(const struct report *report,
							   const struct report_go_process **process)
{
	const struct report_goroutine_wait *worst = NULL;

	for (size_t i = 0; i < report->go_process_count; i++) {
		for (size_t k = 0; k < report->goroutines[i].wait_count; k++) {
			const struct report_goroutine_wait *wait = &report->goroutines[i].waits[k];

			if (!holds_back(wait) || (worst && wait->waiting <= worst->waiting))
				continue;
			worst = wait;
			*process = &report->goroutines[i];
		}
	}
	return worst && worst->waiting - worst->waiting_error >= 1 ? worst : NULL;
}

static const char *own_function(const struct report_goroutine_wait *wait)
{
	return wait->own_frame < wait->frame_count ? wait->frames[wait->own_frame].function : NULL;
}

const struct report_goroutine_wait *verdict_goroutine_holder(const struct report_go_process *process,
							     const struct report_goroutine_wait *lock)
{
	const struct report_goroutine_wait *most = NULL;
	const char *function = own_function(lock), *other;

	for (size_t i = 0; function && i < process->wait_count; i++) {
		const struct report_goroutine_wait *wait = &process->waits[i];

		other = wait == lock || holds_back(wait) ? NULL : own_function(wait);
		if (other && !strcmp(other, function) && wait->waiting > wait->waiting_error &&
		    (!most || wait->waiting > most->waiting))
			most = wait;
	}
	return most;
}

static bool is_in_network(const struct report_goroutine_wait *wait)
{
	for (size_t i = 0; i < wait->frame_count; i++)
		if (go_is_library(&wait->frames[i]) && (!strncmp(wait->frames[i].function, "net.", strlen("net.")) ||
							!strncmp(wait->frames[i].function, "net/", strlen("net/"))))
			return true;
	return false;
}

const struct report_goroutine_wait *verdict_goroutine_network(const struct report *report,
							      const struct report_frame **own)
{
	const struct report_goroutine_wait *most = NULL;

	for (size_t i = 0; i < report->go_process_count; i++) {
		for (size_t k = 0; k < report->goroutines[i].wait_count; k++) {
			const struct report_goroutine_wait *wait = &report->goroutines[i].waits[k];
			const struct report_frame *frame = go_find_own(wait->frames, wait->frame_count);

			if (!frame || !is_in_network(wait) || (most && wait->waiting <= most->waiting))
				continue;
			most = wait;
			*own = frame;
		}
	}
	return most;
}

const struct report_go_process *verdict_few_processors(const struct report *report)
{
	const struct report_thread_balance *threads = &report->balance.threads;
	const struct report_go_process *worst = NULL;

	if (!report->target.cpu_count || report->totals.parallelism >= cpus_min * report->target.cpu_count ||
	    threads->cpu_wait_ns >= cpu_wait_min * (threads->running_ns + threads->cpu_wait_ns))
		return NULL;
	for (size_t i = 0; i < report->go_process_count; i++)
		if (!worst || report->goroutines[i].runnable > worst->runnable)
			worst = &report->goroutines[i];
	return worst && worst->runnable - worst->runnable_error >= 1 ? worst : NULL;
}
