/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one BPF ring buffer without ever being woken for it. libbpf's own reader hides how
 * far a ring was read, which the merge in time order has to know.
 *
 * Owns: buffers between the kernel side and the tool.
 * Used by: collect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* The ring of map_fd, whose max_entries are size_bytes. The descriptor stays the caller's, and open as long as the ring. */
int ring_open(int map_fd, size_t size_bytes, struct ring **out);
void ring_close(struct ring *ring);

/* Called with each record, in the order of reservation; non-zero stops before this record. */
typedef int (*ring_record_fn)(void *data, const void *record, size_t size_bytes);

/*
 * Hands over what lies in the ring. True when all that was reserved at the time of the call
 * has been read; false when it stopped at a record that is still being written, because
 * on_record said so, or for lack of memory.
 */
bool ring_drain(struct ring *ring, ring_record_fn on_record, void *data);

/* Bytes waiting to be read, size_bytes at most. */
size_t ring_fill_bytes(const struct ring *ring);
