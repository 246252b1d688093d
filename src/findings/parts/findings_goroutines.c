/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goroutines waited for. Those that wait for the same in one function, and were made in one, are one row: where
 * in it they wait may differ.
 */
#include "findings/parts/findings_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "waits/go_waits.h"

/* Rows whose frames are named; those beyond are in no row. */
enum { WAITS_MAX = 512, PROCESSES_MAX = 64 };

/* Fewer samples tell of chance more than of goroutines. */
static const uint64_t sample_count_min = 10;

/* A row of the report while it is made. */
struct row {
	struct report_goroutine_wait wait;
	double largest; /* part of it whose frames it has */
};

static bool begins_with(const char *string, const char *prefix)
{
	return !strncmp(string, prefix, strlen(prefix));
}

/* Of Go's own packages: what programs call to wait. */
static bool is_waiting(const struct report_frame *frame)
{
	static const char *const prefixes[] = { "runtime.", "sync.",  "internal/", "time.", "net.",    "io.",
						"os.",      "bufio.", "syscall.",  "poll.", "context." };

	for (size_t i = 0; frame->function && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins_with(frame->function, prefixes[i]))
			return true;
	return false;
}

/* The main goroutine is the runtime's too, by whom it is made. */
static bool is_runtimes(const struct report_goroutine_wait *row, size_t own)
{
	return own == row->frame_count && row->creator_count && row->creator->function &&
	       begins_with(row->creator->function, "runtime.");
}

static bool calls(const struct report_frame *frames, size_t count, const char *prefix)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].function && begins_with(frames[i].function, prefix))
			return true;
	return false;
}

/* Which lock package sync's semaphore is for, functions tell: runtimes before Go 1.21 do not. */
static enum goroutine_kind kind_of_semaphore(const struct report_frame *frames, size_t count)
{
	if (calls(frames, count, "sync.(*WaitGroup)"))
		return GOROUTINE_WAIT_GROUP;
	if (calls(frames, count, "sync.(*Mutex)") || calls(frames, count, "sync.(*RWMutex)") ||
	    calls(frames, count, "sync.runtime_SemacquireMutex") || calls(frames, count, "internal/sync.(*Mutex)") ||
	    calls(frames, count, "internal/poll.(*fdMutex)"))
		return GOROUTINE_LOCK;
	return GOROUTINE_OTHER;
}

/* As src/runtime/runtime2.go has them: waitReasonStrings. */
static enum goroutine_kind kind_of(const char *reason, const struct report_frame *frames, size_t count)
{
	static const struct {
		const char *prefix;
		enum goroutine_kind kind;
	} kinds[] = {
		{ "sync.Mutex", GOROUTINE_LOCK },
		{ "sync.RWMutex", GOROUTINE_LOCK },
		{ "sync.Cond", GOROUTINE_CONDITION },
		{ "sync.WaitGroup", GOROUTINE_WAIT_GROUP },
		{ "chan ", GOROUTINE_CHANNEL },
		{ "select", GOROUTINE_SELECT },
		{ "IO wait", GOROUTINE_NETWORK },
		{ "sleep", GOROUTINE_SLEEP },
		{ "GC ", GOROUTINE_RUNTIME },
		{ "force gc", GOROUTINE_RUNTIME },
		{ "garbage ", GOROUTINE_RUNTIME },
		{ "finalizer wait", GOROUTINE_RUNTIME },
		{ "cleanup wait", GOROUTINE_RUNTIME },
		{ "trace reader", GOROUTINE_RUNTIME },
		{ "wait for GC", GOROUTINE_RUNTIME },
		{ "wait until GC", GOROUTINE_RUNTIME },
		{ "flushing proc caches", GOROUTINE_RUNTIME },
		{ "page trace flush", GOROUTINE_RUNTIME },
	};

	if (!strcmp(reason, "semacquire"))
		return kind_of_semaphore(frames, count);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (begins_with(reason, kinds[i].prefix))
			return kinds[i].kind;
	return GOROUTINE_OTHER;
}

/* The first one that is not Go's own; the number of frames where all are. */
static size_t find_own(const struct report_frame *frames, size_t count)
{
	size_t own = 0;

	while (own < count && is_waiting(&frames[own]))
		own++;
	return own;
}

/* What the program called there, unless that is the language: then what the runtime calls it. */
static const char *what_of(const char *reason, const struct report_frame *frames, size_t own)
{
	const char *function = own ? frames[own - 1].function : NULL;

	return function && !begins_with(function, "runtime.") ? function : *reason ? reason : "unknown";
}

static uint64_t hash_frame(uint64_t seed, const struct report_frame *frame)
{
	return frame->function ? hash_string(seed, frame->function) : hash_u64(seed ^ frame->offset);
}

