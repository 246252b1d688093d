/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "klocks/klocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/klock_kinds.h"

enum {
	LOCKS_MAX = 131072,   /* in all ways in which they are taken */
	WAITERS_MAX = 262144, /* of all locks, as the following */
	PATHS_MAX = 131072,
	OWNERS_MAX = 65536,
	LASTING_MAX = 65536,
	KINDS_MAX = 32,
	LASTING_AT_ONCE = 2, /* of one thread: so many the kernel side notes */
};

/* What a wait has been added to. */
struct recorded_wait {
	struct klock *klock; /* NULL: none */
	struct klock_waiter *waiter;
	struct klock_owner *owner; /* NULL: it had none, as the following */
	struct klock_path *path;
	double weight; /* on that path */
	uint64_t begin_ns, wait_ns;
};

/* A thread's waits that were recorded as open, and whose end may yet be recorded. */
struct lasting {
	struct recorded_wait waits[LASTING_AT_ONCE];
};

struct klocks {
	struct arena *arena;
	struct threads *threads;
	struct table *facts; /* by lock */
	struct table *by_hash;
	struct table *waiters, *paths, *owners; /* by hash, of all locks */
	struct table *lastings;                 /* by thread */
	struct klock **list;
	size_t count, capacity;
	struct klock *others[KINDS_MAX];
	const char *kinds[KINDS_MAX]; /* from KLOCK_KINDS on: as the user calls them */
	size_t kind_count;
	bool has_holds;
	struct klock_costs costs;
};

/* --- What locks are ----------------------------------------------------------------------------- */

static void on_lock(void *data, const struct ev_header *header)
{
	const struct ev_klock_lock *e = (const void *)header;
	struct klocks *klocks = data;
	struct klock_facts *facts;

	if (!e->lock || table_find(klocks->facts, e->lock) || table_count(klocks->facts) >= LOCKS_MAX)
		return;
	facts = arena_alloc(klocks->arena, sizeof(*facts));
	*facts = (struct klock_facts){
		.lock = e->lock,
		.address = e->address,
		.file = e->file,
		.offset = e->offset,
		.pid = e->pid,
		.cpu = e->cpu,
		.object = e->object < KLOCK_OBJECTS ? e->object : KLOCK_OF_NOTHING,
		.process = arena_printf(klocks->arena, "%.*s", (int)sizeof(e->process) - 1, e->process),
		.cache = arena_printf(klocks->arena, "%.*s", (int)sizeof(e->cache) - 1, e->cache),
	};
	table_put(klocks->facts, e->lock, facts);
}

const struct klock_facts *klocks_find(const struct klocks *klocks, uint64_t lock)
{
	return table_find(klocks->facts, lock);
}

/* --- Rows --------------------------------------------------------------------------------------- */

static struct klock *add_row(struct klocks *klocks, uint64_t lock, enum klock_kind kind)
{
	struct klock *klock = arena_alloc(klocks->arena, sizeof(*klock));

	ARRAY_GROW(klocks->list, klocks->count, klocks->capacity, 64);
	klock->lock = lock;
	klock->kind = kind;
	klocks->list[klocks->count++] = klock;
	return klock;
}

static struct klock *find_row(const struct klocks *klocks, uint64_t lock, enum klock_kind kind)
{
	struct klock *klock = table_find(klocks->by_hash, hash_u64(lock ^ kind));

	while (klock && (klock->lock != lock || klock->kind != kind))
		klock = klock->next;
	return klock;
}

static struct klock *get_row(struct klocks *klocks, uint64_t lock, enum klock_kind kind)
{
	struct klock *klock = find_row(klocks, lock, kind);
	uint64_t hash = hash_u64(lock ^ kind);

	if (klock)
		return klock;
	if (!lock || klocks->count >= LOCKS_MAX) {
		if (!klocks->others[kind])
			klocks->others[kind] = add_row(klocks, 0, kind);
		return klocks->others[kind];
	}
	klock = add_row(klocks, lock, kind);
	klock->next = table_find(klocks->by_hash, hash);
	table_put(klocks->by_hash, hash, klock);
	return klock;
}

/* Hashes of 64 bits of what is asked for so: two that are equal by chance would be added up. */
static uint64_t key_in(const struct klock *klock, uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(hash_u64((uintptr_t)klock) ^ a) ^ b);
}

static struct klock_waiter *get_waiter(struct klocks *klocks, struct klock *klock, uint32_t thread, uint32_t tid,
				       enum wake_context context)
{
	uint64_t key = key_in(klock, thread ? thread : (uint64_t)tid << 32, context);
	struct klock_waiter *waiter = table_find(klocks->waiters, key);

