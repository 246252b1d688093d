/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing an event. A ring is written by one thread and by its signal handlers, which may come between any two
 * instructions and end before the thread goes on. pinchtrace_format.h says what others may rely on.
 *
 *	claim	head
 *	5	5	nothing is being written
 *	6	5	the thread has slot 5 and writes it
 *	7	5	  a signal handler has slot 6; it sees that it came between, and leaves head alone
 *	7	6	the thread has written slot 5, sees that claim has moved on
 *	7	7	and says that slot 6 is written, too
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "area.h"
#include "flush.h"
#include "pinchtrace.h"
#include "thread_ring.h"
#include "ticks.h"
#include "triggers.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Order as signal handlers of the same thread see it. */
#define signal_order() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Slots that this thread may write: [index, index + its count). */
struct claimed {
	uint64_t index, time;
	bool is_outermost; /* no other event of this thread was being written */
};

static uint64_t lost_early; /* events while the area was being made */

/* Whether word had the value and has the new one. Not torn by signal handlers; others only read it. */
static inline bool word_change(uint64_t *word, uint64_t from, uint64_t to)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	bool is_changed;

	/* Without lock: no other CPU changes it. */
	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(is_changed), "+m"(*word), "+a"(from) : "r"(to) : "memory");
	return is_changed;
#else
	return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* The time is read between claim's look and change: so times are in the order of slots, whatever handlers do. */
static inline bool claim_slots(struct pinchtrace_ring *ring, uint32_t count, struct claimed *claimed)
{
	uint64_t head;

	do {
		claimed->index = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED);
		signal_order();
		head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
		/* Further ones would come round to the slot that is being written. */
		if (unlikely((int64_t)(claimed->index - head) > pinchtrace_area.nested_max)) {
			__atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
			return false;
		}
		/* A thread that loses its CPU behind the next line has an event that comes late. */
		__atomic_store_n(&ring->timed, claimed->index + 1, __ATOMIC_RELAXED);
		signal_order();
		claimed->time = pinchtrace_ticks();
	} while (unlikely(!word_change(&ring->claim, claimed->index, claimed->index + count)));
	claimed->is_outermost = head == claimed->index;
	/* Who reads a slot's new words sees the claim: pairs with the reader's fence between slots and claim. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return true;
}

static inline void write_slot(struct pinchtrace_ring *ring, uint64_t index, uint64_t first, uint64_t second)
{
	uint64_t *slot = (uint64_t *)((unsigned char *)ring + PINCHTRACE_RING_HEADER_BYTES) +
			 2 * (index & pinchtrace_area.slot_mask);

	__atomic_store_n(&slot[0], first, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], second, __ATOMIC_RELAXED);
}

/* head: behind what this thread has written. */
static inline void publish(struct pinchtrace_ring *ring, uint64_t head)
{
	uint64_t claim;

	signal_order();
	/* Pairs with the reader's acquire of head. */
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
	signal_order();
	while (unlikely((claim = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED)) != head)) {
		head = claim;
		__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
		signal_order();
	}
}

static inline void append(struct pinchtrace_ring *ring, uint64_t what)
{
	struct claimed claimed;

	if (unlikely(!claim_slots(ring, 1, &claimed)))
		return;
	write_slot(ring, claimed.index, claimed.time, what);
	if (likely(claimed.is_outermost))
		publish(ring, claimed.index + 1);
}

