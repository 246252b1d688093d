/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java/jvm_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	STRING_BYTES = 32, /* names that are longer are none of ours */
	PAGE_BYTES = 4096,
	TABLE_BYTES = 14 * PAGE_BYTES, /* at once */
	ENTRY_BYTES_MAX = 256,
	ENTRIES_MAX = 16384,
	TYPES_MAX = 2048,
	SEGMENT_BITS_MIN = 4,
	SEGMENT_BITS_MAX = 16,
};

static const uint64_t heap_bytes_max = 1ull << 32;

/* What is looked for in the tables. */
enum field {
	HEAPS,
	ARRAY_LENGTH,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_SEGMENTS,
	HEAP_BITS,
	SPACE_LOW,
	SPACE_HIGH,
	BLOCK_HEADER,
	HEADER_USED,
	BLOB_FRAME,
	BLOB_COMPLETE,
	BLOB_COMPLETE_SHORT, /* the same, in 2 bytes */
	BLOB_CODE,
	BLOB_CODE_OFFSET, /* the same, as an offset */
	INTERPRETER,
	ENTRY,
	QUEUE_BUFFER,
	QUEUE_LIMIT,
	FIELDS,
};

/* As its versions name them; kind: NULL: whatever. */
static const struct {
	const char *type, *name, *kind;
	enum field field;
} fields[] = {
	{ "CodeCache", "_heaps", NULL, HEAPS },
	{ "GrowableArrayBase", "_len", "int", ARRAY_LENGTH },
	{ "GenericGrowableArray", "_len", "int", ARRAY_LENGTH },
	{ "GrowableArray<int>", "_data", NULL, ARRAY_DATA },
	{ "CodeHeap", "_memory", "VirtualSpace", HEAP_MEMORY },
	{ "CodeHeap", "_segmap", "VirtualSpace", HEAP_SEGMENTS },
	{ "CodeHeap", "_log2_segment_size", "int", HEAP_BITS },
	{ "VirtualSpace", "_low_boundary", NULL, SPACE_LOW },
	{ "VirtualSpace", "_high_boundary", NULL, SPACE_HIGH },
	{ "HeapBlock", "_header", NULL, BLOCK_HEADER },
	{ "HeapBlock::Header", "_used", "bool", HEADER_USED },
	{ "CodeBlob", "_frame_size", "int", BLOB_FRAME },
	{ "CodeBlob", "_frame_complete_offset", "int", BLOB_COMPLETE },
	{ "CodeBlob", "_frame_complete_offset", "int16_t", BLOB_COMPLETE_SHORT },
	{ "CodeBlob", "_code_begin", "address", BLOB_CODE },
	{ "CodeBlob", "_code_offset", "int", BLOB_CODE_OFFSET },
	{ "AbstractInterpreter", "_code", "StubQueue*", INTERPRETER },
	{ "StubRoutines", "_call_stub_return_address", "address", ENTRY },
	{ "StubQueue", "_stub_buffer", "address", QUEUE_BUFFER },
	{ "StubQueue", "_buffer_limit", "int", QUEUE_LIMIT },
};

static const char block_type[] = "HeapBlock";

struct reading {
	const struct jvm_memory *memory;
	struct jvm_exports values; /* of the words that are exported */
	uint64_t found[FIELDS];    /* offsets; of static ones the address */
	bool is_found[FIELDS];
	uint64_t block_bytes; /* 0: not found */
	/* Types by where their names are, and whether we look for fields of them. */
	uint64_t types[TYPES_MAX];
	bool is_wanted[TYPES_MAX];
	size_t type_count;
	struct memory_piece pieces[MEMORY_PIECES_MAX];
	char strings[MEMORY_PIECES_MAX][STRING_BYTES];
	uint8_t table[TABLE_BYTES];
};

/* --- Memory ---------------------------------------------------------------------------------- */

