/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java/jvm_read.h"

#include <string.h>

enum { PAGE_BYTES = 4096, SEGMENT_BITS_MIN = 4, SEGMENT_BITS_MAX = 16 };

static const uint64_t heap_bytes_max = 1ull << 32;

struct reading {
	const struct jvm_memory *memory;
	const struct jvm_layout *layout;
};

static bool read_bytes(const struct reading *reading, uint64_t address, void *bytes, uint32_t size_bytes)
{
	struct memory_piece piece = { .address = address, .size_bytes = size_bytes };

	return reading->memory->read(reading->memory->data, &piece, 1, bytes) && piece.is_read;
}

static bool read_word(const struct reading *reading, uint64_t address, uint64_t *word)
{
	return read_bytes(reading, address, word, sizeof(*word));
}

static bool read_int(const struct reading *reading, uint64_t address, uint64_t *number)
{
	int32_t value;

	if (!read_bytes(reading, address, &value, sizeof(value)) || value < 0)
		return false;
	*number = value;
	return true;
}

static bool has_layout(const struct jvm_layout *layout)
{
	const bool *has = layout->has;

	for (enum jvm_field i = 0; i <= JVM_QUEUE_LIMIT; i++)
		if (!has[i] && i != JVM_BLOB_COMPLETE && i != JVM_BLOB_COMPLETE_SHORT && i != JVM_BLOB_CODE &&
		    i != JVM_BLOB_CODE_OFFSET)
			return false;
	for (enum jvm_field i = JVM_BLOCK_HEADER; i <= JVM_BLOB_CODE_OFFSET; i++)
		if (layout->at[i] >= PAGE_BYTES)
			return false;
	return has[JVM_BLOB_COMPLETE] != has[JVM_BLOB_COMPLETE_SHORT] &&
	       has[JVM_BLOB_CODE] != has[JVM_BLOB_CODE_OFFSET] && layout->size_bytes[JVM_BLOCK] &&
	       layout->size_bytes[JVM_BLOCK] < PAGE_BYTES;
}

static void put_layout(const struct reading *reading, struct jvm_process *process)
{
	const uint64_t *found = reading->layout->at;

	process->block_bytes = reading->layout->size_bytes[JVM_BLOCK];
	process->block_used = found[JVM_BLOCK_HEADER] + found[JVM_HEADER_USED];
	process->blob_frame = found[JVM_BLOB_FRAME];
	process->blob_complete = found[JVM_BLOB_COMPLETE] + found[JVM_BLOB_COMPLETE_SHORT];
	process->complete_bytes = reading->layout->has[JVM_BLOB_COMPLETE_SHORT] ? sizeof(int16_t) : sizeof(int32_t);
	process->blob_code = found[JVM_BLOB_CODE] + found[JVM_BLOB_CODE_OFFSET];
	process->is_code_offset = reading->layout->has[JVM_BLOB_CODE_OFFSET];
}

static enum jvm_result read_heap(const struct reading *reading, uint64_t address, struct jvm_process *process)
{
	const uint64_t *found = reading->layout->at;
	uint64_t memory = address + found[JVM_HEAP_MEMORY], begin, end, segments, bits;

	if (!read_word(reading, memory + found[JVM_SPACE_LOW], &begin) ||
	    !read_word(reading, memory + found[JVM_SPACE_HIGH], &end) ||
	    !read_word(reading, address + found[JVM_HEAP_SEGMENTS] + found[JVM_SPACE_LOW], &segments) ||
	    !read_int(reading, address + found[JVM_HEAP_BITS], &bits))
		return JVM_UNREADABLE;
	if (!begin || !segments)
		return JVM_NOT_READY;
	if (end <= begin || bits < SEGMENT_BITS_MIN || bits > SEGMENT_BITS_MAX ||
	    (process->heap_count && process->segment_bits != bits))
		return JVM_UNREADABLE;
	process->segment_bits = bits;
	process->heaps[process->heap_count++] = (struct jvm_heap){ begin, end, segments };
	return JVM_READ;
}

static enum jvm_result read_heaps(const struct reading *reading, struct jvm_process *process)
{
	const uint64_t *found = reading->layout->at;
	uint64_t array, count, data, heap;
	enum jvm_result result = JVM_READ;

	if (!read_word(reading, found[JVM_HEAPS], &array))
		return JVM_UNREADABLE;
	if (!array)
		return JVM_NOT_READY;
	if (!read_int(reading, array + found[JVM_ARRAY_LENGTH], &count) ||
	    !read_word(reading, array + found[JVM_ARRAY_DATA], &data))
		return JVM_UNREADABLE;
	if (!count || !data)
		return JVM_NOT_READY;
	if (count > JVM_HEAPS_MAX)
		return JVM_UNKNOWN;
	for (size_t i = 0; i < count && result == JVM_READ; i++)
		result = read_word(reading, data + i * sizeof(heap), &heap) ? read_heap(reading, heap, process)
									    : JVM_UNREADABLE;
	return result;
}

/* And how Java code is entered. */
static enum jvm_result read_interpreter(const struct reading *reading, struct jvm_process *process)
{
	uint64_t queue, begin, bytes, entry;

	if (!read_word(reading, reading->layout->at[JVM_INTERPRETER], &queue) ||
	    !read_word(reading, reading->layout->at[JVM_ENTRY], &entry))
		return JVM_UNREADABLE;
	if (!queue || !entry)
		return JVM_NOT_READY;
	if (!read_word(reading, queue + reading->layout->at[JVM_QUEUE_BUFFER], &begin) ||
	    !read_int(reading, queue + reading->layout->at[JVM_QUEUE_LIMIT], &bytes))
		return JVM_UNREADABLE;
	process->interpreter_begin = begin;
	process->interpreter_bytes = bytes;
	process->entry = entry;
	return bytes ? JVM_READ : JVM_NOT_READY;
}

/* What all heaps lie in. */
static bool put_bounds(struct jvm_process *process)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < process->heap_count; i++) {
		if (process->heaps[i].begin < begin)
			begin = process->heaps[i].begin;
		if (process->heaps[i].end > end)
			end = process->heaps[i].end;
	}
	process->begin = begin;
	process->bytes = end - begin;
	return process->bytes <= heap_bytes_max && process->interpreter_begin - begin < process->bytes &&
	       process->interpreter_bytes < process->bytes;
}

static enum jvm_result read_process(const struct reading *reading, struct jvm_process *process)
{
	enum jvm_result result;

	if (!has_layout(reading->layout))
		return JVM_UNKNOWN;
	put_layout(reading, process);
	result = read_heaps(reading, process);
	if (result == JVM_READ)
		result = read_interpreter(reading, process);
	if (result == JVM_READ && !put_bounds(process))
		result = JVM_UNREADABLE;
	return result;
}

void jvm_read(const struct jvm_memory *memory, const struct jvm_exports *exports, uint64_t bias,
	      struct jvm_layout *layout, struct jvm_answer *answer)
{
	const struct reading reading = { memory, layout };

	memset(answer, 0, sizeof(*answer));
	answer->result = jvm_layout_read(memory, exports, bias, layout);
	if (answer->result == JVM_READ)
		answer->result = read_process(&reading, &answer->process);
	if (answer->result != JVM_READ)
		memset(&answer->process, 0, sizeof(answer->process));
}