static void append_payload(struct pinchtrace_ring *ring, uint64_t what, const unsigned char *payload,
			   uint32_t size_bytes)
{
	uint32_t more_count = (size_bytes + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD, i, part_bytes;
	struct pinchtrace_more more;
	struct claimed claimed;
	uint64_t words[2];
	unsigned char part[PINCHTRACE_MORE_PAYLOAD];

	if (!claim_slots(ring, 1 + more_count, &claimed))
		return;
	write_slot(ring, claimed.index, claimed.time, what);
	for (i = 0; i < more_count; i++) {
		part_bytes = size_bytes - i * PINCHTRACE_MORE_PAYLOAD;
		if (part_bytes > PINCHTRACE_MORE_PAYLOAD)
			part_bytes = PINCHTRACE_MORE_PAYLOAD;
		memset(part, 0, sizeof(part));
		memcpy(part, payload + i * PINCHTRACE_MORE_PAYLOAD, part_bytes);
		memcpy(&more.low, part, 4);
		memcpy(&more.high, part + 4, 8);
		more.mark = PINCHTRACE_MORE | (more_count - 1 - i) << 16 | size_bytes;
		memcpy(words, &more, sizeof(words));
		write_slot(ring, claimed.index + 1 + i, words[0], words[1]);
	}
	if (claimed.is_outermost)
		publish(ring, claimed.index + 1 + more_count);
}

static void count_lost(void)
{
	if (__atomic_load_n(&pinchtrace_own.generation, __ATOMIC_ACQUIRE) && pinchtrace_area.base)
		__atomic_fetch_add(&pinchtrace_area.header->lost, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&lost_early, 1, __ATOMIC_RELAXED);
}

/* Whether a thread that has recorded before has nothing to do but to wait for the start event, or for nothing. */
static inline bool is_waiting(uint64_t what)
{
	const struct pinchtrace_control *control = pinchtrace_area.control;
	uint32_t phase;

	if (pinchtrace_thread.generation != __atomic_load_n(&pinchtrace_own.generation, __ATOMIC_RELAXED))
		return false;
	phase = __atomic_load_n(&control->state, __ATOMIC_RELAXED) & PINCHTRACE_PHASE_MASK;
	return phase == PINCHTRACE_PHASE_DONE || (phase == PINCHTRACE_PHASE_ARMED &&
						  (uint32_t)what != __atomic_load_n(&control->start, __ATOMIC_RELAXED));
}

/* The thread's first event, a process's after a fork, one that triggers have to do with, or after which is flushed. */
static __attribute__((noinline)) void record_slowly(uint64_t what, unsigned int on, const void *payload,
						    uint32_t size_bytes)
{
	int saved_errno = errno;
	struct pinchtrace_ring *ring = pinchtrace_thread_ring_get();
	enum trigger_action action;
	uint32_t state;

	if (ring) {
		if (unlikely(__atomic_load_n(&lost_early, __ATOMIC_RELAXED)))
			__atomic_fetch_add(&pinchtrace_area.header->lost,
					   __atomic_exchange_n(&lost_early, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
		action = pinchtrace_triggers_before((uint32_t)what, on, &state);
		if (action != TRIGGER_DROP) {
			append_payload(ring, what, payload, size_bytes);
			pinchtrace_triggers_after(action, state);
			if (pinchtrace_area.flush_slots)
				pinchtrace_flush_if_full(ring);
		}
	} else {
		count_lost();
	}
	errno = saved_errno;
}

static inline bool is_simple(unsigned int on)
{
	return likely(pinchtrace_thread.generation == __atomic_load_n(&pinchtrace_own.generation, __ATOMIC_RELAXED)) &&
	       likely(on == PINCHTRACE_ON_RECORD) &&
	       likely(!(__atomic_load_n(&pinchtrace_area.control->state, __ATOMIC_RELAXED) &
			(PINCHTRACE_PHASE_MASK | PINCHTRACE_STATE_WATCHED)));
}

void pinchtrace_record(uint64_t what, unsigned int on)
{
	if (likely(is_simple(on)))
		append(pinchtrace_thread.ring, what);
	else if (!is_waiting(what))
		record_slowly(what, on, "", 0);
}

void pinchtrace_record_payload(uint64_t what, unsigned int on, const void *payload, size_t size_bytes)
{
	/* A shorter one would be read as what it is not. */
	if (unlikely(size_bytes > PINCHTRACE_PAYLOAD_MAX))
		count_lost();
	else if (likely(is_simple(on)))
		append_payload(pinchtrace_thread.ring, what, payload, size_bytes);
	else if (!is_waiting(what))
		record_slowly(what, on, payload, size_bytes);
}

void pinchtrace_event(uint16_t subsystem, uint16_t event, uint32_t argument)
{
	trace_event(subsystem, event, argument);
}

void pinchtrace_event_payload(uint16_t subsystem, uint16_t event, uint32_t argument, const void *payload,
			      size_t size_bytes)
{
	trace_event_payload(subsystem, event, argument, payload, size_bytes);
}
