/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#include <stdio.h>

#include "account/criticality.h"
#include "account/event_loop.h"
#include "session/session.h"
#include "session/threads.h"
#include "waits/cpu_waits.h"
#include "waits/files.h"
#include "waits/sums/waits.h"

enum { TIMELINE_MAX = 64 };

/* Nanoseconds with three decimals, without those that are 0. */
static void print_fixed(fixed_ns value)
{
	uint64_t thousandths = (uint64_t)((value * 1000 + (1u << 31)) >> 32);
	char text[32];
	int length = snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(thousandths / 1000),
			      (unsigned long long)(thousandths % 1000));

	while (text[length - 1] == '0')
		length--;
	printf("%.*s", length - (text[length - 1] == '.'), text);
}

static void print_nonzero(const char *name, uint64_t value)
{
	if (value)
		printf(" %s %llu", name, (unsigned long long)value);
}

static void print_totals(const struct replay *replay)
{
	struct criticality_totals t = criticality_totals(replay->criticality);
	struct session_counts s = session_counts(replay->session);

	printf("time: begin %llu end %llu wall %llu active %llu stalled %llu", (unsigned long long)t.begin_ns,
	       (unsigned long long)t.end_ns, (unsigned long long)t.wall_ns, (unsigned long long)t.active_ns,
	       (unsigned long long)t.stalled_ns);
	print_nonzero("spun", t.spun_ns);
	printf("\ncmetric: sum %llu closure error %lld, critical time %llu, "
	       "of critical slices %llu\n",
	       (unsigned long long)t.cmetric_ns, (long long)t.closure_error_ns, (unsigned long long)t.critical_ns,
	       (unsigned long long)t.oncpu_cmetric_critical_ns);
	printf("threads: %llu alive %llu alive-max %llu active-max %llu nmin %u\n", (unsigned long long)t.thread_count,
	       (unsigned long long)t.alive_count, (unsigned long long)t.alive_count_max,
	       (unsigned long long)t.active_count_max, t.nmin);
	printf("slices: %llu critical %llu", (unsigned long long)t.slices, (unsigned long long)t.critical_slices);
	print_nonzero("kept", t.stacks_kept);
	print_nonzero("skipped", t.stacks_skipped);
	print_nonzero("missing", t.stacks_missing);
	print_nonzero("switches", t.switches);
	print_nonzero("stalls", t.stalls);
	print_nonzero("samples", t.samples);
	print_nonzero("samples-dropped", t.samples_dropped);
	print_nonzero("stack-tops", t.stack_tops);
	if (t.keep_min < 1)
		printf(" keep-min %g", t.keep_min);
	printf("\nlosses:");
	print_nonzero("unordered", t.unordered);
	print_nonzero("gaps", t.gaps);
	print_nonzero("lost", t.lost_records);
	print_nonzero("gap-ns", t.gap_ns);
	print_nonzero("malformed", s.malformed);
	print_nonzero("late", s.late);
	print_nonzero("refused", replay->refused);
	printf("\nactive:");
	for (uint32_t n = 0; n < PARALLELISM_MAX; n++)
		if (criticality_time_at(replay->criticality, n))
			printf(" %u:%llu", n, (unsigned long long)criticality_time_at(replay->criticality, n));
	printf("\n");
}

static void print_threads(const struct replay *replay)
{
	const struct thread_metrics *m;
	size_t cursor = 0;

	while ((m = criticality_next_thread(replay->criticality, &cursor))) {
		if (m->thread)
			printf("thread %u '%s' pid %u:", m->thread->number, m->name, m->thread->pid);
		else
			printf("%llu threads '%s':", (unsigned long long)m->thread_count, m->name);
		printf(" oncpu ");
		print_fixed(m->cmetric_oncpu);
		printf(" runqueue ");
		print_fixed(m->cmetric_runqueue);
		printf(" | running %llu runnable %llu blocked %llu | slices %llu critical %llu",
		       (unsigned long long)m->running_ns, (unsigned long long)m->runnable_ns,
		       (unsigned long long)m->blocked_ns, (unsigned long long)m->slices,
		       (unsigned long long)m->critical_slices);
		print_nonzero("spinning", m->spinning_ns);
		print_nonzero("spin-preempted", m->spin_preempted_ns);
		print_nonzero("stalls-ended-ns", m->stalls_ended_ns);
		print_nonzero("path", m->path);
		printf("%s\n", m->is_alive ? " alive" : "");
	}
}

