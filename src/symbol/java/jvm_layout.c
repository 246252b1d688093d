/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java/jvm_layout.h"

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
};

/* As its versions name them; kind: NULL: whatever. */
static const struct {
	const char *type, *name, *kind;
	enum jvm_field field;
} fields[] = {
	{ "CodeCache", "_heaps", NULL, JVM_HEAPS },
	{ "GrowableArrayBase", "_len", "int", JVM_ARRAY_LENGTH },
	{ "GenericGrowableArray", "_len", "int", JVM_ARRAY_LENGTH },
	{ "GrowableArray<int>", "_data", NULL, JVM_ARRAY_DATA },
	{ "CodeHeap", "_memory", "VirtualSpace", JVM_HEAP_MEMORY },
	{ "CodeHeap", "_segmap", "VirtualSpace", JVM_HEAP_SEGMENTS },
	{ "CodeHeap", "_log2_segment_size", "int", JVM_HEAP_BITS },
	{ "VirtualSpace", "_low_boundary", NULL, JVM_SPACE_LOW },
	{ "VirtualSpace", "_high_boundary", NULL, JVM_SPACE_HIGH },
	{ "HeapBlock", "_header", NULL, JVM_BLOCK_HEADER },
	{ "HeapBlock::Header", "_used", "bool", JVM_HEADER_USED },
	{ "CodeBlob", "_frame_size", "int", JVM_BLOB_FRAME },
	{ "CodeBlob", "_frame_complete_offset", "int", JVM_BLOB_COMPLETE },
	{ "CodeBlob", "_frame_complete_offset", "int16_t", JVM_BLOB_COMPLETE_SHORT },
	{ "CodeBlob", "_code_begin", "address", JVM_BLOB_CODE },
	{ "CodeBlob", "_code_offset", "int", JVM_BLOB_CODE_OFFSET },
	{ "AbstractInterpreter", "_code", "StubQueue*", JVM_INTERPRETER },
	{ "StubRoutines", "_call_stub_return_address", "address", JVM_ENTRY },
	{ "StubQueue", "_stub_buffer", "address", JVM_QUEUE_BUFFER },
	{ "StubQueue", "_buffer_limit", "int", JVM_QUEUE_LIMIT },
	{ "CodeBlob", "_name", NULL, JVM_BLOB_NAME },
	{ "CompiledMethod", "_method", NULL, JVM_COMPILED_METHOD },
	{ "nmethod", "_method", NULL, JVM_COMPILED_METHOD },
	{ "CompiledMethod", "_scopes_data_begin", "address", JVM_COMPILED_SCOPES },
	{ "nmethod", "_metadata_offset", "int", JVM_COMPILED_METADATA },
	{ "nmethod", "_scopes_pcs_offset", "int", JVM_COMPILED_PLACES },
	{ "nmethod", "_dependencies_offset", "int", JVM_COMPILED_PLACES_END },
	{ "nmethod", "_immutable_data", "address", JVM_COMPILED_CONSTANT },
	{ "nmethod", "_scopes_data_offset", "int", JVM_COMPILED_SCOPES_OFFSET },
	{ "CodeBlob", "_mutable_data", "address", JVM_BLOB_MUTABLE },
	{ "CodeBlob", "_relocation_size", "int", JVM_BLOB_RELOCATION_BYTES },
	{ "PcDesc", "_pc_offset", "int", JVM_PLACE_CODE },
	{ "PcDesc", "_scope_decode_offset", "int", JVM_PLACE_SCOPE },
	{ "Method", "_constMethod", NULL, JVM_METHOD_CONST },
	{ "ConstMethod", "_constants", NULL, JVM_CONST_POOL },
	{ "ConstMethod", "_name_index", "u2", JVM_CONST_NAME },
	{ "ConstMethod", "_code_size", "u2", JVM_CONST_CODE_BYTES },
	{ "ConstMethod", "_flags", "u2", JVM_CONST_FLAGS },
	{ "ConstMethod", "_flags._flags", "u4", JVM_CONST_FLAGS },
	{ "ConstantPool", "_pool_holder", NULL, JVM_POOL_HOLDER },
	{ "ConstantPool", "_source_file_name_index", "u2", JVM_POOL_SOURCE },
	{ "InstanceKlass", "_source_file_name_index", "u2", JVM_HOLDER_SOURCE },
	{ "Klass", "_name", NULL, JVM_CLASS_NAME },
	{ "Symbol", "_length", NULL, JVM_SYMBOL_LENGTH },
	{ "Symbol", "_body", NULL, JVM_SYMBOL_TEXT },
	{ "Symbol", "_body[0]", NULL, JVM_SYMBOL_TEXT },
	{ "Abstract_VM_Version", "_vm_major_version", "int", JVM_VERSION },
};

static const char *const types[] = {
	[JVM_BLOCK] = "HeapBlock",
	[JVM_PLACE] = "PcDesc",
	[JVM_POOL] = "ConstantPool",
	[JVM_CONST] = "ConstMethod",
};

struct reading {
	const struct jvm_memory *memory;
	struct jvm_exports values; /* of the words that are exported */
	struct jvm_layout *layout;
	/* Types by where their names are, and whether we look for fields of them. */
	uint64_t types[TYPES_MAX];
	bool is_wanted[TYPES_MAX];
	size_t type_count;
	struct memory_piece pieces[MEMORY_PIECES_MAX];
	char strings[MEMORY_PIECES_MAX][STRING_BYTES];
	uint8_t table[TABLE_BYTES];
};

/* --- Tables ---------------------------------------------------------------------------------- */

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
		reading->layout->at[fields[i].field] =
			word_at(entry, is_static ? values->field_address : values->field_offset);
		reading->layout->has[fields[i].field] = true;
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

/* Of the type whose name is that string. */
static void note_size(struct reading *reading, size_t string, const uint8_t *entry)
{
	for (enum jvm_type i = 0; i < JVM_TYPES; i++)
		if (!strcmp(reading->strings[string], types[i]))
			reading->layout->size_bytes[i] = word_at(entry, reading->values.type_size);
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
		for (size_t i = 0; i < some; i++)
			note_size(reading, i, reading->table + (first + i) * values->type_bytes);
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

static enum jvm_result read_tables(struct reading *reading, const struct jvm_exports *exports, uint64_t bias)
{
	const struct jvm_exports *values = &reading->values;

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
	return JVM_READ;
}

enum jvm_result jvm_layout_read(const struct jvm_memory *memory, const struct jvm_exports *exports, uint64_t bias,
				struct jvm_layout *layout)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));
	enum jvm_result result;

	memset(layout, 0, sizeof(*layout));
	reading->memory = memory;
	reading->layout = layout;
	result = read_tables(reading, exports, bias);
	free(reading);
	return result;
}
