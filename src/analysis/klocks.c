/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/klocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum {
	LOCKS_MAX = 131072,		/* in all ways in which they are taken */
	WAITERS_MAX = 262144,		/* of all locks, as the following */
	PATHS_MAX = 131072,
	OWNERS_MAX = 65536,
	LASTING_MAX = 65536,
};

/* A wait that was told as one that lasts: it may yet be told to have ended. */
struct lasting {
	struct klock *klock;
	struct klock_waiter *waiter;
	uint64_t begin_ns, wait_ns;
};

struct klocks {
	struct arena *arena;
	struct threads *threads;
	struct table *facts;		/* by lock */
	struct table *by_hash;
	struct table *waiters, *paths, *owners;	/* by hash, of all locks */
	struct table *lastings;		/* by thread */
	struct klock **list;
	size_t count, room;
	struct klock *others[KLOCK_KINDS];
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
		.lock = e->lock, .address = e->address, .file = e->file, .offset = e->offset, .pid = e->pid,
		.cpu = e->cpu, .object = e->object < KLOCK_OBJECTS ? e->object : KLOCK_OF_NOTHING,
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

	if (klocks->count == klocks->room) {
		klocks->room = klocks->room ? 2 * klocks->room : 64;
		klocks->list = xrealloc(klocks->list, klocks->room, sizeof(*klocks->list));
	}
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

static struct klock_waiter *get_waiter(struct klocks *klocks, struct klock *klock, uint32_t thread,
				       uint32_t tid, enum wake_context context)
{
	uint64_t key = key_in(klock, thread ? thread : (uint64_t)tid << 32, context);
	struct klock_waiter *waiter = table_find(klocks->waiters, key);

	if (waiter)
		return waiter;
	if (table_count(klocks->waiters) >= WAITERS_MAX && (thread || tid))
		return get_waiter(klocks, klock, 0, 0, WAKE_THREAD);
	waiter = arena_alloc(klocks->arena, sizeof(*waiter));
	*waiter = (struct klock_waiter){
		.thread = thread, .tid = tid, .context = context, .next = klock->waiters,
	};
	klock->waiters = waiter;
	klock->waiter_count++;
	table_put(klocks->waiters, key, waiter);
	return waiter;
}

static struct klock_path *get_path(struct klocks *klocks, struct klock *klock, const struct thread *thread,
				   uint64_t stack, uint64_t time_ns)
{
	uint64_t key = key_in(klock, stack, (uint64_t)thread->exec_count << 32 | thread->pid);
	struct klock_path *path = table_find(klocks->paths, key);

	if (path || table_count(klocks->paths) >= PATHS_MAX)
		return path;
	path = arena_alloc(klocks->arena, sizeof(*path));
	*path = (struct klock_path){
		.stack = stack, .pid = thread->pid, .exec_count = thread->exec_count, .first_ns = time_ns,
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

static void add_path(struct klocks *klocks, struct klock *klock, struct klock_waiter *waiter,
		     const struct ev_klock_wait *e, uint64_t wait_ns)
{
	const struct thread *thread = threads_get(klocks->threads, e->header.thread);
	double weight = e->keep ? 0x1p32 / e->keep : 1;
	struct klock_path *path = get_path(klocks, klock, thread, e->stack, e->header.time_ns);

	if (!path)
		return;
	path->waits += weight;
	path->wait_ns += weight * wait_ns;
	vote(waiter, path, weight * wait_ns);
}

/* Without what tracing took: whether the lock was free by then nobody knows. */
static uint64_t wait_of(const struct ev_klock_wait *e)
{
	uint64_t begin_ns = e->begin_ns + e->tracing_ns;

	return e->header.time_ns > begin_ns ? e->header.time_ns - begin_ns : 0;
}

/*
 * What lasts counts like what has ended, until it is told to have: then its time until the first of both
 * was told is in the sums already.
 */
static bool ends_lasting(struct klocks *klocks, const struct ev_klock_wait *e, struct klock *klock,
			 uint64_t *told_ns)
{
	struct lasting *lasting = e->header.thread ? table_find(klocks->lastings, e->header.thread) : NULL;

	if (!lasting || lasting->klock != klock || lasting->begin_ns != e->begin_ns)
		return false;
	*told_ns = lasting->wait_ns;
	klock->lasting--;
	lasting->klock = NULL;
	return true;
}

static void lasts(struct klocks *klocks, const struct ev_klock_wait *e, struct klock *klock,
		  struct klock_waiter *waiter, uint64_t wait_ns)
{
	struct lasting *lasting = table_find(klocks->lastings, e->header.thread);

	if (!lasting) {
		if (table_count(klocks->lastings) >= LASTING_MAX)
			return;
		lasting = arena_alloc(klocks->arena, sizeof(*lasting));
		table_put(klocks->lastings, e->header.thread, lasting);
	}
	*lasting = (struct lasting){ klock, waiter, e->begin_ns, wait_ns };
	klock->lasting++;
}

/* A wait that was told before grows. */
static void grow(struct klock_sum *sum, uint64_t wait_ns, uint64_t told_ns)
{
	sum->wait_ns += wait_ns - told_ns;
	if (wait_ns > sum->max_ns)
		sum->max_ns = wait_ns;
}

static void on_wait(void *data, const struct ev_header *header)
{
	const struct ev_klock_wait *e = (const void *)header;
	enum klock_kind kind = e->kind < KLOCK_KINDS ? e->kind : KLOCK_SPINLOCK;
	struct klocks *klocks = data;
	struct klock *klock = get_row(klocks, e->lock, kind);
	struct klock_waiter *waiter = get_waiter(klocks, klock, header->thread, header->thread ? 0 : e->tid,
						 e->context);
	uint64_t wait_ns = wait_of(e), told_ns;
	struct klock_owner *owner;

	if (ends_lasting(klocks, e, klock, &told_ns)) {
		grow(&klock->sum, wait_ns, told_ns);
		grow(&waiter->sum, wait_ns, told_ns);
	} else {
		klock->tracing_ns += e->tracing_ns;
		sum_add(&klock->sum, wait_ns);
		sum_add(&waiter->sum, wait_ns);
		add_length(klock, wait_ns);
		if (e->owner || e->flags & KLOCK_HAS_READERS) {
			owner = get_owner(klocks, klock, e->owner);
			sum_add(&owner->sum, wait_ns);
			owner->stack = e->owner_stack ? e->owner_stack : owner->stack;
		}
		if (e->flags & KLOCK_HAS_STACK && header->thread)
			add_path(klocks, klock, waiter, e, wait_ns);
	}
	klock->gave_up += (e->flags & KLOCK_GAVE_UP) != 0;
	if (e->flags & KLOCK_LASTS && header->thread)
		lasts(klocks, e, klock, waiter, wait_ns);
}

static const struct event_handler handlers[] = {
	{ EV_KLOCK_LOCK, on_lock },
	{ EV_KLOCK_WAIT, on_wait },
	{ 0, NULL },
};

struct klocks *klocks_new(struct session *session, struct threads *threads)
{
	struct klocks *klocks = xcalloc(1, sizeof(*klocks));

	klocks->arena = arena_new();
	klocks->threads = threads;
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