	if (waiter)
		return waiter;
	if (table_count(klocks->waiters) >= WAITERS_MAX && (thread || tid))
		return get_waiter(klocks, klock, 0, 0, WAKE_THREAD);
	waiter = arena_alloc(klocks->arena, sizeof(*waiter));
	*waiter = (struct klock_waiter){
		.thread = thread,
		.tid = tid,
		.context = context,
		.next = klock->waiters,
	};
	klock->waiters = waiter;
	klock->waiter_count++;
	table_put(klocks->waiters, key, waiter);
	return waiter;
}

/* thread: NULL, one that is not traced: it has no frames but the kernel's. */
static struct klock_path *get_path(struct klocks *klocks, struct klock *klock, const struct thread *thread,
				   uint64_t stack, uint64_t time_ns)
{
	uint32_t pid = thread ? thread->pid : 0, exec_count = thread ? thread->exec_count : 0;
	uint64_t key = key_in(klock, stack, (uint64_t)exec_count << 32 | pid);
	struct klock_path *path = table_find(klocks->paths, key);

	if (path || table_count(klocks->paths) >= PATHS_MAX)
		return path;
	path = arena_alloc(klocks->arena, sizeof(*path));
	*path = (struct klock_path){
		.stack = stack,
		.pid = pid,
		.exec_count = exec_count,
		.first_ns = time_ns,
		.next = klock->paths,
	};
	klock->paths = path;
	table_put(klocks->paths, key, path);
	return path;
}

static struct klock_owner *get_owner(struct klocks *klocks, struct klock *klock, uint32_t tid)
{
	uint64_t key = key_in(klock, tid, 0);
	struct klock_owner *owner = table_find(klocks->owners, key);

	if (owner)
		return owner;
	if (table_count(klocks->owners) >= OWNERS_MAX && tid)
		return get_owner(klocks, klock, 0);
	owner = arena_alloc(klocks->arena, sizeof(*owner));
	owner->tid = tid;
	owner->next = klock->owners;
	klock->owners = owner;
	table_put(klocks->owners, key, owner);
	return owner;
}

/* --- Waits -------------------------------------------------------------------------------------- */

static void sum_add(struct klock_sum *sum, uint64_t wait_ns)
{
	sum->waits++;
	sum->wait_ns += wait_ns;
	if (wait_ns > sum->max_ns)
		sum->max_ns = wait_ns;
}

static void add_length(struct klock *klock, uint64_t wait_ns)
{
	if (klock->sum.waits == 1) {
		klock->first_wait_ns = wait_ns;
		return;
	}
	if (!klock->lengths) {
		klock->lengths = xcalloc(LENGTHS, sizeof(*klock->lengths));
		klock->lengths[length_index(klock->first_wait_ns)]++;
	}
	klock->lengths[length_index(wait_ns)]++;
}

static void move_length(struct klock *klock, uint64_t from_ns, uint64_t to_ns)
{
	if (!klock->lengths) {
		klock->first_wait_ns = to_ns;
		return;
	}
	klock->lengths[length_index(from_ns)]--;
	klock->lengths[length_index(to_ns)]++;
}

void klock_add_lengths(const struct klock *klock, uint32_t *lengths)
{
	if (!klock->lengths && klock->sum.waits)
		lengths[length_index(klock->first_wait_ns)]++;
	for (size_t i = 0; klock->lengths && i < LENGTHS; i++)
		lengths[i] += klock->lengths[i];
}

/* The path that more than half of a thread's waiting is in, if there is one (Boyer and Moore, 1981). */
static void vote(struct klock_waiter *waiter, struct klock_path *path, double wait_ns)
{
	if (waiter->path == path) {
		waiter->path_lead_ns += wait_ns;
	} else if (waiter->path_lead_ns >= wait_ns) {
		waiter->path_lead_ns -= wait_ns;
	} else {
		waiter->path = path;
		waiter->path_lead_ns = wait_ns - waiter->path_lead_ns;
	}
}

static void add_to_path(struct recorded_wait *recorded, uint64_t waits, uint64_t wait_ns)
{
	if (!recorded->path)
		return;
	recorded->path->waits += recorded->weight * waits;
	recorded->path->wait_ns += recorded->weight * wait_ns;
	recorded->path->kept_waits += waits;
	recorded->path->kept_ns += wait_ns;
	vote(recorded->waiter, recorded->path, recorded->weight * wait_ns);
}

