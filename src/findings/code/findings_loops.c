/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are event loops: how long their iterations take, and what they do in them, and in long ones. */
#include <stdlib.h>
#include <string.h>

#include "account/criticality.h"
#include "account/event_loop.h"
#include "chains/blocked_sum.h"
#include "findings/code/findings_code.h"
#include "findings/parts/findings_waits.h"
#include "session/syscalls.h"
#include "waits/unread_input.h"

/* TURN_CLASS_MAX: from 33.6 ms on. Half of that is seen while polls are watched (collect/probe/loop_watch.h). */
enum { LOOPS_MAX = 64, ITERATIONS_MIN = 4, LONG_FACTOR = 8, TURN_CLASS_MAX = 6 };

/* Where users notice. */
static const uint64_t long_min_ns = 4000000;

/* A loop while its row is made. */
struct loop {
	struct event_loop *loop;
	const struct thread *thread;
};

static bool begins_with(const char *string, const char *prefix)
{
	return !strncmp(string, prefix, strlen(prefix));
}

/* A function of libc or of the kernel by which descriptors are polled. */
static bool polls(const struct report_frame *frame)
{
	static const char *const prefixes[] = { "epoll_",         "ep_poll",         "do_epoll",
						"ep_send_events", "do_poll",         "do_sys_poll",
						"do_select",      "core_sys_select", "io_cqring_wait" };
	static const char *const names[] = { "poll",   "__poll",   "ppoll",   "__ppoll",
					     "select", "__select", "pselect", "io_uring_enter" };

	if (!frame->function)
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins_with(frame->function, prefixes[i]))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(frame->function, names[i]))
			return true;
	return false;
}

/* Whether the sample was in a poll: below the user's own function. */
static bool is_in_poll(struct findings *findings, const struct code_sample *code)
{
	const struct report_frame *frames;
	enum stack_end end;
	size_t own, count = path_names_sample_frames(findings->names, code->pid, code->first_ns, code->stack, code->ip,
						     code->kernel_ip, &frames, &end);

	if (!count)
		return false;
	findings_code_path_key(findings, frames, count, &own);
	for (size_t i = 0; i < own; i++)
		if (polls(&frames[i]))
			return true;
	return false;
}

static size_t kept(const struct loop_samples *samples)
{
	return samples->seen < LOOP_SAMPLES ? samples->seen : LOOP_SAMPLES;
}

/* What the thread did in these iterations, as sums of chains have it. */
static struct blocked_sum sum_of(struct findings *findings, const struct loop_part *part)
{
	const struct loop_times *times = &part->times;
	uint64_t known_ns = times->running_ns + times->cpu_wait_ns + times->waiting_ns;
	size_t count = kept(&part->samples);
	struct blocked_code *code = arena_alloc(findings->arena, (count + 1) * sizeof(*code));
	struct blocked_wait *waits = arena_alloc(findings->arena, LOOP_WAITS * sizeof(*waits));
	struct blocked_sum sum = { 0 };

	sum.ns[BLOCKED_RUNNING] = times->running_ns;
	sum.ns[BLOCKED_CPU_WAIT] = times->cpu_wait_ns;
	sum.ns[BLOCKED_WAITING] = times->waiting_ns;
	sum.ns[BLOCKED_UNKNOWN] = times->ns > known_ns ? times->ns - known_ns : 0;
	for (size_t i = 0; i < count; i++) {
		const struct loop_sample *sample = &part->samples.list[i];
		double weight = sample->weight * part->samples.seen / count;

		code[i] = (struct blocked_code){ sample->code, sample->code->kin, weight, sum.code };
		sum.code = &code[i];
		sum.weight[sample->code->stratum->source] += weight;
		sum.sample_count[sample->code->stratum->source]++;
	}
	for (size_t i = 0; i < LOOP_WAITS; i++) {
		const struct loop_wait *wait = &part->waits.list[i];

		if (!wait->ns)
			continue;
		waits[i] = (struct blocked_wait){ wait->cause, wait->path, wait->ns, sum.waits };
		sum.waits = &waits[i];
	}
	return sum;
}

/* What was done in the iterations of classes from first on, before end. */
static const struct report_blocked_on *work_of(struct findings *findings, const struct event_loop *loop,
					       unsigned int first, unsigned int end)
{
	struct blocked_sum *sums = arena_alloc(findings->arena, LOOP_CLASSES * sizeof(*sums));
	uint64_t all_ns = 0;
	size_t count = 0;

	for (unsigned int i = first; i < end; i++) {
		if (!loop->classes[i])
			continue;
		sums[count++] = sum_of(findings, loop->classes[i]);
		all_ns += loop->classes[i]->times.ns;
	}
	return findings_blocked_on_sums(findings, sums, count, all_ns);
}

static uint64_t count_in_polls(struct findings *findings, const struct loop_part *part)
{
	uint64_t count = 0;

	for (size_t i = 0; i < kept(&part->samples); i++) {
		const struct code_sample *code = part->samples.list[i].code;

		count += code->stratum->source == findings->code_source && is_in_poll(findings, code);
	}
	return count;
}

/* The first class of which all iterations are long. */
static unsigned int first_long(uint64_t p50_ns)
{
	uint64_t bound_ns = p50_ns * LONG_FACTOR > long_min_ns ? p50_ns * LONG_FACTOR : long_min_ns;
	unsigned int class = 0;

	while (class < LOOP_CLASSES && event_loop_class_ns(class) < bound_ns)
		class ++;
	return class;
}