static void print_paths(const struct replay *replay)
{
	const struct path_metrics *m;
	size_t cursor = 0;

	while ((m = criticality_next_path(replay->criticality, &cursor))) {
		printf("path %llu of pid %u exec %u from %llu: cmetric %.3f slices %llu", (unsigned long long)m->stack,
		       m->pid, m->exec_count, (unsigned long long)m->first_ns, m->cmetric_ns,
		       (unsigned long long)m->slices);
		if (m->slices_estimated != m->slices)
			printf(" of %g", m->slices_estimated);
		print_nonzero("stalled", m->stalled_ns);
		printf(" | %zu threads:", m->thread_count);
		for (size_t i = 0; i < m->thread_count && i < PATH_THREADS_MAX; i++)
			printf(" %u", m->threads[i]->number);
		printf("\n");
		for (size_t i = 0; i < m->sample_kind_count; i++) {
			const struct sample_count *s = &m->samples[i];

			printf("  %llu at 0x%llx", (unsigned long long)s->count, (unsigned long long)s->ip);
			if (s->kernel_ip)
				printf(" kernel 0x%llx", (unsigned long long)s->kernel_ip);
			printf("%s\n", s->is_stack_top ? " (stack top)" : "");
		}
	}
}

static const char *file_name(const struct replay *replay, uint64_t file)
{
	const struct file_info *info = files_find(replay->files, file);

	if (!info)
		return "?";
	return *info->peer ? info->peer : info->path;
}

static void print_wakers(const struct wait_waker *waker)
{
	for (; waker; waker = waker->next) {
		printf("  %s", waker_kind_name(waker->kind));
		if (waker->thread)
			printf(" %u", waker->thread->number);
		if (waker->name[0])
			printf(" '%s'", waker->name);
		printf(" stack %llu: waited %.6g times %g cmetric %.6g\n", (unsigned long long)waker->stack,
		       waker->wait_ns, waker->count, waker->cmetric_ns);
	}
}

static void print_file(const struct replay *replay, const struct wait_file *file)
{
	const struct file_info *info = files_find(replay->files, file->file);

	printf("file %s: waited %llu idle %llu times %llu", file_name(replay, file->file),
	       (unsigned long long)file->sum.wait_ns, (unsigned long long)file->sum.idle_ns,
	       (unsigned long long)file->sum.count);
	print_nonzero("reading", file->direction_ns[FILE_READING]);
	print_nonzero("writing", file->direction_ns[FILE_WRITING]);
	print_nonzero("bytes", file->asked_bytes);
	if (info && files_host(replay->files, info))
		printf(" host %s", files_host(replay->files, info));
	printf("\n");
	for (const struct wait_peer *peer = file->peers; peer; peer = peer->next)
		printf("  other end '%s' of pid %u: ended %llu\n", peer->thread ? peer->thread->name : peer->name,
		       peer->pid, (unsigned long long)peer->wait_ns);
}

static void print_waits(const struct replay *replay)
{
	const struct wait_path *path;
	const struct wait_lock *lock;
	const struct wait_file *file;
	size_t cursor;

	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		struct wait_sum sum = waits_by_cause(replay->waits, cause);

		if (sum.count)
			printf("cause %s: waited %llu idle %llu times %llu max %llu\n", wait_cause_name(cause),
			       (unsigned long long)sum.wait_ns, (unsigned long long)sum.idle_ns,
			       (unsigned long long)sum.count, (unsigned long long)sum.max_ns);
	}
	for (cursor = 0; (path = waits_next_path(replay->waits, &cursor));) {
		printf("wait %s at %llu of pid %u: waited %.6g idle %.6g times %g object 0x%llx\n",
		       wait_cause_name(path->cause), (unsigned long long)path->stack, path->pid, path->wait_ns,
		       path->idle_ns, path->count, (unsigned long long)path->object);
		print_wakers(path->wakers);
	}
	for (cursor = 0; (lock = waits_next_lock(replay->waits, &cursor));) {
		uint32_t lengths[LENGTHS] = { 0 };

		wait_lock_add_lengths(lock, lengths);
		printf("lock 0x%llx: waited %llu times %llu half %llu queue %u held %llu in %llu "
		       "holder %u",
		       (unsigned long long)lock->object, (unsigned long long)lock->sum.wait_ns,
		       (unsigned long long)lock->sum.count,
		       (unsigned long long)lengths_quantile_ns(lengths, lock->sum.count, lock->sum.max_ns, 0.5),
		       lock->queue_max, (unsigned long long)lock->hold_ns, (unsigned long long)lock->holds,
		       lock->holders[0].tid);
		if (lock->holder_path)
			printf(", which waited %llu, at %llu", (unsigned long long)lock->holder_waited_ns,
			       (unsigned long long)lock->holder_path->stack);
		printf("\n");
		print_wakers(lock->unlockers);
	}
	for (cursor = 0; (file = waits_next_file(replay->waits, &cursor));)
		print_file(replay, file);
	printf("odd waits: %llu", (unsigned long long)waits_missing_wakeups(replay->waits, MISSING_ODD));
	print_nonzero("hidden", waits_missing_wakeups(replay->waits, MISSING_HIDDEN));
	print_nonzero("lost", waits_missing_wakeups(replay->waits, MISSING_LOST));
	printf("\n");
}

