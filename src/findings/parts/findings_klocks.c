/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel locks by name, with who waited for them, where, and who had them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pause.h"
#include "base/table.h"
#include "base/whole.h"
#include "findings/parts/findings_internal.h"
#include "findings/names/klock_words.h"
#include "findings/names/thread_index.h"
#include "klocks/klocks.h"
#include "waits/others.h"

/* While report.klocks is made. */
struct making {
	struct findings *findings;
	struct thread_index index;
	struct table *stacks;          /* by stack and address space */
	struct table *stacks_by_words; /* the same, by how they read */
	struct report_klock_stack *list;
	size_t count, capacity;
};

/* Of one lock. */
struct numbered_path {
	size_t number;
	double waits, wait_ns;
};

struct path_parts {
	double waits, wait_ns;
};

/* --- Call paths --------------------------------------------------------------------------------- */

static size_t name_path(struct making *making, uint64_t stack, uint32_t pid, uint64_t time_ns,
			const struct report_frame **frames)
{
	/* Where an owner is: in the kernel, which is the same for all. */
	return path_names_frames(making->findings->names, pid ? pid : 1, time_ns, stack, frames, NULL);
}

/* The same for paths that read the same: calls of one function from two places of another are one to the user. */
static uint64_t key_of_words(const struct report_frame *frames, size_t count)
{
	uint64_t key = count;

	for (size_t i = 0; i < count; i++) {
		const struct report_frame *frame = &frames[i];

		key = hash_u64(key ^ frame->line);
		key = hash_string(key, frame->module ? frame->module : "");
		key = hash_string(key, frame->file ? frame->file : "");
		key = frame->function ? hash_string(key, frame->function) : hash_u64(key ^ frame->offset);
	}
	return key;
}

static struct report_klock_stack as_stack(struct making *making, const struct report_frame *frames, size_t count)
{
	return (struct report_klock_stack){
		frames,
		count,
		klock_words_wanting(making->findings->klock_words, frames, count),
	};
}

static size_t add_stack(struct making *making, const struct report_frame *frames, size_t count)
{
	ARRAY_GROW(making->list, making->count, making->capacity, 256);
	making->list[making->count] = as_stack(making, frames, count);
	return ++making->count;
}

/* Counted from 1 on; 0: it is unknown. */
static size_t stack_number(struct making *making, uint64_t stack, uint32_t pid, uint64_t time_ns)
{
	uint64_t key = hash_u64(stack ^ hash_u64(pid)), words;
	const struct report_frame *frames;
	size_t number = stack ? (uintptr_t)table_find(making->stacks, key) : 0, count;

	if (number || !stack)
		return number;
	count = name_path(making, stack, pid, time_ns, &frames);
	if (!count)
		return 0;
	words = key_of_words(frames, count);
	number = (uintptr_t)table_find(making->stacks_by_words, words);
	if (!number) {
		number = add_stack(making, frames, count);
		table_put(making->stacks_by_words, words, (void *)(uintptr_t)number);
	}
	table_put(making->stacks, key, (void *)(uintptr_t)number);
	return number;
}

static size_t path_number(struct making *making, const struct klock_path *path)
{
	return path ? stack_number(making, path->stack, path->pid, path->first_ns) : 0;
}

/* --- Rows --------------------------------------------------------------------------------------- */

static const char *other_name(struct making *making, uint32_t tid)
{
	const struct other *other = tid ? others_find(making->findings->input.others, tid) : NULL;

	return other ? arena_strdup(making->findings->arena, other->name) : NULL;
}

/* The kernel's own thread that has the CPU when nobody else wants it has no id, as what found no space. */
static bool is_idle(const struct klock_waiter *waiter)
{
	return !waiter->thread && !waiter->tid && waiter->context != WAKE_THREAD;
}

static struct report_klock_waiter as_waiter(struct making *making, const struct klock_waiter *waiter)
{
	const struct thread *thread = table_find(making->index.by_number, waiter->thread);
	struct report_klock_waiter out = {
		.context = waiter->context,
		.tid = waiter->tid,
		.waits = waiter->sum.waits,
		.wait_ns = waiter->sum.wait_ns,
		.max_ns = waiter->sum.max_ns,
		.stack = path_number(making, waiter->path),
	};

