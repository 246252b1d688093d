/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/v8/v8_string.h"

#include <string.h>

#include "base/utf8.h"

enum {
	STEPS_MAX = 16, /* strings that one is made of */
	PIECE_BYTES = 16384,
	COUNTED_BYTES_MAX = 1 << 20,
	EXTERNAL_CACHED = 8,   /* where an external string has its characters, behind its resource */
	EXTERNAL_PLAIN = 0x10, /* in the type of one that has them nowhere */
};

/* Characters that lie one behind the other. */
struct run {
	uint64_t address;
	uint32_t count;
	uint32_t character_bytes; /* 1 or 2 */
};

/* A piece of such a run; there is one thread. */
static uint8_t piece[PIECE_BYTES];

/* --- What a string is made of ---------------------------------------------------------------- */

/* Of a string that is a part of another, or stands for it: that one, and where it begins in it. */
static bool follow(const struct v8_memory *memory, uint64_t string, uint32_t form, uint64_t *other, uint32_t *begin)
{
	const struct v8_heap *heap = memory->heap;
	uint64_t word, second;
	int32_t offset, length;

	if (form == heap->form_thin)
		return v8_read_word(memory, string, heap->thin_actual, other);
	if (form == heap->form_cons) /* once flattened, its second part is empty */
		return v8_read_word(memory, string, heap->cons_first, other) &&
		       v8_read_word(memory, string, heap->cons_second, &second) &&
		       v8_read(memory, second, heap->string_length, &length, sizeof(length)) && !length;
	if (form != heap->form_sliced || !v8_read_word(memory, string, heap->sliced_offset, &word) ||
	    !v8_integer(word, &offset) || offset < 0)
		return false;
	*begin += offset;
	return v8_read_word(memory, string, heap->sliced_parent, other);
}

/* False: it is no string, or one whose characters do not lie in one place. */
static bool find_run(const struct v8_memory *memory, uint64_t string, struct run *run)
{
	const struct v8_heap *heap = memory->heap;
	uint32_t begin = 0, form;
	uint16_t type;

	if (!v8_read(memory, string, heap->string_length, &run->count, sizeof(run->count)) || run->count > INT32_MAX)
		return false;
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!v8_read_type(memory, string, &type) || type >= heap->string_type_end || begin > INT32_MAX)
			return false;
		form = type & heap->string_form_mask;
		run->character_bytes = type & heap->string_is_one_byte ? 1 : 2;
		if (form == heap->form_sequential) {
			run->address = string - 1 + heap->string_characters;
			break;
		}
		if (form == heap->form_external) {
			if (type & EXTERNAL_PLAIN ||
			    !v8_read_word(memory, string, heap->external_resource + EXTERNAL_CACHED, &run->address))
				return false;
			break;
		}
		if (!follow(memory, string, form, &string, &begin) || step == STEPS_MAX - 1)
			return false;
	}
	run->address += (uint64_t)begin * run->character_bytes;
	return true;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* Text that is being written. */
struct output {
	char *text;
	size_t capacity, length;
	bool is_full;
};

static uint32_t character_at(size_t i, uint32_t character_bytes)
{
	return character_bytes == 1 ? piece[i] : piece[2 * i] | (uint32_t)piece[2 * i + 1] << 8;
}

static void put(struct output *out, uint32_t character)
{
	uint8_t bytes[UTF8_BYTES_MAX];
	size_t count = utf8_put(character, bytes);

	/* A NUL would end it. */
	out->is_full = out->is_full || !character || out->length + count >= out->capacity;
	if (out->is_full)
		return;
	memcpy(out->text + out->length, bytes, count);
	out->length += count;
}

