// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `ring` (main) waits by io_uring, without a library between: first
 * for a timeout of 300 ms, then for what the thread `writer` computes for 300 ms and writes into a
 * pipe. Ends with status 77 where io_uring is not permitted or not there.
 * Known answer: two waits, in await_timeout() and in await_read(), whose cause names the system
 * call, io_uring_enter, unless it is known what the ring waits for. The waker of the second one is
 * late_writer() in `writer`.
 */
#include "roles.h"
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <sys/mman.h>

enum { ENTRIES = 4, WAIT_MS = 300 };

struct ring {
	int fd;
	struct io_uring_params params;
	unsigned char *submissions, *completions; /* shared with the kernel */
	struct io_uring_sqe *entries;
};

static struct ring ring;
static int ends[2];
static pid_t waiter;

static void *map(size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, offset);

	if (at == MAP_FAILED)
		die("mmap of a ring");
	return at;
}

static void ring_open(void)
{
	struct io_uring_params *params = &ring.params;

	ring.fd = syscall(SYS_io_uring_setup, ENTRIES, params);
	if (ring.fd < 0) {
		perror("io_uring is not permitted here, or not there");
		exit(TEST_SKIPPED);
	}
	ring.submissions =
		(unsigned char *)map(params->sq_off.array + params->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	ring.completions = (unsigned char *)map(params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe),
						IORING_OFF_CQ_RING);
	ring.entries = (struct io_uring_sqe *)map(params->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

/* Only one operation is ever under way: entry 0 is free. */
static void ring_submit(const struct io_uring_sqe *operation)
{
	uint32_t *tail = (uint32_t *)(ring.submissions + ring.params.sq_off.tail);
	uint32_t *array = (uint32_t *)(ring.submissions + ring.params.sq_off.array);

	ring.entries[0] = *operation;
	array[*tail & (ring.params.sq_entries - 1)] = 0;
	/* Publishes the entry: pairs with the kernel's acquire of tail. */
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* The result of the one completion. */
static int ring_complete(void)
{
	uint32_t *head = (uint32_t *)(ring.completions + ring.params.cq_off.head);
	uint32_t *tail = (uint32_t *)(ring.completions + ring.params.cq_off.tail);
	const struct io_uring_cqe *cqes = (struct io_uring_cqe *)(ring.completions + ring.params.cq_off.cqes);
	int result;

	/* Pairs with the kernel's release of tail: the completion is there. */
	if (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head) {
		fprintf(stderr, "nothing was completed\n");
		exit(1);
	}
	result = cqes[*head & (ring.params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static void ring_enter(unsigned submitted, unsigned completed)
{
	unsigned flags = completed ? IORING_ENTER_GETEVENTS : 0;

	if (syscall(SYS_io_uring_enter, ring.fd, submitted, completed, flags, NULL, 0) < 0)
		die("io_uring_enter");
}

static OWN_FRAME void await_timeout(void)
{
	struct __kernel_timespec length = { .tv_nsec = WAIT_MS * 1000000l };
	struct io_uring_sqe operation = {
		.opcode = IORING_OP_TIMEOUT,
		.fd = -1,
		.addr = (uintptr_t)&length,
		.len = 1,
	};

	ring_submit(&operation);
	ring_enter(1, 1);
	ring_complete(); /* -ETIME */
}

static OWN_FRAME void await_read(void)
{
	static char byte;
	struct io_uring_sqe operation = {
		.opcode = IORING_OP_READ,
		.fd = ends[0],
		.addr = (uintptr_t)&byte,
		.len = 1,
	};

	ring_submit(&operation);
	ring_enter(1, 1);
	if (ring_complete() != 1) {
		fprintf(stderr, "no byte was read\n");
		exit(1);
	}
}

static OWN_FRAME void late_writer(int number)
{
	(void)number;
	await_blocked(waiter, SYS_io_uring_enter);
	compute_ms(WAIT_MS);
	write_byte(ends[1]);
}

int main(void)
{
	struct role writer;

	role_name_self("ring");
	waiter = gettid();
	ring_open();
	await_timeout();
	if (pipe(ends))
		die("pipe");
	role_start(&writer, "writer", late_writer, 0);
	await_read();
	role_join_all(&writer, 1);
	return 0;
}
