/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_flush(): the events as lines of text. The thread that calls it reads the rings as any reader does. Where they go is
 * looked up each time: a scope that has a client, else the file of the environment, else the console.
 */
#include "flush.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "area.h"
#include "environment.h"
#include "pinchtrace.h"
#include "ring_copy.h"
#include "ticks.h"

/* A line with the longest payload, and as much again. */
#define TEXT_BYTES 8192
#define LINE_BYTES_MAX 2304

struct flush {
	struct pinchtrace_pair first, last; /* which say when ticks were */
	struct ring_copy copy;
	char text[TEXT_BYTES];
	size_t size_bytes; /* of the text */
	long event_count;
	int fd, err;
};

static void write_text(struct flush *flush)
{
	size_t at = 0;
	ssize_t written;

	while (!flush->err && at < flush->size_bytes) {
		written = write(flush->fd, flush->text + at, flush->size_bytes - at);
		if (written > 0)
			at += written;
		else if (written < 0 && errno != EINTR)
			flush->err = -errno;
	}
	flush->size_bytes = 0;
}

static void add_char(struct flush *flush, char c)
{
	flush->text[flush->size_bytes++] = c;
}

static void add_text(struct flush *flush, const char *text)
{
	for (; *text; text++)
		add_char(flush, *text);
}

static void add_number(struct flush *flush, uint64_t number)
{
	char digits[24];
	size_t count = 0;

	do {
		digits[count++] = '0' + number % 10;
		number /= 10;
	} while (number);
	while (count)
		add_char(flush, digits[--count]);
}

static void add_byte(struct flush *flush, unsigned char byte)
{
	add_char(flush, "0123456789abcdef"[byte >> 4]);
	add_char(flush, "0123456789abcdef"[byte & 15]);
}

static uint64_t to_ns(const struct flush *flush, uint64_t ticks)
{
	double ns_per_tick = 1;

	if (flush->last.ticks > flush->first.ticks)
		ns_per_tick = (double)(flush->last.monotonic_ns - flush->first.monotonic_ns) /
			      (double)(flush->last.ticks - flush->first.ticks);
	return flush->last.monotonic_ns - (int64_t)((double)(int64_t)(flush->last.ticks - ticks) * ns_per_tick);
}

static void add_payload(struct flush *flush, const struct pinchtrace_slot *slots, uint32_t slot_count)
{
	uint32_t left = PINCHTRACE_MORE_SIZE(slot_mark(slots)), i, at;
	unsigned char bytes[PINCHTRACE_MORE_PAYLOAD];
	struct pinchtrace_more more;

	add_char(flush, ' ');
	for (i = 0; i < slot_count; i++) {
		memcpy(&more, &slots[i], sizeof(more));
		memcpy(bytes, &more.low, 4);
		memcpy(bytes + 4, &more.high, 8);
		for (at = 0; at < sizeof(bytes) && left; at++, left--)
			add_byte(flush, bytes[at]);
	}
}

static void add_event(struct flush *flush, uint32_t tid, const struct pinchtrace_slot *slots, uint32_t slot_count)
{
	if (flush->size_bytes + LINE_BYTES_MAX > TEXT_BYTES)
		write_text(flush);
	add_number(flush, tid);
	add_char(flush, ' ');
	add_number(flush, to_ns(flush, slots->time));
	add_char(flush, ' ');
	add_number(flush, slots->subsystem);
	add_char(flush, ' ');
	add_number(flush, slots->event);
	add_char(flush, ' ');
	add_number(flush, slots->argument);
	if (slot_count > 1)
		add_payload(flush, slots + 1, slot_count - 1);
	add_char(flush, '\n');
	flush->event_count++;
}

static void add_gap(struct flush *flush, uint32_t tid, uint64_t slot_count)
{
	if (!slot_count)
		return;
	if (flush->size_bytes + LINE_BYTES_MAX > TEXT_BYTES)
		write_text(flush);
	add_text(flush, "# thread ");
	add_number(flush, tid);
	add_text(flush, ": ");
	add_number(flush, slot_count);
	add_text(flush, " slots were overwritten\n");
}