/* The characters of a piece, as UTF-16 has them. */
static void put_characters(struct output *out, uint32_t count, uint32_t character_bytes)
{
	for (uint32_t i = 0; i < count && !out->is_full; i++) {
		uint32_t character = character_at(i, character_bytes), next;

		if (character >= 0xd800 && character < 0xdc00 && i + 1 < count) {
			next = character_at(i + 1, character_bytes);
			if (next >= 0xdc00 && next < 0xe000) {
				character = 0x10000 + ((character & 0x3ff) << 10 | (next & 0x3ff));
				i++;
			}
		}
		put(out, character);
	}
}

static bool put_run(const struct v8_memory *memory, const struct run *run, struct output *out)
{
	uint32_t count = run->count;

	if (count > out->capacity - out->length)
		count = out->capacity - out->length;
	if (count > PIECE_BYTES / 2)
		count = PIECE_BYTES / 2;
	if (!memory->reader->read(memory->reader->data, run->address, piece, (size_t)count * run->character_bytes))
		return false;
	put_characters(out, count, run->character_bytes);
	return true;
}

/* The two parts of a string that was put together, if it is one. */
static bool find_parts(const struct v8_memory *memory, uint64_t string, uint64_t *first, uint64_t *second)
{
	const struct v8_heap *heap = memory->heap;
	uint16_t type;

	return v8_read_type(memory, string, &type) && type < heap->string_type_end &&
	       (type & heap->string_form_mask) == heap->form_cons &&
	       v8_read_word(memory, string, heap->cons_first, first) &&
	       v8_read_word(memory, string, heap->cons_second, second);
}

/* All parts of it. */
static bool read_parts(const struct v8_memory *memory, uint64_t string, char *text, size_t capacity)
{
	struct output out = { .text = text, .capacity = capacity };
	uint64_t left[STEPS_MAX] = { string }, first, second;
	size_t left_count = 1;
	struct run run;

	for (int step = 0; left_count && !out.is_full; step++) {
		string = left[--left_count];
		if (step == STEPS_MAX)
			return false;
		if (find_run(memory, string, &run)) {
			if (!put_run(memory, &run, &out))
				return false;
		} else if (left_count + 2 <= STEPS_MAX && find_parts(memory, string, &first, &second)) {
			left[left_count++] = second;
			left[left_count++] = first;
		} else {
			return false;
		}
	}
	text[out.length] = '\0';
	return true;
}

bool v8_string_read(const struct v8_memory *memory, uint64_t string, char *text, size_t capacity)
{
	int32_t integer;
	uint16_t type;

	text[0] = '\0';
	if (v8_integer(string, &integer))
		return true;
	if (!v8_read_type(memory, string, &type))
		return false;
	return type >= memory->heap->string_type_end || read_parts(memory, string, text, capacity);
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* Whether a line ends with a character; that a line feed follows a carriage return is one end. */
static bool ends_line(uint32_t character, uint32_t next)
{
	enum { LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR = 0x2029 };

	return character == '\n' || (character == '\r' && next != '\n') || character == LINE_SEPARATOR ||
	       character == PARAGRAPH_SEPARATOR;
}

bool v8_string_count_lines(const struct v8_memory *memory, uint64_t string, uint32_t position, uint32_t *count)
{
	uint32_t last = 0, some;
	struct run run;

	*count = 0;
	if (!find_run(memory, string, &run) || position > run.count ||
	    (uint64_t)position * run.character_bytes > COUNTED_BYTES_MAX)
		return false;
	for (uint32_t at = 0; at < position; at += some) {
		some = PIECE_BYTES / run.character_bytes;
		if (some > position - at)
			some = position - at;
		if (!memory->reader->read(memory->reader->data, run.address + (uint64_t)at * run.character_bytes, piece,
					  (size_t)some * run.character_bytes))
			return false;
		for (uint32_t i = 0; i < some; i++) {
			uint32_t character = character_at(i, run.character_bytes);

			*count += (at || i) && ends_line(last, character);
			last = character;
		}
	}
	/* What is at the position itself is not examined: it begins no function if it ends a line. */
	*count += position && ends_line(last, 0);
	return true;
}
