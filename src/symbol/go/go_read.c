/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A goroutine that waits is no thread: its registers lie in its own structure, runtime.g, and its stack in memory
 * that only it uses. The stack is read together with the structure, for the second time: only if the goroutine still
 * waits with the same registers does the stack belong to them. (Go's src/runtime/runtime2.go, proc.go: gopark())
 */
#include "symbol/go/go_read.h"

#include <string.h>

#include "base/table.h"
#include "symbol/elf/go_table.h"

enum {
	LIST_MAX = 1 << 26, /* goroutines, ended ones included */
	ADDRESS_BYTES = 8,
	STACK_BYTES = 1536, /* of a stack that are read: some 10 to 20 frames */

	STATUS_RUNNABLE = 1,
	STATUS_RUNNING = 2,
	STATUS_SYSCALL = 3,
	STATUS_WAITING = 4,
	STATUS_COPIES_STACK = 8,
	STATUS_PREEMPTED = 9,
	STATUS_SCANNED = 0x1000, /* besides one of these: the garbage collector looks at its stack */
};

/* One that waits. */
struct goroutine {
	uint64_t address, number, sp, pc, high, creator;
	uint8_t reason;
};

struct reading {
	const struct go_question *question;
	struct go_answer *answer;
	uint64_t addresses[GO_EXAMINED_MAX];
	struct goroutine waiting[GO_EXAMINED_MAX];
	size_t waiting_count;
	struct memory_piece pieces[MEMORY_PIECES_MAX];
	uint8_t bytes[MEMORY_PIECES_BYTES_MAX];
};

static bool read_pieces(struct reading *reading, size_t count)
{
	const struct go_memory *memory = reading->question->memory;

	return memory->read(memory->data, reading->pieces, count, reading->bytes);
}

static struct memory_piece piece(uint64_t address, size_t size_bytes)
{
	return (struct memory_piece){ .address = address, .size_bytes = size_bytes };
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* --- The list -------------------------------------------------------------------------------- */

/* The list only grows, and a longer one has all that a shorter one had: the count is read first. */
static bool read_list(struct reading *reading, uint64_t *list)
{
	const struct go_layout *layout = reading->question->layout;
	uint64_t bias = reading->question->bias, count;

	reading->pieces[0] = piece(layout->list_count + bias, ADDRESS_BYTES);
	reading->pieces[1] = piece(layout->list + bias, ADDRESS_BYTES);
	if (!read_pieces(reading, 2) || !reading->pieces[0].is_read || !reading->pieces[1].is_read)
		return false;
	count = word_at(reading->bytes, 0);
	*list = word_at(reading->bytes, ADDRESS_BYTES);
	if (!count || count > LIST_MAX || !*list)
		return false;
	reading->answer->listed = count;
	reading->answer->examined = count < GO_EXAMINED_MAX ? count : GO_EXAMINED_MAX;
	return true;
}

/* Of as many equal parts of the list as are examined, one entry each: each entry is as likely as any other. */
static uint64_t choose(const struct reading *reading, uint32_t part)
{
	const struct go_answer *answer = reading->answer;
	uint64_t begin = (uint64_t)answer->listed * part / answer->examined;
	uint64_t end = (uint64_t)answer->listed * (part + 1) / answer->examined;

	return begin + hash_u64(reading->question->random + part) % (end - begin);
}

static bool read_addresses(struct reading *reading, uint64_t list)
{
	uint32_t examined = reading->answer->examined;

	for (uint32_t at = 0; at < examined; at += MEMORY_PIECES_MAX) {
		uint32_t count = examined - at < MEMORY_PIECES_MAX ? examined - at : MEMORY_PIECES_MAX;

		for (uint32_t i = 0; i < count; i++)
			reading->pieces[i] = piece(list + choose(reading, at + i) * ADDRESS_BYTES, ADDRESS_BYTES);
		if (!read_pieces(reading, count))
			return false;
		for (uint32_t i = 0; i < count; i++)
			reading->addresses[at + i] = word_at(reading->bytes, (size_t)i * ADDRESS_BYTES);
	}
	return true;
}

/* --- Goroutines ------------------------------------------------------------------------------ */

static uint32_t status_of(const struct go_layout *layout, const uint8_t *bytes)
{
	uint32_t status;

	memcpy(&status, bytes + layout->status, sizeof(status));
	return status & ~(uint32_t)STATUS_SCANNED;
}

static struct goroutine goroutine_of(const struct go_layout *layout, const uint8_t *bytes, uint64_t address)
{
	return (struct goroutine){
		.address = address,
		.number = word_at(bytes, layout->number),
		.sp = word_at(bytes, layout->saved_sp),
		.pc = word_at(bytes, layout->saved_pc),
		.high = word_at(bytes, layout->stack_high),
		.creator = word_at(bytes, layout->creator),
		.reason = bytes[layout->reason],
	};
}

static void add_goroutine(struct reading *reading, const uint8_t *bytes, uint64_t address)
{
	const struct go_layout *layout = reading->question->layout;
	struct go_answer *answer = reading->answer;

	switch (status_of(layout, bytes)) {
	case STATUS_RUNNABLE:
	case STATUS_PREEMPTED:
		answer->runnable++;
		break;
	case STATUS_RUNNING:
	case STATUS_COPIES_STACK:
		answer->running++;
		break;
	case STATUS_SYSCALL:
		answer->in_syscall++;
		break;
	case STATUS_WAITING:
		answer->waiting++;
		reading->waiting[reading->waiting_count++] = goroutine_of(layout, bytes, address);
		break;
	}
}

/* Fewer are examined if some cannot be read. */
static bool read_goroutines(struct reading *reading)
{
	uint32_t size_bytes = reading->question->layout->size_bytes, unread_count = 0;
	uint32_t at_once = MEMORY_PIECES_BYTES_MAX / size_bytes;

	if (at_once > MEMORY_PIECES_MAX)
		at_once = MEMORY_PIECES_MAX;
	for (uint32_t at = 0; at < reading->answer->examined; at += at_once) {
		uint32_t left = reading->answer->examined - at, count = left < at_once ? left : at_once;

		for (uint32_t i = 0; i < count; i++)
			reading->pieces[i] = piece(reading->addresses[at + i], size_bytes);
		if (!read_pieces(reading, count))
			return false;
		for (uint32_t i = 0; i < count; i++) {
			if (reading->pieces[i].is_read)
				add_goroutine(reading, reading->bytes + (size_t)i * size_bytes,
					      reading->addresses[at + i]);
			else
				unread_count++;
		}
	}
	reading->answer->examined -= unread_count;
	return reading->answer->examined > 0;
}

/* --- Where they wait ------------------------------------------------------------------------- */

/* stack: from the saved stack pointer on. */
static uint32_t unwind(const struct go_question *question, const struct goroutine *goroutine, const uint8_t *stack,
		       size_t stack_bytes, uint64_t *frames)
{
	uint64_t pc = goroutine->pc, at = 0;
	uint32_t count = 0, moved_bytes;
	bool is_outermost = false;

	while (count < GO_FRAMES_MAX && pc) {
		frames[count++] = pc;
		/* What it returns to may be another function's. */
		if (!question->table ||
		    !go_table_moved(question->table, pc - 1 - question->bias, &moved_bytes, &is_outermost) ||
		    is_outermost || moved_bytes > stack_bytes || at + moved_bytes + ADDRESS_BYTES > stack_bytes)
			break;
		pc = word_at(stack, at + moved_bytes);
		at += moved_bytes + ADDRESS_BYTES;
	}
	return count;
}

static bool is_same_row(const struct go_row *a, const struct go_row *b)
{
	return a->creator == b->creator && a->frame_count == b->frame_count && !strcmp(a->reason, b->reason) &&
	       !memcmp(a->frames, b->frames, a->frame_count * sizeof(*a->frames));
}

static void add_row(struct go_answer *answer, const struct go_row *row)
{
	uint32_t i = 0;

	while (i < answer->row_count && !is_same_row(&answer->rows[i], row))
		i++;
	if (i == GO_ROWS_MAX)
		return;
	if (i == answer->row_count)
		answer->rows[answer->row_count++] = *row;
	answer->rows[i].count++;
}

static size_t stack_bytes_of(const struct goroutine *goroutine)
{
	uint64_t depth_bytes = goroutine->high - goroutine->sp;

	if (goroutine->sp % ADDRESS_BYTES || goroutine->sp >= goroutine->high)
		return 0;
	return depth_bytes < STACK_BYTES ? depth_bytes / ADDRESS_BYTES * ADDRESS_BYTES : STACK_BYTES;
}

/* Whether it has not run since. */
static bool still_waits(const struct go_layout *layout, const struct goroutine *goroutine, const uint8_t *bytes)
{
	struct goroutine now = goroutine_of(layout, bytes, goroutine->address);

	return status_of(layout, bytes) == STATUS_WAITING && now.number == goroutine->number &&
	       now.sp == goroutine->sp && now.pc == goroutine->pc && now.reason == goroutine->reason;
}

/* bytes: its stack, then its structure. */
static void add_waiting(struct reading *reading, const struct goroutine *goroutine, const struct memory_piece *pieces,
			const uint8_t *bytes)
{
	const struct go_layout *layout = reading->question->layout;
	size_t stack_bytes = pieces[0].size_bytes;
	struct go_row row = { .creator = goroutine->creator };

	if (goroutine->reason < layout->reason_count)
		memcpy(row.reason, layout->reasons[goroutine->reason], sizeof(row.reason));
	if (pieces[0].is_read && pieces[1].is_read && still_waits(layout, goroutine, bytes + stack_bytes))
		row.frame_count = unwind(reading->question, goroutine, bytes, stack_bytes, row.frames);
	add_row(reading->answer, &row);
}

static bool read_stacks(struct reading *reading)
{
	uint32_t size_bytes = reading->question->layout->size_bytes;
	size_t at_once = MEMORY_PIECES_BYTES_MAX / (STACK_BYTES + size_bytes);

	if (at_once > MEMORY_PIECES_MAX / 2)
		at_once = MEMORY_PIECES_MAX / 2;
	for (size_t at = 0; at < reading->waiting_count; at += at_once) {
		size_t left = reading->waiting_count - at, count = left < at_once ? left : at_once, bytes_at = 0;
		const struct goroutine *goroutines = &reading->waiting[at];

		for (size_t i = 0; i < count; i++) {
			reading->pieces[2 * i] = piece(goroutines[i].sp, stack_bytes_of(&goroutines[i]));
			reading->pieces[2 * i + 1] = piece(goroutines[i].address, size_bytes);
		}
		if (!read_pieces(reading, 2 * count))
			return false;
		for (size_t i = 0; i < count; i++) {
			add_waiting(reading, &goroutines[i], &reading->pieces[2 * i], reading->bytes + bytes_at);
			bytes_at += reading->pieces[2 * i].size_bytes + size_bytes;
		}
	}
	return true;
}

void go_read(const struct go_question *question, struct go_answer *answer)
{
	static struct reading reading; /* there is one thread */
	uint64_t list;

	reading.question = question;
	reading.answer = answer;
	reading.waiting_count = 0;
	memset(answer, 0, sizeof(*answer));
	if (read_list(&reading, &list) && read_addresses(&reading, list) && read_goroutines(&reading) &&
	    read_stacks(&reading))
		return;
	memset(answer, 0, sizeof(*answer));
	answer->result = GO_UNREADABLE;
}