static bool read_bytes(struct reading *reading, uint64_t address, void *bytes, uint32_t size_bytes)
{
	reading->pieces[0] = (struct memory_piece){ .address = address, .size_bytes = size_bytes };
	return reading->memory->read(reading->memory->data, reading->pieces, 1, bytes) && reading->pieces[0].is_read;
}

static bool read_word(struct reading *reading, uint64_t address, uint64_t *word)
{
	return read_bytes(reading, address, word, sizeof(*word));
}

static bool read_int(struct reading *reading, uint64_t address, uint64_t *number)
{
	int32_t value;

	if (!read_bytes(reading, address, &value, sizeof(value)) || value < 0)
		return false;
	*number = value;
	return true;
}

/* Strings, into reading->strings: empty ones where there is nothing to be read. At most MEMORY_PIECES_MAX. */
static bool read_strings(struct reading *reading, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		reading->pieces[i] = (struct memory_piece){ .address = addresses[i], .size_bytes = STRING_BYTES };
	if (!reading->memory->read(reading->memory->data, reading->pieces, count, reading->strings))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!reading->pieces[i].is_read || !memchr(reading->strings[i], '\0', STRING_BYTES))
			reading->strings[i][0] = '\0';
	}
	return true;
}

/* --- Tables ---------------------------------------------------------------------------------- */

static uint64_t word_at(const uint8_t *entry, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, entry + offset, sizeof(word));
	return word;
}

/* The next entries of a table, as many as fit; what cannot be read is zeros, as the entry at the end is. */
static size_t read_entries(struct reading *reading, uint64_t address, uint64_t entry_bytes)
{
	size_t count = TABLE_BYTES / PAGE_BYTES;

	for (size_t i = 0; i < count; i++)
		reading->pieces[i] = (struct memory_piece){ address + i * PAGE_BYTES, PAGE_BYTES, 0 };
	if (!reading->memory->read(reading->memory->data, reading->pieces, count, reading->table))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (!reading->pieces[i].is_read)
			memset(reading->table + i * PAGE_BYTES, 0, PAGE_BYTES);
	return TABLE_BYTES / entry_bytes;
}

/* Calls on_entries with the table's entries, some at a time, until there are no more or it has seen enough. */
static bool each_entries(struct reading *reading, uint64_t address, uint64_t entry_bytes, uint64_t name_offset,
			 bool (*on_entries)(struct reading *reading, size_t count))
{
	for (size_t done = 0; done < ENTRIES_MAX;) {
		size_t count = read_entries(reading, address + done * entry_bytes, entry_bytes), i = 0;

		while (i < count && word_at(reading->table + i * entry_bytes, name_offset))
			i++;
		if (i && !on_entries(reading, i))
			return false;
		if (!count || i < count)
			return true;
		done += i;
	}
	return true;
}

static size_t type_find(const struct reading *reading, uint64_t address)
{
	size_t i = 0;

	while (i < reading->type_count && reading->types[i] != address)
		i++;
	return i;
}

static bool is_wanted(const char *type)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].type, type))
			return true;
	return false;
}

/* The names of types that the entries have, which are few. */
static bool read_types(struct reading *reading, size_t count)
{
	size_t first = reading->type_count;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = reading->table + i * reading->values.field_bytes;
		uint64_t name = word_at(entry, reading->values.field_type);

		if (type_find(reading, name) < reading->type_count)
			continue;
		if (reading->type_count == TYPES_MAX)
			return false;
		reading->types[reading->type_count++] = name;
	}
	while (first < reading->type_count) {
		size_t some = reading->type_count - first;

		if (some > MEMORY_PIECES_MAX)
			some = MEMORY_PIECES_MAX;
		if (!read_strings(reading, reading->types + first, some))
			return false;
		for (size_t i = 0; i < some; i++)
			reading->is_wanted[first + i] = is_wanted(reading->strings[i]);
		first += some;
	}
	return true;
}