	if (!thread) {
		out.name = is_idle(waiter) ? "idle" : other_name(making, waiter->tid);
		return out;
	}
	out.name = arena_strdup(making->findings->arena, thread->name);
	out.pid = thread->pid;
	out.tid = thread->tid;
	return out;
}

static struct report_klock_owner as_owner(struct making *making, const struct klock_owner *owner)
{
	const struct thread *thread = table_find(making->index.by_host_tid, owner->tid);

	return (struct report_klock_owner){
		.name = thread ? arena_strdup(making->findings->arena, thread->name) : other_name(making, owner->tid),
		.tid = owner->tid,
		.waits = owner->sum.waits,
		.wait_ns = owner->sum.wait_ns,
		.stack = stack_number(making, owner->stack, 0, 0),
	};
}

#define BY_WAIT(type)                                           \
	static int type##_by_wait(const void *a, const void *b) \
	{                                                       \
		const struct report_##type *x = a, *y = b;      \
                                                                \
		return x->wait_ns < y->wait_ns   ? 1            \
		       : x->wait_ns > y->wait_ns ? -1           \
		       : x->waits < y->waits     ? 1            \
		       : x->waits > y->waits     ? -1           \
						 : 0;               \
	}
BY_WAIT(klock_waiter)
BY_WAIT(klock_owner)
BY_WAIT(klock_path)
BY_WAIT(klock_kind)

static int by_wait_and_hold(const void *a, const void *b)
{
	const struct report_klock *x = a, *y = b;

	return x->wait_ns < y->wait_ns             ? 1
	       : x->wait_ns > y->wait_ns           ? -1
	       : x->waits < y->waits               ? 1
	       : x->waits > y->waits               ? -1
	       : x->hold_ns < y->hold_ns           ? 1
	       : x->hold_ns > y->hold_ns           ? -1
	       : x->acquisitions < y->acquisitions ? 1
	       : x->acquisitions > y->acquisitions ? -1
						   : 0;
}

static void add_waiters(struct making *making, struct report_klock *out, const struct klock *klock)
{
	struct report_klock_waiter *rows = arena_alloc(making->findings->arena, klock->waiter_count * sizeof(*rows));

	for (const struct klock_waiter *waiter = klock->waiters; waiter; waiter = waiter->next)
		rows[out->waiter_count++] = as_waiter(making, waiter);
	qsort(rows, out->waiter_count, sizeof(*rows), klock_waiter_by_wait);
	out->waiters = rows;
}

static void add_owners(struct making *making, struct report_klock *out, const struct klock *klock)
{
	struct report_klock_owner *rows;
	size_t count = 0;

	for (const struct klock_owner *owner = klock->owners; owner; owner = owner->next)
		count++;
	rows = arena_alloc(making->findings->arena, count * sizeof(*rows));
	for (const struct klock_owner *owner = klock->owners; owner; owner = owner->next)
		rows[out->owner_count++] = as_owner(making, owner);
	qsort(rows, out->owner_count, sizeof(*rows), klock_owner_by_wait);
	out->owners = rows;
}