static void name_wait(struct findings *findings, const struct go_wait *wait, struct report_goroutine_wait *row)
{
	enum stack_end end;
	size_t own, count;

	row->frame_count =
		path_names_frames(findings->names, wait->pid, wait->first_ns, wait->stack, &row->frames, &end);
	row->creator_count =
		path_names_frames(findings->names, wait->pid, wait->first_ns, wait->creator, &row->creator, &end);
	own = find_own(row->frames, row->frame_count);
	count = row->frame_count;
	row->reason = wait->reason;
	row->kind = is_runtimes(row, own) ? GOROUTINE_RUNTIME : kind_of(wait->reason, row->frames, count);
	row->what = what_of(wait->reason, row->frames, own < count ? own : 0);
	row->own_frame = own < count ? own : 0;
}

static uint64_t key_of(const struct report_goroutine_wait *row)
{
	uint64_t key = hash_string(hash_string(row->kind + 1, row->reason), row->what);

	if (row->frame_count)
		key = hash_frame(key, &row->frames[row->own_frame]);
	return row->creator_count ? hash_frame(hash_u64(key), &row->creator[row->creator_count - 1]) : key;
}

/* That one errs says nothing of another: all may err alike. */
static void add_wait(struct findings *findings, struct table *by_key, struct row **rows, size_t *count,
		     const struct go_process *process, const struct go_wait *wait)
{
	struct report_goroutine_wait named = { 0 };
	double error, mean = go_waits_mean(process, &wait->waiting, &error);
	struct row *row;

	name_wait(findings, wait, &named);
	row = table_find(by_key, key_of(&named));
	if (!row) {
		row = arena_alloc(findings->arena, sizeof(*row));
		row->wait = named;
		table_put(by_key, key_of(&named), row);
		rows[(*count)++] = row;
	}
	row->wait.waiting += mean;
	row->wait.waiting_error += error;
	row->wait.waiting_max += wait->waiting.count_max;
	if (mean > row->largest) {
		row->largest = mean;
		row->wait.frames = named.frames;
		row->wait.frame_count = named.frame_count;
		row->wait.own_frame = named.own_frame;
		row->wait.creator = named.creator;
		row->wait.creator_count = named.creator_count;
	}
}

static int rows_by_waiting(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->wait.waiting != y->wait.waiting)
		return x->wait.waiting < y->wait.waiting ? 1 : -1;
	return strcmp(x->wait.what, y->wait.what);
}

static int waits_by_sum(const void *a, const void *b)
{
	const struct go_wait *x = *(struct go_wait *const *)a, *y = *(struct go_wait *const *)b;

	if (x->waiting.sum != y->waiting.sum)
		return x->waiting.sum < y->waiting.sum ? 1 : -1;
	return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static void add_waits(struct findings *findings, const struct go_process *process, struct report_go_process *out)
{
	size_t count = process->wait_count, row_count = 0;
	struct go_wait **waits = xcalloc(count + 1, sizeof(*waits));
	struct row **rows = xcalloc(count + 1, sizeof(struct row *));
	struct table *by_key = table_new();
	struct report_goroutine_wait *list;

	for (size_t i = 0; i < count; i++)
		waits[i] = process->waits[i];
	qsort(waits, count, sizeof(*waits), waits_by_sum);
	for (size_t i = 0; i < count && i < WAITS_MAX; i++)
		add_wait(findings, by_key, rows, &row_count, process, waits[i]);
	qsort(rows, row_count, sizeof(*rows), rows_by_waiting);
	list = arena_alloc(findings->arena, row_count * sizeof(*list) + 1);
	for (size_t i = 0; i < row_count; i++)
		list[i] = rows[i]->wait;
	out->waits = list;
	out->wait_count = row_count;
	table_free(by_key);
	free(rows);
	free(waits);
}

static void add_process(struct findings *findings, const struct go_process *process, struct report_go_process *out)
{
	out->pid = process->pid;
	out->samples = process->sample_count;
	out->examined_share = (double)process->examined / process->listed;
	out->running = go_waits_mean(process, &process->running, &out->running_error);
	out->runnable = go_waits_mean(process, &process->runnable, &out->runnable_error);
	out->in_syscall = go_waits_mean(process, &process->in_syscall, &out->in_syscall_error);
	out->waiting = go_waits_mean(process, &process->waiting, &out->waiting_error);
	add_waits(findings, process, out);
}

static int processes_by_waiting(const void *a, const void *b)
{
	const struct report_go_process *x = a, *y = b;

	if (x->waiting != y->waiting)
		return x->waiting < y->waiting ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void findings_add_goroutines(struct findings *findings)
{
	struct report_go_process *list = arena_alloc(findings->arena, PROCESSES_MAX * sizeof(*list));
	const struct go_process *process;
	size_t cursor = 0, count = 0;

	while (count < PROCESSES_MAX && (process = go_waits_next(findings->input.go_waits, &cursor)))
		if (process->sample_count >= sample_count_min)
			add_process(findings, process, &list[count++]);
	qsort(list, count, sizeof(*list), processes_by_waiting);
	findings->report.goroutines = list;
	findings->report.go_process_count = count;
}
