// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads wait by io_uring, each in a ring of its own, until what they have written into commit.log
 * is on the disk. Ends with status 77 where io_uring is not permitted. Cured: without fsync.
 * Known answer: fsync of commit.log, in commit().
 */
#include "planted.h"
#include <linux/io_uring.h>

enum { THREADS = 2, ENTRIES = 4, RECORD_BYTES = 512, APPLY_US = 50 };

struct ring {
	int fd;
	uint32_t *tail, *array, *completion_head, *completion_tail; /* shared with the kernel */
	uint32_t mask, completion_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *completions;
};

static int log_fd;

static unsigned char *map(const struct ring *ring, size_t size_bytes, off_t offset)
{
	void *at = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, offset);

	if (at == MAP_FAILED)
		die("mmap of a ring");
	return (unsigned char *)at;
}

static void ring_open(struct ring *ring)
{
	struct io_uring_params params = { 0 };
	unsigned char *submissions, *completions;

	ring->fd = syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (ring->fd < 0) {
		perror("io_uring is not permitted here, or not there");
		exit(TEST_SKIPPED);
	}
	submissions = map(ring, params.sq_off.array + params.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	completions =
		map(ring, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring->entries =
		(struct io_uring_sqe *)map(ring, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring->tail = (uint32_t *)(submissions + params.sq_off.tail);
	ring->array = (uint32_t *)(submissions + params.sq_off.array);
	ring->mask = params.sq_entries - 1;
	ring->completion_head = (uint32_t *)(completions + params.cq_off.head);
	ring->completion_tail = (uint32_t *)(completions + params.cq_off.tail);
	ring->completion_mask = params.cq_entries - 1;
	ring->completions = (struct io_uring_cqe *)(completions + params.cq_off.cqes);
}

/* One operation, and its result. */
static OWN_FRAME int ring_do(struct ring *ring, const struct io_uring_sqe *operation)
{
	uint32_t tail = *ring->tail, head = *ring->completion_head;
	int result;

	ring->entries[tail & ring->mask] = *operation;
	ring->array[tail & ring->mask] = tail & ring->mask;
	/* Publishes the entry: pairs with the kernel's acquire of tail. */
	__atomic_store_n(ring->tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		die("io_uring_enter");
	/* Pairs with the kernel's release of the completions' tail. */
	if (__atomic_load_n(ring->completion_tail, __ATOMIC_ACQUIRE) == head)
		die("no completion");
	result = ring->completions[head & ring->completion_mask].res;
	__atomic_store_n(ring->completion_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

static OWN_FRAME void commit(struct ring *ring, uint64_t at)
{
	static const char record[RECORD_BYTES];
	const struct io_uring_sqe write = {
		.opcode = IORING_OP_WRITE,
		.fd = log_fd,
		.addr = (uintptr_t)record,
		.len = sizeof(record),
		.off = at % 4096 * RECORD_BYTES,
	};
	const struct io_uring_sqe sync = { .opcode = IORING_OP_FSYNC, .fd = log_fd };

	if (ring_do(ring, &write) != RECORD_BYTES || (!is_cured && ring_do(ring, &sync)))
		die("commit.log");
}

static OWN_FRAME void apply_change(void)
{
	burn_us(APPLY_US);
}

static void run(int number)
{
	struct ring ring;

	ring_open(&ring);
	for (uint64_t at = number * 2048;; at++) {
		apply_change();
		commit(&ring, at);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	log_fd = planted_file("commit.log", 4 << 20);
	role_start_all(threads, THREADS, "commit-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