static void add_to_owner(struct klocks *klocks, struct recorded_wait *recorded, const struct ev_klock_wait *e)
{
	if (!e->owner && !(e->flags & KLOCK_HAS_READERS))
		return;
	recorded->owner = get_owner(klocks, recorded->klock, e->owner);
	sum_add(&recorded->owner->sum, recorded->wait_ns);
	recorded->owner->stack = e->owner_stack ? e->owner_stack : recorded->owner->stack;
}

/* Without what tracing took: whether the lock was free by then nobody knows. */
static uint64_t wait_of(const struct ev_klock_wait *e)
{
	uint64_t begin_ns = e->begin_ns + e->tracing_ns;

	return e->header.time_ns > begin_ns ? e->header.time_ns - begin_ns : 0;
}

static struct recorded_wait add_wait(struct klocks *klocks, const struct ev_klock_wait *e, struct klock *klock)
{
	uint32_t thread = e->header.thread;
	struct recorded_wait recorded = {
		.klock = klock,
		.begin_ns = e->begin_ns,
		.wait_ns = wait_of(e),
		.waiter = get_waiter(klocks, klock, thread, thread ? 0 : e->tid, e->context),
		.weight = e->keep ? 0x1p32 / e->keep : 1,
	};

	klock->tracing_ns += e->tracing_ns;
	sum_add(&klock->sum, recorded.wait_ns);
	sum_add(&recorded.waiter->sum, recorded.wait_ns);
	add_length(klock, recorded.wait_ns);
	add_to_owner(klocks, &recorded, e);
	if (e->flags & KLOCK_HAS_STACK)
		recorded.path = get_path(klocks, klock, thread ? threads_get(klocks->threads, thread) : NULL, e->stack,
					 e->header.time_ns);
	add_to_path(&recorded, 1, recorded.wait_ns);
	return recorded;
}

static void grow_sum(struct klock_sum *sum, uint64_t wait_ns, uint64_t more_ns)
{
	sum->wait_ns += more_ns;
	if (wait_ns > sum->max_ns)
		sum->max_ns = wait_ns;
}

/* The open wait has gone on. */
static void grow(struct recorded_wait *recorded, uint64_t wait_ns)
{
	uint64_t more_ns = wait_ns > recorded->wait_ns ? wait_ns - recorded->wait_ns : 0;

	wait_ns = recorded->wait_ns + more_ns;
	grow_sum(&recorded->klock->sum, wait_ns, more_ns);
	grow_sum(&recorded->waiter->sum, wait_ns, more_ns);
	if (recorded->owner)
		grow_sum(&recorded->owner->sum, wait_ns, more_ns);
	add_to_path(recorded, 0, more_ns);
	move_length(recorded->klock, recorded->wait_ns, wait_ns);
	recorded->wait_ns = wait_ns;
}

/* The wait as it was recorded while open; NULL: it was not. */
static struct recorded_wait *find_lasting(struct klocks *klocks, const struct ev_klock_wait *e,
					  const struct klock *klock)
{
	struct lasting *lasting = e->header.thread ? table_find(klocks->lastings, e->header.thread) : NULL;

	for (size_t i = 0; lasting && i < LASTING_AT_ONCE; i++)
		if (lasting->waits[i].klock == klock && lasting->waits[i].begin_ns == e->begin_ns)
			return &lasting->waits[i];
	return NULL;
}

/* Where there is space for one more of the thread, or the one that began first: its end was lost. */
static struct recorded_wait *get_lasting(struct klocks *klocks, uint32_t thread)
{
	struct lasting *lasting = table_find(klocks->lastings, thread);
	struct recorded_wait *first;

	if (!lasting) {
		if (table_count(klocks->lastings) >= LASTING_MAX)
			return NULL;
		lasting = arena_alloc(klocks->arena, sizeof(*lasting));
		table_put(klocks->lastings, thread, lasting);
	}
	first = &lasting->waits[0];
	for (size_t i = 1; i < LASTING_AT_ONCE && first->klock; i++)
		if (!lasting->waits[i].klock || lasting->waits[i].begin_ns < first->begin_ns)
			first = &lasting->waits[i];
	return first;
}

/*
 * An open wait counts like one that has ended. When its end is recorded, its time until it was recorded first
 * is in the sums already.
 */
