/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

/*
 * Layout: a page that the reader writes (consumer position), a page that the kernel writes
 * (producer position), and the data, mapped twice in a row so that a record never wraps.
 */
struct ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const char *data;
	size_t size_bytes, page_bytes;
	uint64_t read; /* position up to which records were handed over */
};

int ring_open(int map_fd, size_t size_bytes, struct ring **out)
{
	struct ring *ring = xcalloc(1, sizeof(*ring));
	void *memory;
	int err;

	ring->page_bytes = sysconf(_SC_PAGESIZE);
	ring->size_bytes = size_bytes;
	memory = mmap(NULL, ring->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}
	ring->consumer = memory;
	memory = mmap(NULL, ring->page_bytes + 2 * size_bytes, PROT_READ, MAP_SHARED, map_fd, ring->page_bytes);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}
	ring->producer = memory;
	ring->data = (const char *)memory + ring->page_bytes;
	ring->read = *ring->consumer;
	*out = ring;
	return 0;

out_close:
	ring_close(ring);
	return err;
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->consumer)
		munmap(ring->consumer, ring->page_bytes);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page_bytes + 2 * ring->size_bytes);
	free(ring);
}

bool ring_drain(struct ring *ring, ring_record_fn on_record, void *data)
{
	/* Pairs with the kernel's release after it reserved the record. */
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	bool is_stopped = false;

	while (ring->read < end && !is_stopped) {
		const char *record = ring->data + (ring->read & (ring->size_bytes - 1));
		/* Pairs with the kernel's exchange that takes the busy bit away. */
		uint32_t length = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			is_stopped = true;
		else if (!(length & BPF_RINGBUF_DISCARD_BIT))
			is_stopped = on_record(data, record + BPF_RINGBUF_HDR_SZ, size);
		if (!is_stopped)
			ring->read += (BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
	}
	/* The kernel may reuse the space from here on: pairs with its acquire of this position. */
	__atomic_store_n(ring->consumer, ring->read, __ATOMIC_RELEASE);
	return !is_stopped;
}

size_t ring_fill_bytes(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->read;
}