/* Where the next copy begins. */
static uint64_t add_copy(struct flush *flush, uint32_t tid, bool is_last)
{
	const struct ring_copy *copy = &flush->copy;
	uint32_t at = 0, slot_count;

	/* The rest of an event whose beginning was overwritten. */
	while (at < copy->count && slot_mark(copy->slots + at) & PINCHTRACE_MORE)
		at++;
	while (at < copy->count) {
		/* Whether an event goes on is only seen in the next slot. */
		if (at + 1 == copy->count && !is_last)
			break;
		slot_count = ring_copy_event(copy->slots + at, copy->count - at);
		if (!slot_count)
			break;
		add_event(flush, tid, copy->slots + at, slot_count);
		at += slot_count;
	}
	return copy->begin + at;
}

static void flush_ring(struct flush *flush, struct pinchtrace_ring *ring)
{
	uint64_t capacity = pinchtrace_area.slot_mask + 1, index, head, next;
	uint32_t changes = __atomic_load_n(&ring->owner_changes, __ATOMIC_ACQUIRE), tid;

	if (changes & 1 || !changes)
		return;
	tid = __atomic_load_n(&ring->tid, __ATOMIC_RELAXED);
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	index = __atomic_load_n(&ring->begin, __ATOMIC_RELAXED);
	next = __atomic_load_n(&ring->read, __ATOMIC_RELAXED);
	if ((int64_t)(next - index) > 0)
		index = next;
	while (!flush->err && (int64_t)(head - index) > 0) {
		next = head - index > capacity ? head - capacity : index;
		ring_copy_take(&flush->copy, ring, capacity, next, head);
		/* Another thread has got it: what was copied may be of either. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&ring->owner_changes, __ATOMIC_RELAXED) != changes)
			return;
		add_gap(flush, tid, flush->copy.begin - index);
		index = flush->copy.begin + flush->copy.count;
		next = add_copy(flush, tid, index == head);
		/* Always onwards, whatever others have written there. */
		if (index != head && next != flush->copy.begin)
			index = next;
	}
	__atomic_store_n(&ring->read, index, __ATOMIC_RELEASE);
}

static void flush_all(struct flush *flush)
{
	const struct pinchtrace_header *header = pinchtrace_area.header;
	uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE), i;
	const char *file = pinchtrace_environment.file;

	if (count > pinchtrace_area.ring_count_max)
		count = pinchtrace_area.ring_count_max;
	flush->fd = STDERR_FILENO;
	if (*file) {
		flush->fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (flush->fd < 0) {
			flush->err = -errno;
			return;
		}
	}
	pinchtrace_area_take_pair();
	flush->first = header->first_pair;
	flush->last = header->last_pair;
	for (i = 0; i < count && !flush->err; i++)
		flush_ring(flush, pinchtrace_area_ring(i));
	write_text(flush);
	if (*file)
		close(flush->fd);
}

/* Whether a scope has promised to take the events. */
static bool has_scope(void)
{
	uint64_t until_ns = __atomic_load_n(&pinchtrace_area.header->scope_until_ns, __ATOMIC_RELAXED);

	return until_ns && pinchtrace_clock_ns(CLOCK_MONOTONIC) < until_ns;
}

long pinchtrace_flush(void)
{
	/* Not on the stack, which may be a small one of signal handlers. It belongs to who has is_flushing. */
	static struct flush flush;
	int saved_errno = errno;
	long result = 0;

	if (!pinchtrace_area_ensure())
		return -ENOMEM;
	if (__atomic_exchange_n(&pinchtrace_own.is_flushing, 1, __ATOMIC_ACQUIRE))
		return -EBUSY;
	if (!has_scope()) {
		flush.size_bytes = 0;
		flush.event_count = 0;
		flush.err = 0;
		flush_all(&flush);
		result = flush.err ? flush.err : flush.event_count;
	}
	__atomic_store_n(&pinchtrace_own.is_flushing, 0, __ATOMIC_RELEASE);
	errno = saved_errno;
	return result;
}

void pinchtrace_flush_if_full(const struct pinchtrace_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t read = __atomic_load_n(&ring->read, __ATOMIC_RELAXED);
	uint64_t begin = __atomic_load_n(&ring->begin, __ATOMIC_RELAXED);
	long count;

	if ((int64_t)(begin - read) > 0)
		read = begin;
	if ((int64_t)(head - read) < (int64_t)pinchtrace_area.flush_slots ||
	    __atomic_load_n(&pinchtrace_own.has_failed_flush, __ATOMIC_RELAXED))
		return;
	count = pinchtrace_flush();
	if (count < 0 && count != -EBUSY)
		__atomic_store_n(&pinchtrace_own.has_failed_flush, 1, __ATOMIC_RELAXED);
}