static void on_wait(void *data, const struct ev_header *header)
{
	const struct ev_klock_wait *e = (const void *)header;
	enum klock_kind kind = e->kind < KLOCK_KINDS ? e->kind : KLOCK_SPINLOCK;
	bool lasts = e->flags & KLOCK_LASTS && header->thread;
	struct klocks *klocks = data;
	struct klock *klock = get_row(klocks, e->lock, kind);
	struct recorded_wait *before = find_lasting(klocks, e, klock), recorded;

	klock->gave_up += (e->flags & KLOCK_GAVE_UP) != 0;
	if (before) {
		grow(before, wait_of(e));
		klock->lasting -= !lasts;
		if (!lasts)
			before->klock = NULL;
		return;
	}
	recorded = add_wait(klocks, e, klock);
	before = lasts ? get_lasting(klocks, header->thread) : NULL;
	if (!before)
		return;
	*before = recorded;
	klock->lasting++;
}

/* --- Holds -------------------------------------------------------------------------------------- */

/* There are no more kinds than the kernel side knows, unless the trace is damaged: then the last one stands for several. */
static enum klock_kind kind_number(struct klocks *klocks, const char *name)
{
	size_t kind = klock_kind_find(name);

	if (kind < KLOCK_KINDS)
		return kind;
	while (kind < klocks->kind_count && strcmp(klocks->kinds[kind], name))
		kind++;
	if (kind < klocks->kind_count)
		return kind;
	if (kind == KINDS_MAX)
		return KINDS_MAX - 1;
	klocks->kinds[klocks->kind_count++] = arena_strdup(klocks->arena, name);
	return kind;
}

const char *klocks_kind_name(const struct klocks *klocks, enum klock_kind kind)
{
	return kind < KLOCK_KINDS ? klock_kind_name(kind) : klocks->kinds[kind];
}

enum klock_kind klocks_kind_count(const struct klocks *klocks)
{
	return klocks->kind_count;
}

bool klocks_costs(const struct klocks *klocks, struct klock_costs *costs)
{
	*costs = klocks->costs;
	return klocks->has_holds;
}

static void on_held(void *data, const struct ev_header *header)
{
	const struct ev_klock_held *e = (const void *)header;
	char kind[sizeof(e->kind) + 1] = { 0 };
	struct klocks *klocks = data;
	struct klock_holding *holding;

	memcpy(kind, e->kind, sizeof(e->kind));
	holding = &get_row(klocks, e->lock, kind_number(klocks, kind))->holding;
	holding->acquisitions += e->taken;
	holding->take_ns += e->take_ns;
	holding->holds += e->holds;
	holding->hold_ns += e->hold_ns;
	if (e->max_hold_ns > holding->max_hold_ns)
		holding->max_hold_ns = e->max_hold_ns;
	holding->caller = holding->caller ? holding->caller : e->caller;
	klocks->has_holds = true;
	klocks->costs = (struct klock_costs){ e->take_cost_ns, e->hold_cost_ns };
}

static const struct event_handler handlers[] = {
	{ EV_KLOCK_LOCK, on_lock },
	{ EV_KLOCK_WAIT, on_wait },
	{ EV_KLOCK_HELD, on_held },
	{ 0, NULL },
};

struct klocks *klocks_new(struct session *session, struct threads *threads)
{
	struct klocks *klocks = xcalloc(1, sizeof(*klocks));

	klocks->arena = arena_new();
	klocks->threads = threads;
	klocks->kind_count = KLOCK_KINDS;
	klocks->facts = table_new();
	klocks->by_hash = table_new();
	klocks->waiters = table_new();
	klocks->paths = table_new();
	klocks->owners = table_new();
	klocks->lastings = table_new();
	session_subscribe(session, handlers, klocks);
	return klocks;
}

void klocks_free(struct klocks *klocks)
{
	if (!klocks)
		return;
	for (size_t i = 0; i < klocks->count; i++)
		free(klocks->list[i]->lengths);
	free(klocks->list);
	table_free(klocks->facts);
	table_free(klocks->by_hash);
	table_free(klocks->waiters);
	table_free(klocks->paths);
	table_free(klocks->owners);
	table_free(klocks->lastings);
	arena_free(klocks->arena);
	free(klocks);
}

const struct klock *klocks_next(const struct klocks *klocks, size_t *cursor)
{
	return *cursor < klocks->count ? klocks->list[(*cursor)++] : NULL;
}

enum klock_kind klocks_main_kind(const struct klocks *klocks, uint64_t lock)
{
	enum klock_kind main = KLOCK_SPINLOCK;
	uint64_t most_ns = 0;

	for (int kind = 0; kind < KLOCK_KINDS; kind++) {
		const struct klock *klock = find_row(klocks, lock, kind);

		if (klock && klock->sum.wait_ns >= most_ns) {
			most_ns = klock->sum.wait_ns;
			main = kind;
		}
	}
	return main;
}
