/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines as Go 1.19 lays them out, in memory of which parts may be missing. */
#include "test.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/go/go_read.h"

enum {
	BASE = 0x400000,
	LIST_COUNT = 0x0,
	LIST = 0x8,
	ADDRESSES = 0x1000,
	GOROUTINES = 0x100000,
	GOROUTINE_BYTES = 512,
	STACKS = 0x200000,
	STACK_BYTES = 256,
	COUNT_MAX = 1024,
	BYTES = STACKS + COUNT_MAX * STACK_BYTES,
	WAITING = 4,
};

static uint8_t memory_bytes[BYTES];
static uint64_t unreadable_begin, unreadable_end; /* addresses */
static uint32_t reads;
static void (*on_read)(uint32_t number);

static const struct go_layout layout = {
	.result = GO_READ,
	.list = 0x8,
	.list_count = 0x0,
	.stack_low = 0,
	.stack_high = 8,
	.saved_sp = 56,
	.saved_pc = 64,
	.status = 144,
	.number = 152,
	.reason = 176,
	.creator = 280,
	.size_bytes = 288,
	.reason_count = 3,
	.reasons = { "", "chan receive", "semacquire" },
};

static bool read_memory(void *data __attribute__((unused)), struct memory_piece *pieces, size_t count, void *bytes)
{
	uint8_t *to = bytes;

	if (on_read)
		on_read(reads);
	reads++;
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = pieces[i].address, end = begin + pieces[i].size_bytes;

		memset(to, 0, pieces[i].size_bytes);
		pieces[i].is_read = begin >= BASE && end >= begin && end <= BASE + BYTES &&
				    (end <= unreadable_begin || begin >= unreadable_end);
		if (pieces[i].is_read)
			memcpy(to, memory_bytes + (begin - BASE), pieces[i].size_bytes);
		to += pieces[i].size_bytes;
	}
	return true;
}

static void put(size_t at, uint64_t value, size_t size_bytes)
{
	memcpy(memory_bytes + at, &value, size_bytes);
}

static size_t place_of(size_t i)
{
	return GOROUTINES + i * GOROUTINE_BYTES;
}

static void put_goroutine(size_t i, uint32_t status, uint8_t reason, uint64_t creator)
{
	size_t at = place_of(i), stack = BASE + STACKS + i * STACK_BYTES;

	put(ADDRESSES + i * 8, BASE + at, 8);
	put(at + layout.stack_low, stack, 8);
	put(at + layout.stack_high, stack + STACK_BYTES, 8);
	put(at + layout.saved_sp, stack + 128, 8);
	put(at + layout.saved_pc, 0x1234 + reason, 8);
	put(at + layout.status, status, 4);
	put(at + layout.number, i + 1, 8);
	put(at + layout.reason, reason, 1);
	put(at + layout.creator, creator, 8);
}

static void begin(uint32_t count)
{
	memset(memory_bytes, 0, sizeof(memory_bytes));
	unreadable_begin = unreadable_end = 0;
	reads = 0;
	on_read = NULL;
	put(LIST_COUNT, count, 8);
	put(LIST, BASE + ADDRESSES, 8);
}

static const struct go_answer *read_all(uint64_t random)
{
	static struct go_answer answer;
	const struct go_memory memory = { read_memory, NULL };

	go_read(&(struct go_question){ .memory = &memory, .layout = &layout, .bias = BASE, .random = random }, &answer);
	if (answer.result == GO_READ)
		CHECK(go_answer_is_valid(&answer,
					 offsetof(struct go_answer, rows) + answer.row_count * sizeof(*answer.rows)));
	return &answer;
}

TEST(goroutines_that_wait_for_the_same_are_one_row)
{
	const struct go_answer *answer;

	begin(5);
	put_goroutine(0, WAITING, 1, 0x77);
	put_goroutine(1, WAITING | 0x1000, 1, 0x77);
	put_goroutine(2, WAITING, 2, 0x77);
	put_goroutine(3, 2, 0, 0x77);
	put_goroutine(4, 6, 0, 0);
	answer = read_all(1);
	CHECK_EQUAL(answer->result, GO_READ);
	CHECK_EQUAL(answer->listed, 5);
	CHECK_EQUAL(answer->examined, 5);
	CHECK_EQUAL(answer->waiting, 3);
	CHECK_EQUAL(answer->running, 1);
	CHECK_EQUAL(answer->row_count, 2);
	CHECK_EQUAL(answer->rows[0].count, 2);
	CHECK_STRING(answer->rows[0].reason, "chan receive");
	CHECK_EQUAL(answer->rows[0].creator, 0x77);
	CHECK_EQUAL(answer->rows[0].frames[0], 0x1235);
	CHECK_STRING(answer->rows[1].reason, "semacquire");
}