/* How old turns were that samples of long iterations met. Of those that were watched for too short a time it is not known. */
static void put_turns(const struct event_loop *loop, unsigned int first, struct report_event_loop *row)
{
	unsigned int long_turn = first < TURN_CLASS_MAX ? first : TURN_CLASS_MAX;

	row->turn_min_ns = event_loop_class_ns(long_turn) / 2;
	for (unsigned int i = first; i < LOOP_CLASSES; i++) {
		const struct loop_turns *turns = loop->classes[i] ? &loop->classes[i]->turns : NULL;

		for (unsigned int k = 0; turns && k < LOOP_CLASSES; k++) {
			uint32_t count = turns->known[k] + turns->at_least[k];

			row->turn_samples += count;
			row->long_turn_samples += k < long_turn ? 0 : count;
			row->short_turn_samples += k < long_turn ? turns->known[k] : 0;
		}
	}
}

static void put_long(struct findings *findings, const struct event_loop *loop, struct report_event_loop *row)
{
	unsigned int first = first_long(row->p50_ns);

	row->long_min_ns = event_loop_class_ns(first);
	for (unsigned int i = first; i < LOOP_CLASSES; i++) {
		if (!loop->classes[i])
			continue;
		row->long_iterations += loop->classes[i]->count;
		row->long_asked_iterations += loop->classes[i]->asked_count;
		row->long_poll_samples += count_in_polls(findings, loop->classes[i]);
	}
	put_turns(loop, first, row);
	row->long_work = work_of(findings, loop, first, LOOP_CLASSES);
	row->short_work = work_of(findings, loop, 0, first);
}

/* What lies there for longer than any iteration takes waits for something else. */
static void put_unread(struct findings *findings, struct report_event_loop *row)
{
	const struct unread_input *input = findings->input.unread_input;
	const struct unread_process *process = input ? unread_input_of(input, row->pid) : NULL;
	uint64_t unread = 0;

	if (!process)
		return;
	row->looks = process->looks;
	for (unsigned int i = 1; i < UNREAD_AGES && unread_input_age_ns(i) <= row->max_ns; i++) {
		unread += process->unread[i];
		row->unread_looks += process->looks_of[i];
		if (process->unread[i])
			row->unread_ns = unread_input_age_ns(i);
	}
	row->unread = (double)unread / process->looks;
}

static void put_row(struct findings *findings, const struct loop *from, struct report_event_loop *row)
{
	uint64_t begin_ns = criticality_totals(findings->input.criticality).begin_ns;
	const struct event_loop *loop = from->loop;
	const char *syscall = syscall_name(loop->syscall);
	struct blocked_sum longest = sum_of(findings, &loop->longest);

	*row = (struct report_event_loop){
		.pid = from->thread->pid,
		.tid = from->thread->tid,
		.name = arena_strdup(findings->arena, from->thread->name),
		.syscall = syscall ? syscall : "",
		.polls = loop->polls,
		.polled_ns = loop->polled_ns,
		.iterations = loop->count,
		.asked_iterations = loop->asked_count,
		.max_ns = loop->longest.max_ns,
		.max_at_ns = loop->longest.begin_ns > begin_ns ? loop->longest.begin_ns - begin_ns : 0,
	};
	row->p50_ns = lengths_quantile_ns(loop->lengths, loop->count, row->max_ns, 0.5);
	row->p99_ns = lengths_quantile_ns(loop->lengths, loop->count, row->max_ns, 0.99);
	row->work = work_of(findings, loop, 0, LOOP_CLASSES);
	row->longest = findings_blocked_on_sums(findings, &longest, 1, loop->longest.times.ns);
	put_long(findings, loop, row);
	put_unread(findings, row);
}

static int by_work(const void *a, const void *b)
{
	const struct loop *x = a, *y = b;

	if (x->loop->times.ns != y->loop->times.ns)
		return x->loop->times.ns < y->loop->times.ns ? 1 : -1;
	return x->thread->number < y->thread->number ? -1 : x->thread->number > y->thread->number;
}

/* All of them, for the caller to free with their loops. */
static struct loop *collect(struct findings *findings, size_t *count)
{
	const struct criticality *criticality = findings->input.criticality;
	struct loop *loops = NULL, loop;
	size_t cursor = 0, capacity = 0;

	*count = 0;
	while ((loop.loop = criticality_next_loop(criticality, &cursor, &loop.thread))) {
		if (loop.loop->count < ITERATIONS_MIN) {
			event_loop_free(loop.loop);
			continue;
		}
		ARRAY_GROW(loops, *count, capacity, 16);
		loops[(*count)++] = loop;
	}
	if (*count)
		qsort(loops, *count, sizeof(*loops), by_work);
	return loops;
}

void findings_add_loops(struct findings *findings)
{
	struct report_event_loop *rows;
	size_t count;
	struct loop *loops = collect(findings, &count);

	rows = arena_alloc(findings->arena, LOOPS_MAX * sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		if (i < LOOPS_MAX)
			put_row(findings, &loops[i], &rows[findings->report.event_loop_count++]);
		event_loop_free(loops[i].loop);
	}
	findings->report.event_loops = rows;
	free(loops);
	if (criticality_loops_left_out(findings->input.criticality))
		findings_add_note(findings, "%llu threads that poll are not among the event loops: there are too many",
				  (unsigned long long)criticality_loops_left_out(findings->input.criticality));
}