static int by_number(const void *a, const void *b)
{
	const struct numbered_path *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* By what to multiply what a lock's paths estimate beyond what is sure, so that it is no more than its waits. */
static struct path_parts parts_of(const struct klock *klock)
{
	double waits = 0, wait_ns = 0, kept_waits = 0, kept_ns = 0;

	for (const struct klock_path *path = klock->paths; path; path = path->next) {
		kept_waits += path->kept_waits;
		kept_ns += path->kept_ns;
		waits += path->waits - path->kept_waits;
		wait_ns += path->wait_ns - path->kept_ns;
	}
	kept_waits = fmax(klock->sum.waits - kept_waits, 0);
	kept_ns = fmax(klock->sum.wait_ns - kept_ns, 0);
	return (struct path_parts){
		waits > kept_waits ? kept_waits / waits : 1,
		wait_ns > kept_ns ? kept_ns / wait_ns : 1,
	};
}

static struct numbered_path as_numbered(const struct klock_path *path, size_t number, const struct path_parts *parts)
{
	return (struct numbered_path){
		number,
		path->kept_waits + (path->waits - path->kept_waits) * parts->waits,
		path->kept_ns + (path->wait_ns - path->kept_ns) * parts->wait_ns,
	};
}

static void add_paths(struct making *making, struct report_klock *out, const struct klock *klock)
{
	struct path_parts parts = parts_of(klock);
	struct numbered_path *paths;
	struct report_klock_path *rows;
	size_t count = 0, merged = 0;

	for (const struct klock_path *path = klock->paths; path; path = path->next)
		count++;
	paths = xcalloc(count + 1, sizeof(*paths));
	count = 0;
	for (const struct klock_path *path = klock->paths; path; path = path->next) {
		size_t number = path_number(making, path);

		if (number)
			paths[count++] = as_numbered(path, number, &parts);
	}
	qsort(paths, count, sizeof(*paths), by_number);
	for (size_t i = 0; i < count; i++) {
		if (merged && paths[merged - 1].number == paths[i].number) {
			paths[merged - 1].waits += paths[i].waits;
			paths[merged - 1].wait_ns += paths[i].wait_ns;
		} else {
			paths[merged++] = paths[i];
		}
	}
	rows = arena_alloc(making->findings->arena, merged * sizeof(*rows));
	for (size_t i = 0; i < merged; i++)
		rows[i] = (struct report_klock_path){
			.waits = whole(paths[i].waits),
			.wait_ns = whole(paths[i].wait_ns),
			.stack = paths[i].number,
		};
	qsort(rows, merged, sizeof(*rows), klock_path_by_wait);
	out->paths = rows;
	out->path_count = merged;
	free(paths);
}

/* Who took it first. */
static struct report_klock_stack caller_of(struct making *making, const struct klock *klock)
{
	struct report_frame *frame = arena_alloc(making->findings->arena, sizeof(*frame));
	struct symbol_frame found;

	if (!klock->holding.caller)
		return (struct report_klock_stack){ 0 };
	symbols_resolve_kernel(making->findings->input.symbols, klock->holding.caller - 1, &found);
	frame->function = found.function ? arena_strdup(making->findings->arena, found.function) : NULL;
	frame->is_kernel = true;
	return as_stack(making, frame, 1);
}

/* What its own address does not say, who waits for it may, or who takes it. */
static void name_lock(struct making *making, struct report_klock *out, const struct klock *klock)
{
	struct findings *findings = making->findings;
	const struct klock_facts *facts = klocks_find(findings->input.klocks, klock->lock);
	const struct report_klock_stack heaviest =
		out->path_count ? making->list[out->paths[0].stack - 1] : caller_of(making, klock);

	if (heaviest.wanting)
		out->where = heaviest.wanting->function;
	if (!klock->lock) {
		out->address = "others";
		return;
	}
	out->address = arena_printf(findings->arena, "0x%llx", (unsigned long long)(facts ? facts->address : 0));
	out->cache = facts && *facts->cache ? facts->cache : NULL;
	out->name = object_name_of_klock(&findings->objects, klock->lock);
	if (!out->name && heaviest.frame_count)
		out->name = klock_words_name(findings->klock_words, heaviest.frames, heaviest.frame_count);
}

static const char *kind_name(struct findings *findings, enum klock_kind kind)
{
	return arena_strdup(findings->arena, klocks_kind_name(findings->input.klocks, kind));
}

static struct report_klock as_lock(struct making *making, const struct klock *klock)
{
	static uint32_t none[LENGTHS];
	const struct klock_sum *sum = &klock->sum;
	uint32_t *lengths = sum->waits ? arena_alloc(making->findings->arena, LENGTHS * sizeof(*lengths)) : none;
	struct report_klock out = {
		.kind = kind_name(making->findings, klock->kind),
		.waits = sum->waits,
		.wait_ns = sum->wait_ns,
		.mean_ns = sum->waits ? sum->wait_ns / sum->waits : 0,
		.max_ns = sum->max_ns,
		.unfinished = klock->lasting,
		.given_up = klock->gave_up,
		.histogram = lengths,
		.is_counted = making->findings->report.kernel_locks.counts_acquisitions,
		.acquisitions = klock->holding.acquisitions,
		.holds = klock->holding.holds,
		.take_ns = klock->holding.take_ns,
		.hold_ns = klock->holding.hold_ns,
		.max_hold_ns = klock->holding.max_hold_ns,
	};

	pause_take_if_due(making->findings->input.pause);
	klock_add_lengths(klock, lengths);
	out.p50_ns = lengths_quantile_ns(lengths, sum->waits, sum->max_ns, 0.5);
	out.p90_ns = lengths_quantile_ns(lengths, sum->waits, sum->max_ns, 0.9);
	out.p99_ns = lengths_quantile_ns(lengths, sum->waits, sum->max_ns, 0.99);
	add_waiters(making, &out, klock);
	add_owners(making, &out, klock);
	add_paths(making, &out, klock);
	name_lock(making, &out, klock);
	return out;
}

/* --- All of them -------------------------------------------------------------------------------- */

static void add_kinds(struct making *making)
{
	struct findings *findings = making->findings;
	enum klock_kind count = klocks_kind_count(findings->input.klocks);
	struct report_klock_kind *rows = arena_alloc(findings->arena, count * sizeof(*rows));
	struct report_klocks *klocks = &findings->report.kernel_locks;
	const struct klock *klock;

	for (enum klock_kind kind = 0; kind < count; kind++) {
		struct report_klock_kind *row = &rows[klocks->kind_count];
		uint32_t *lengths = arena_alloc(findings->arena, LENGTHS * sizeof(*lengths));
		size_t cursor = 0;

		*row = (struct report_klock_kind){ .kind = kind_name(findings, kind), .histogram = lengths };
		while ((klock = klocks_next(findings->input.klocks, &cursor))) {
			if (klock->kind != kind)
				continue;
			row->waits += klock->sum.waits;
			row->wait_ns += klock->sum.wait_ns;
			row->max_ns = klock->sum.max_ns > row->max_ns ? klock->sum.max_ns : row->max_ns;
			klock_add_lengths(klock, lengths);
		}
		row->mean_ns = row->waits ? row->wait_ns / row->waits : 0;
		row->p25_ns = lengths_quantile_ns(lengths, row->waits, row->max_ns, 0.25);
		row->p50_ns = lengths_quantile_ns(lengths, row->waits, row->max_ns, 0.5);
		row->p75_ns = lengths_quantile_ns(lengths, row->waits, row->max_ns, 0.75);
		row->p99_ns = lengths_quantile_ns(lengths, row->waits, row->max_ns, 0.99);
		klocks->waits += row->waits;
		klocks->wait_ns += row->wait_ns;
		klocks->kind_count += row->waits > 0;
	}
	qsort(rows, klocks->kind_count, sizeof(*rows), klock_kind_by_wait);
	klocks->kinds = rows;
}

void findings_add_klocks(struct findings *findings)
{
	struct making making = {
		.findings = findings,
		.index = thread_index_new(findings->input.criticality),
		.stacks = table_new(),
		.stacks_by_words = table_new(),
	};
	struct report_klocks *klocks = &findings->report.kernel_locks;
	struct report_klock *rows;
	const struct klock *klock;
	struct klock_costs costs;
	size_t cursor = 0, count = 0;

	klocks->counts_acquisitions = klocks_costs(findings->input.klocks, &costs);
	while (klocks_next(findings->input.klocks, &cursor))
		count++;
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	for (cursor = 0; (klock = klocks_next(findings->input.klocks, &cursor));) {
		rows[klocks->lock_count++] = as_lock(&making, klock);
		klocks->tracing_ns += klock->tracing_ns;
		klocks->waited_count += klock->sum.waits > 0;
		klocks->acquisitions += klock->holding.acquisitions;
		klocks->take_ns += klock->holding.take_ns;
		klocks->hold_ns += klock->holding.hold_ns;
	}
	qsort(rows, klocks->lock_count, sizeof(*rows), by_wait_and_hold);
	klocks->locks = rows;
	klocks->take_cost_ns = costs.take_ns;
	klocks->hold_cost_ns = costs.hold_ns;
	klocks->stacks = arena_alloc(findings->arena, making.count * sizeof(*making.list));
	klocks->stack_count = making.count;
	if (making.count)
		memcpy((void *)klocks->stacks, making.list, making.count * sizeof(*making.list));
	add_kinds(&making);
	thread_index_free(&making.index);
	table_free(making.stacks);
	table_free(making.stacks_by_words);
	free(making.list);
}