static void print_rivals(const struct replay *replay)
{
	struct cpu_throttling throttling = cpu_waits_throttling(replay->cpu_waits);
	const struct rival *rival;
	size_t cursor = 0;

	while ((rival = cpu_waits_next(replay->cpu_waits, &cursor)))
		printf("%s '%s' pid %u had the CPU for %llu of waiting\n", rival_kind_name(rival->kind), rival->name,
		       rival->pid, (unsigned long long)rival->wait_ns);
	if (throttling.count)
		printf("throttled for %llu, %llu times, max %llu\n", (unsigned long long)throttling.throttled_ns,
		       (unsigned long long)throttling.count, (unsigned long long)throttling.max_ns);
}

/* Of the longest iteration alone what was waited for: it may be all of them. */
static void print_loops(const struct replay *replay)
{
	const struct thread *thread;
	struct event_loop *loop;
	size_t cursor = 0;

	while ((loop = criticality_next_loop(replay->criticality, &cursor, &thread))) {
		printf("loop of thread %u: polled %llu times %llu, iterations %llu asked %llu for %llu: running %llu runnable %llu "
		       "waiting %llu; longest from %llu for %llu",
		       thread->number, (unsigned long long)loop->polled_ns, (unsigned long long)loop->polls,
		       (unsigned long long)loop->count, (unsigned long long)loop->asked_count,
		       (unsigned long long)loop->times.ns, (unsigned long long)loop->times.running_ns,
		       (unsigned long long)loop->times.cpu_wait_ns, (unsigned long long)loop->times.waiting_ns,
		       (unsigned long long)loop->longest.begin_ns, (unsigned long long)loop->longest.max_ns);
		for (size_t i = 0; i < LOOP_WAITS; i++)
			if (loop->longest.waits.list[i].ns)
				printf(", %s at %llu for %llu", wait_cause_name(loop->longest.waits.list[i].cause),
				       (unsigned long long)(loop->longest.waits.list[i].path
								    ? loop->longest.waits.list[i].path->stack
								    : 0),
				       (unsigned long long)loop->longest.waits.list[i].ns);
		printf("; of the process open for %llu", (unsigned long long)criticality_iteration_ns(
								 replay->criticality, thread->pid, replay->finish_ns));
		printf("\n");
		event_loop_free(loop);
	}
}

static void print_timeline(const struct replay *replay)
{
	double average[TIMELINE_MAX];
	size_t count;

	if (!replay->timeline_count || replay->timeline_count > TIMELINE_MAX)
		return;
	count = criticality_timeline(replay->criticality, average, replay->timeline_count);
	printf("timeline:");
	for (size_t i = 0; i < count; i++)
		printf(" %.3f", average[i]);
	printf("\n");
}

void replay_print(const struct replay *replay)
{
	print_totals(replay);
	print_threads(replay);
	print_paths(replay);
	if (replay->waits) {
		print_waits(replay);
		print_loops(replay);
	}
	if (replay->cpu_waits)
		print_rivals(replay);
	if (replay->klocks)
		replay_print_klocks(replay);
	print_timeline(replay);
}
