/* SPDX-License-Identifier: BSD-2-Clause */
#include "thread_ring.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "area.h"

/* So many rings of ended threads are looked at for one that has been read, before a fresh one is taken. */
#define LOOK_MAX 64

__thread struct pinchtrace_thread pinchtrace_thread = { .generation = PINCHTRACE_NO_GENERATION };

static pthread_key_t key;
static bool has_key;
static uint32_t next_look; /* rings of ended threads are taken in turn */

static bool state_change(struct pinchtrace_ring *ring, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&ring->state, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void end(struct pinchtrace_ring *ring)
{
	__atomic_store_n(&ring->state, PINCHTRACE_RING_ENDED, __ATOMIC_RELEASE);
	__atomic_fetch_add(&pinchtrace_area.header->ring_ended_count, 1, __ATOMIC_RELAXED);
}

static void on_thread_end(void *data)
{
	struct pinchtrace_ring *ring = data;

	/* In a child that has recorded nothing, it is the ring of a thread of its parent. */
	if (pinchtrace_thread.generation != __atomic_load_n(&pinchtrace_own.generation, __ATOMIC_RELAXED))
		return;
	/* An event that comes later, of another destructor, takes a ring anew. */
	__atomic_store_n(&pinchtrace_thread.generation, PINCHTRACE_NO_GENERATION, __ATOMIC_SEQ_CST);
	end(ring);
}

void pinchtrace_thread_ring_start(void)
{
	has_key = !pthread_key_create(&key, on_thread_end);
}

/* How many slots of it nobody has read. */
static uint64_t unread_count(const struct pinchtrace_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t read = __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE);
	uint64_t capacity = pinchtrace_area.slot_mask + 1, count = head - ring->begin;

	if (count > head - read)
		count = head - read;
	return count < capacity ? count : capacity;
}

/* Those that have memory, whatever others have written there. */
static uint32_t used_count(void)
{
	uint32_t count = __atomic_load_n(&pinchtrace_area.header->ring_count, __ATOMIC_ACQUIRE);

	return count < pinchtrace_area.ring_count_max ? count : pinchtrace_area.ring_count_max;
}

/* A ring of an ended thread; with is_read, one of which all has been read. Looks at so many, the next ones at next time. */
static struct pinchtrace_ring *find_ended(bool is_read, uint32_t look_count)
{
	struct pinchtrace_header *header = pinchtrace_area.header;
	struct pinchtrace_ring *ring;
	uint32_t i, count = used_count();

	if (look_count > count)
		look_count = count;
	for (i = 0; i < look_count && __atomic_load_n(&header->ring_ended_count, __ATOMIC_RELAXED); i++) {
		ring = pinchtrace_area_ring(__atomic_fetch_add(&next_look, 1, __ATOMIC_RELAXED) % count);
		if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != PINCHTRACE_RING_ENDED ||
		    (is_read && unread_count(ring)) ||
		    !state_change(ring, PINCHTRACE_RING_ENDED, PINCHTRACE_RING_TAKEN))
			continue;
		__atomic_fetch_sub(&header->ring_ended_count, 1, __ATOMIC_RELAXED);
		return ring;
	}
	return NULL;
}

/* One that nobody has had. It counts when it has its memory: whoever counts looks into it. */
static struct pinchtrace_ring *find_fresh(void)
{
	struct pinchtrace_header *header = pinchtrace_area.header;
	uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);
	struct pinchtrace_ring *ring;

	/* Where there was no memory for one, there is none for the next. */
	if (__atomic_load_n(&pinchtrace_own.has_no_memory, __ATOMIC_RELAXED))
		return NULL;
	do {
		if (count >= pinchtrace_area.ring_count_max)
			return NULL;
		ring = pinchtrace_area_ring(count);
		if (pinchtrace_area_populate(ring, pinchtrace_area.ring_bytes)) {
			__atomic_store_n(&pinchtrace_own.has_no_memory, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&header->ring_count, &count, count + 1, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return ring;
}

static struct pinchtrace_ring *find(void)
{
	struct pinchtrace_ring *ring = find_ended(true, LOOK_MAX);

	if (!ring)
		ring = find_fresh();
	return ring ? ring : find_ended(false, pinchtrace_area.ring_count_max);
}

/* Events that were there are gone with the change of the owner. */
static void give(struct pinchtrace_ring *ring)
{
	struct pinchtrace_header *header = pinchtrace_area.header;

	__atomic_store_n(&ring->owner_changes, ring->owner_changes + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_fetch_add(&header->overwritten, unread_count(ring), __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->lost, ring->lost, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->lost, 0, __ATOMIC_RELAXED);
	/* A thread that was cancelled while it wrote has left more claimed than written. */
	__atomic_store_n(&ring->begin, ring->claim, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->head, ring->claim, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	__atomic_store_n(&ring->state, PINCHTRACE_RING_LIVE, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->owner_changes, ring->owner_changes + 1, __ATOMIC_RELEASE);
}

struct pinchtrace_ring *pinchtrace_thread_ring_get(void)
{
	struct pinchtrace_thread *thread = &pinchtrace_thread;
	struct pinchtrace_ring *ring, *old;
	uint64_t generation;

	if (!pinchtrace_area_ensure())
		return NULL;
	old = __atomic_load_n(&thread->ring, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	generation = __atomic_load_n(&pinchtrace_own.generation, __ATOMIC_RELAXED);
	if (__atomic_load_n(&thread->generation, __ATOMIC_RELAXED) == generation)
		return __atomic_load_n(&thread->ring, __ATOMIC_RELAXED);
	ring = find();
	if (!ring)
		return NULL;
	give(ring);
	/* A signal handler may have got one meanwhile, or get one before the generation stands: that one stays. */
	if (__atomic_compare_exchange_n(&thread->ring, &old, ring, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		__atomic_store_n(&thread->generation, generation, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&thread->ring, __ATOMIC_SEQ_CST) != ring)
		end(ring);
	ring = __atomic_load_n(&thread->ring, __ATOMIC_SEQ_CST);
	if (has_key)
		pthread_setspecific(key, ring);
	pinchtrace_area_take_pair();
	return ring;
}