/* Of an entry for a field of a type that is wanted. */
static bool take_field(struct reading *reading, const uint8_t *entry)
{
	const struct jvm_exports *values = &reading->values;
	const uint64_t names[] = { word_at(entry, values->field_type), word_at(entry, values->field_name),
				   word_at(entry, values->field_kind) };
	bool is_static = word_at(entry, values->field_is_static) & UINT32_MAX;

	if (!read_strings(reading, names, 3))
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strcmp(fields[i].type, reading->strings[0]) || strcmp(fields[i].name, reading->strings[1]) ||
		    (fields[i].kind && strcmp(fields[i].kind, reading->strings[2])))
			continue;
		reading->found[fields[i].field] =
			word_at(entry, is_static ? values->field_address : values->field_offset);
		reading->is_found[fields[i].field] = true;
	}
	return true;
}

static bool on_fields(struct reading *reading, size_t count)
{
	const struct jvm_exports *values = &reading->values;

	if (!read_types(reading, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = reading->table + i * values->field_bytes;
		size_t type = type_find(reading, word_at(entry, values->field_type));

		if (reading->is_wanted[type] && !take_field(reading, entry))
			return false;
	}
	return true;
}

static bool on_types(struct reading *reading, size_t count)
{
	const struct jvm_exports *values = &reading->values;
	uint64_t names[MEMORY_PIECES_MAX];

	for (size_t first = 0; first < count; first += MEMORY_PIECES_MAX) {
		size_t some = count - first < MEMORY_PIECES_MAX ? count - first : MEMORY_PIECES_MAX;

		for (size_t i = 0; i < some; i++)
			names[i] = word_at(reading->table + (first + i) * values->type_bytes, values->type_name);
		if (!read_strings(reading, names, some))
			return false;
		for (size_t i = 0; i < some; i++) {
			if (strcmp(reading->strings[i], block_type))
				continue;
			reading->block_bytes =
				word_at(reading->table + (first + i) * values->type_bytes, values->type_size);
			return true;
		}
	}
	return true;
}

/* --- What they say --------------------------------------------------------------------------- */

static bool read_exports(struct reading *reading, const struct jvm_exports *exports, uint64_t bias)
{
	const uint64_t *addresses = (const uint64_t *)exports;
	size_t count = sizeof(*exports) / sizeof(*addresses);

	for (size_t i = 0; i < count; i++)
		reading->pieces[i] = (struct memory_piece){ addresses[i] + bias, sizeof(uint64_t), 0 };
	if (!reading->memory->read(reading->memory->data, reading->pieces, count, &reading->values))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!reading->pieces[i].is_read)
			return false;
	return true;
}

