/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/ring/map_window.h"

/*
 * Layout: a page that the reader writes (consumer position), a page that the kernel writes
 * (producer position), and the data, twice in a row so that a record never wraps.
 */
struct ring {
	int map_fd;
	uint64_t *consumer;
	const uint64_t *producer;
	size_t size_bytes, page_bytes;
	uint64_t read; /* position up to which records were handed over */
};

int ring_open(int map_fd, size_t size_bytes, struct ring **out)
{
	struct ring *ring = xcalloc(1, sizeof(*ring));
	void *memory;
	int err;

	ring->map_fd = map_fd;
	ring->page_bytes = sysconf(_SC_PAGESIZE);
	ring->size_bytes = size_bytes;
	memory = mmap(NULL, ring->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}
	ring->consumer = memory;
	memory = mmap(NULL, ring->page_bytes, PROT_READ, MAP_SHARED, map_fd, ring->page_bytes);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}
	ring->producer = memory;
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
		munmap((void *)ring->producer, ring->page_bytes);
	free(ring);
}

/* Hands over the records up to end, which lie from data on. False: it stopped before. */
static bool read_records(struct ring *ring, const char *data, uint64_t end, ring_record_fn on_record, void *user_data)
{
	uint64_t begin = ring->read;

	while (ring->read < end) {
		const char *record = data + (ring->read - begin);
		/* Pairs with the kernel's exchange that takes the busy bit away. */
		uint32_t length = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			return false;
		if (!(length & BPF_RINGBUF_DISCARD_BIT) && on_record(user_data, record + BPF_RINGBUF_HDR_SZ, size))
			return false;
		ring->read += (BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
	}
	return true;
}

bool ring_drain(struct ring *ring, ring_record_fn on_record, void *data)
{
	/* Pairs with the kernel's release after it reserved the record. */
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	uint64_t offset = 2 * ring->page_bytes + (ring->read & (ring->size_bytes - 1));
	struct map_window window;
	const char *records;
	bool is_whole;

	if (ring->read == end)
		return true;
	records = map_window_open(&window, ring->map_fd, offset, end - ring->read);
	if (!records)
		return false;
	is_whole = read_records(ring, records, end, on_record, data);
	map_window_close(&window);
	/* The kernel may reuse the space from here on: pairs with its acquire of this position. */
	__atomic_store_n(ring->consumer, ring->read, __ATOMIC_RELEASE);
	return is_whole;
}

size_t ring_fill_bytes(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->read;
}