/* Between the first reading and the second. */
static void run_on(uint32_t number)
{
	if (number == 3)
		put(place_of(0) + layout.saved_pc, 0x9999, 8);
}

TEST(a_goroutine_that_ran_meanwhile_has_no_stack)
{
	const struct go_answer *answer;

	begin(2);
	put_goroutine(0, WAITING, 1, 0x77);
	put_goroutine(1, WAITING, 1, 0x77);
	on_read = run_on;
	answer = read_all(1);
	CHECK_EQUAL(answer->waiting, 2);
	CHECK_EQUAL(answer->row_count, 2);
	CHECK_EQUAL(answer->rows[0].frame_count, 0);
	CHECK_EQUAL(answer->rows[1].frame_count, 1);
}

TEST(a_stack_that_cannot_be_read_leaves_the_reason)
{
	const struct go_answer *answer;

	begin(2);
	put_goroutine(0, WAITING, 1, 0x77);
	put_goroutine(1, WAITING, 2, 0x77);
	unreadable_begin = BASE + STACKS;
	unreadable_end = unreadable_begin + STACK_BYTES;
	answer = read_all(1);
	CHECK_EQUAL(answer->row_count, 2);
	CHECK_EQUAL(answer->rows[0].frame_count, 0);
	CHECK_STRING(answer->rows[0].reason, "chan receive");
	CHECK_EQUAL(answer->rows[1].frame_count, 1);
}

TEST(goroutines_that_cannot_be_read_are_not_examined)
{
	const struct go_answer *answer;

	begin(3);
	for (size_t i = 0; i < 3; i++)
		put_goroutine(i, WAITING, 1, 0x77);
	put(ADDRESSES + 8, 0x10, 8);
	answer = read_all(1);
	CHECK_EQUAL(answer->listed, 3);
	CHECK_EQUAL(answer->examined, 2);
	CHECK_EQUAL(answer->waiting, 2);
}

TEST(a_list_that_makes_no_sense_is_not_read)
{
	begin(3);
	CHECK_EQUAL(read_all(1)->result, GO_UNREADABLE); /* no goroutine can be read */
	put(LIST_COUNT, UINT64_MAX, 8);
	CHECK_EQUAL(read_all(1)->result, GO_UNREADABLE);
	put(LIST_COUNT, 0, 8);
	CHECK_EQUAL(read_all(1)->result, GO_UNREADABLE);
	begin(3);
	unreadable_begin = BASE;
	unreadable_end = BASE + 16;
	CHECK_EQUAL(read_all(1)->result, GO_UNREADABLE);
}

/* Sums of what is known of all against what is read of all. */
TEST(all_of_few_goroutines_are_counted)
{
	static const uint32_t statuses[] = { 0, 1, 2, 3, WAITING, 6, 8, 9, WAITING | 0x1000, 2 | 0x1000 };
	const struct go_answer *answer;

	for (unsigned int round = 0; round < 300; round++) {
		uint32_t count = 1 + rand() % GO_EXAMINED_MAX, waiting = 0, active = 0, in_rows = 0;

		begin(count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t status = statuses[rand() % (sizeof(statuses) / sizeof(*statuses))];
			uint32_t plain = status & 0xfff;

			put_goroutine(i, status, rand() % 4, rand() % 3);
			waiting += plain == WAITING;
			active += plain == 1 || plain == 2 || plain == 3 || plain == 8 || plain == 9;
		}
		answer = read_all(rand());
		CHECK_EQUAL(answer->examined, count);
		CHECK_EQUAL(answer->waiting, waiting);
		CHECK_EQUAL(answer->runnable + answer->running + answer->in_syscall, active);
		for (uint32_t i = 0; i < answer->row_count; i++)
			in_rows += answer->rows[i].count;
		CHECK_EQUAL(in_rows, waiting);
	}
}

/* Those that wait stand together, as those of one loop do. */
TEST(of_many_goroutines_each_is_examined_as_often)
{
	const uint32_t count = 1000, waiting = 137, rounds = 400;
	double sum = 0;

	begin(count);
	for (uint32_t i = 0; i < count; i++)
		put_goroutine(i, i >= 400 && i < 400 + waiting ? WAITING : 6, 1, 0);
	for (uint32_t i = 0; i < rounds; i++) {
		const struct go_answer *answer = read_all(i * 7919);

		CHECK_EQUAL(answer->examined, GO_EXAMINED_MAX);
		sum += (double)answer->waiting * answer->listed / answer->examined;
	}
	/* A sample's standard deviation is below 137 / sqrt(35 examined of them) = 23, of their mean 1.2. */
	CHECK(sum / rounds > waiting - 4 && sum / rounds < waiting + 4);
}