/* Whether an entry holds a word at each of these offsets. */
static bool are_within(uint64_t entry_bytes, const uint64_t *offsets, size_t count)
{
	if (entry_bytes < sizeof(uint64_t) || entry_bytes > ENTRY_BYTES_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (offsets[i] > entry_bytes - sizeof(uint64_t))
			return false;
	return true;
}

static bool exports_make_sense(const struct jvm_exports *values)
{
	const uint64_t field[] = { values->field_type,      values->field_name,   values->field_kind,
				   values->field_is_static, values->field_offset, values->field_address };
	const uint64_t type[] = { values->type_name, values->type_size };

	return are_within(values->field_bytes, field, sizeof(field) / sizeof(*field)) &&
	       are_within(values->type_bytes, type, sizeof(type) / sizeof(*type));
}

static bool has_layout(const struct reading *reading)
{
	const bool *is_found = reading->is_found;

	for (enum field i = 0; i < FIELDS; i++)
		if (!is_found[i] && i != BLOB_COMPLETE && i != BLOB_COMPLETE_SHORT && i != BLOB_CODE &&
		    i != BLOB_CODE_OFFSET)
			return false;
	for (enum field i = BLOCK_HEADER; i <= BLOB_CODE_OFFSET; i++)
		if (reading->found[i] >= PAGE_BYTES)
			return false;
	return is_found[BLOB_COMPLETE] != is_found[BLOB_COMPLETE_SHORT] &&
	       is_found[BLOB_CODE] != is_found[BLOB_CODE_OFFSET] && reading->block_bytes &&
	       reading->block_bytes < PAGE_BYTES;
}

static void put_layout(const struct reading *reading, struct jvm_process *process)
{
	const uint64_t *found = reading->found;

	process->block_bytes = reading->block_bytes;
	process->block_used = found[BLOCK_HEADER] + found[HEADER_USED];
	process->blob_frame = found[BLOB_FRAME];
	process->blob_complete = found[BLOB_COMPLETE] + found[BLOB_COMPLETE_SHORT];
	process->complete_bytes = reading->is_found[BLOB_COMPLETE_SHORT] ? sizeof(int16_t) : sizeof(int32_t);
	process->blob_code = found[BLOB_CODE] + found[BLOB_CODE_OFFSET];
	process->is_code_offset = reading->is_found[BLOB_CODE_OFFSET];
}

static enum jvm_result read_heap(struct reading *reading, uint64_t address, struct jvm_process *process)
{
	const uint64_t *found = reading->found;
	uint64_t memory = address + found[HEAP_MEMORY], begin, end, segments, bits;

	if (!read_word(reading, memory + found[SPACE_LOW], &begin) ||
	    !read_word(reading, memory + found[SPACE_HIGH], &end) ||
	    !read_word(reading, address + found[HEAP_SEGMENTS] + found[SPACE_LOW], &segments) ||
	    !read_int(reading, address + found[HEAP_BITS], &bits))
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

static enum jvm_result read_heaps(struct reading *reading, struct jvm_process *process)
{
	const uint64_t *found = reading->found;
	uint64_t array, count, data, heap;
	enum jvm_result result = JVM_READ;

	if (!read_word(reading, found[HEAPS], &array))
		return JVM_UNREADABLE;
	if (!array)
		return JVM_NOT_READY;
	if (!read_int(reading, array + found[ARRAY_LENGTH], &count) ||
	    !read_word(reading, array + found[ARRAY_DATA], &data))
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
static enum jvm_result read_interpreter(struct reading *reading, struct jvm_process *process)
{
	uint64_t queue, begin, bytes, entry;

	if (!read_word(reading, reading->found[INTERPRETER], &queue) ||
	    !read_word(reading, reading->found[ENTRY], &entry))
		return JVM_UNREADABLE;
	if (!queue || !entry)
		return JVM_NOT_READY;
	if (!read_word(reading, queue + reading->found[QUEUE_BUFFER], &begin) ||
	    !read_int(reading, queue + reading->found[QUEUE_LIMIT], &bytes))
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

static enum jvm_result read_all(struct reading *reading, const struct jvm_exports *exports, uint64_t bias,
				struct jvm_process *process)
{
	const struct jvm_exports *values = &reading->values;
	enum jvm_result result;

	if (!read_exports(reading, exports, bias))
		return JVM_UNREADABLE;
	/* What the library says of itself takes effect when it has been loaded. */
	if (!values->structs || !values->types)
		return JVM_NOT_READY;
	if (!exports_make_sense(values))
		return JVM_UNKNOWN;
	if (!each_entries(reading, values->structs, values->field_bytes, values->field_type, on_fields) ||
	    !each_entries(reading, values->types, values->type_bytes, values->type_name, on_types))
		return JVM_UNREADABLE;
	if (!has_layout(reading))
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
	      struct jvm_answer *answer)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	memset(answer, 0, sizeof(*answer));
	reading->memory = memory;
	answer->result = read_all(reading, exports, bias, &answer->process);
	if (answer->result != JVM_READ)
		memset(&answer->process, 0, sizeof(answer->process));
	free(reading);
}
