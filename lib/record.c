/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing an event. A ring is written by one thread and by its signal handlers, which may come between any two
 * instructions and end before the thread goes on. pinchtrace_format.h says what others may rely on.
 *
 *	claim	head
 *	5	5	nothing is being written
 *	6	5	the thread has slot 5, reads the clock and writes the slot
 *	7	5	  a signal handler has slot 6; it sees that it came between, and leaves head alone
 *	7	6	the thread has written slot 5, sees that claim has moved on
 *	7	7	and says that slot 6 is written, too
 *
 * A handler that comes between claim and clock has the later slot and the earlier time. So the thread looks at claim again
 * when it has read the clock: if that has moved on, its event has the time of the first one that came between.
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

/* So that what happens always saves no registers for what happens rarely. */
#define NOINLINE __attribute__((noinline))

/* Order as signal handlers of the same thread see it. */
#define signal_order() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static uint64_t lost_early; /* events while the area was being made */

/* Adds count to what only this thread and its handlers change; what it was. Not torn by them; others only read it. */
static inline uint64_t word_add(uint64_t *word, uint64_t count)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	/* Without lock: no other CPU changes it. */
	__asm__ volatile("xaddq %0, %1" : "+r"(count), "+m"(*word) : : "memory", "cc");
	return count;
#else
	return __atomic_fetch_add(word, count, __ATOMIC_RELAXED);
#endif
}

/* Index of the first of count slots that are this event's. */
static inline uint64_t claim_slots(struct pinchtrace_ring *ring, uint32_t count)
{
	uint64_t index = word_add(&ring->claim, count);

	/* Who reads a slot's new words sees the claim: pairs with the reader's fence between slots and claim. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	signal_order();
	return index;
}

/* Whether handlers have recorded since the slots up to end were claimed. */
static inline bool is_interrupted(const struct pinchtrace_ring *ring, uint64_t end)
{
	signal_order();
	return unlikely(__atomic_load_n(&ring->claim, __ATOMIC_RELAXED) != end);
}

static inline uint64_t *slot_at(struct pinchtrace_ring *ring, uint64_t index)
{
	return (uint64_t *)((unsigned char *)ring + PINCHTRACE_RING_HEADER_BYTES) +
	       2 * (index & pinchtrace_area.slot_mask);
}

static inline void write_slot(struct pinchtrace_ring *ring, uint64_t index, uint64_t first, uint64_t second)
{
	uint64_t *slot = slot_at(ring, index);

	__atomic_store_n(&slot[0], first, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], second, __ATOMIC_RELAXED);
}

static inline void set_head(struct pinchtrace_ring *ring, uint64_t head)
{
	signal_order();
	/* Pairs with the reader's acquire of head. */
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
}

/* What handlers have written: they leave that to the event that they interrupt. */
static NOINLINE void publish_others(struct pinchtrace_ring *ring)
{
	uint64_t end;

	do {
		end = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED);
		set_head(ring, end);
	} while (is_interrupted(ring, end));
}

static inline void publish(struct pinchtrace_ring *ring, uint64_t end)
{
	set_head(ring, end);
	if (is_interrupted(ring, end))
		publish_others(ring);
}

/* --- Any event ---------------------------------------------------------------------------- */

/* Of the event whose slots end there. */
static uint64_t time_of(struct pinchtrace_ring *ring, uint64_t end)
{
	uint64_t time = pinchtrace_ticks(), other;

	if (!is_interrupted(ring, end))
		return time;
	other = __atomic_load_n(slot_at(ring, end), __ATOMIC_RELAXED);
	return other < time ? other : time;
}

static void write_payload(struct pinchtrace_ring *ring, uint64_t index, const unsigned char *payload,
			  uint32_t size_bytes, uint32_t slot_count)
{
	unsigned char part[PINCHTRACE_MORE_PAYLOAD];
	struct pinchtrace_more more;
	uint64_t words[2];
	uint32_t i, part_bytes;

	for (i = 0; i < slot_count; i++) {
		part_bytes = size_bytes - i * PINCHTRACE_MORE_PAYLOAD;
		if (part_bytes > PINCHTRACE_MORE_PAYLOAD)
			part_bytes = PINCHTRACE_MORE_PAYLOAD;
		memset(part, 0, sizeof(part));
		memcpy(part, payload + i * PINCHTRACE_MORE_PAYLOAD, part_bytes);
		memcpy(&more.low, part, 4);
		memcpy(&more.high, part + 4, 8);
		more.mark = PINCHTRACE_MORE | (slot_count - 1 - i) << 16 | size_bytes;
		memcpy(words, &more, sizeof(words));
		write_slot(ring, index + i, words[0], words[1]);
	}
}

/* index: of the first of its slots, which are claimed. */
static NOINLINE void write_event(struct pinchtrace_ring *ring, uint64_t index, uint64_t what,
				 const unsigned char *payload, uint32_t size_bytes)
{
	uint32_t more_count = (size_bytes + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD;
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED), end = index + 1 + more_count;

	/* Further ones would come round to the slot that is being written. What came between had no space either. */
	if (unlikely((int64_t)(index - head) > pinchtrace_area.nested_max)) {
		__atomic_store_n(&ring->claim, index, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	write_slot(ring, index, time_of(ring, end), what);
	write_payload(ring, index + 1, payload, size_bytes, more_count);
	if (head == index)
		publish(ring, end);
}

static inline void append_payload(struct pinchtrace_ring *ring, uint64_t what, const unsigned char *payload,
				  uint32_t size_bytes)
{
	uint32_t count = 1 + (size_bytes + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD;

	write_event(ring, claim_slots(ring, count), what, payload, size_bytes);
}

/* --- One without a payload, that interrupts no other ----------------------------------------- */

static inline void append(struct pinchtrace_ring *ring, uint64_t what)
{
	uint64_t index = claim_slots(ring, 1), time;

	if (likely(index == __atomic_load_n(&ring->head, __ATOMIC_RELAXED) && pinchtrace_has_tsc)) {
		time = pinchtrace_tsc();
		if (likely(!is_interrupted(ring, index + 1))) {
			write_slot(ring, index, time, what);
			publish(ring, index + 1);
			return;
		}
	}
	write_event(ring, index, what, NULL, 0);
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
static NOINLINE void record_slowly(uint64_t what, unsigned int on, const void *payload, uint32_t size_bytes)
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
