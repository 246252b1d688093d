/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A HotSpot machine's description of itself, as two of its versions make it, whole and damaged. */
#include "test.h"

#include <string.h>

#include "symbol/java/jvm_layout.h"
#include "symbol/java/jvm_read.h"

enum { MEMORY_BYTES = 1 << 16, ENTRY_BYTES = 48, TYPE_BYTES = 40 };

static const uint64_t base = 0x7f1200000000;

static uint8_t memory[MEMORY_BYTES];
static uint64_t used;
static uint64_t random_state;
static struct jvm_exports exports;

static uint64_t next_random(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 24;
}

static uint64_t put(const void *bytes, size_t size_bytes)
{
	uint64_t place = used;

	CHECK_THAT(used + size_bytes, <=, MEMORY_BYTES);
	memcpy(memory + used, bytes, size_bytes);
	used += (size_bytes + 7) & ~7ull;
	return base + place;
}

static uint64_t put_word(uint64_t word)
{
	return put(&word, sizeof(word));
}

static uint64_t put_string(const char *string)
{
	return put(string, strlen(string) + 1);
}

static void set_word(uint64_t address, uint64_t word)
{
	memcpy(memory + (address - base), &word, sizeof(word));
}

struct field {
	const char *type, *name, *kind;
	bool is_static;
	uint64_t value;
};

static uint64_t put_fields(const struct field *fields, size_t count)
{
	uint64_t entries[64][ENTRY_BYTES / 8] = { 0 };

	for (size_t i = 0; i < count; i++) {
		entries[i][0] = put_string(fields[i].type);
		entries[i][1] = put_string(fields[i].name);
		entries[i][2] = put_string(fields[i].kind);
		entries[i][3] = fields[i].is_static;
		entries[i][fields[i].is_static ? 5 : 4] = fields[i].value;
	}
	return put(entries, (count + 1) * ENTRY_BYTES);
}

static uint64_t put_types(void)
{
	static const struct {
		const char *name;
		uint64_t size;
	} types[] = { { "Klass", 200 }, { "HeapBlock::Header", 12 }, { "HeapBlock", 16 }, { "CodeBlob", 112 } };
	uint64_t entries[5][TYPE_BYTES / 8] = { 0 };

	for (size_t i = 0; i < 4; i++) {
		entries[i][0] = put_string(types[i].name);
		entries[i][4] = types[i].size;
	}
	return put(entries, sizeof(entries));
}

/* Two heaps; a heap has its memory at 8 and its map at 120. */
static uint64_t put_heap(uint64_t begin, uint64_t end, uint64_t segments)
{
	uint64_t words[32] = { 0 };

	words[1] = begin;
	words[2] = end;
	words[15] = segments;
	words[16] = segments + 0x10000;
	words[29] = 7;
	return put(words, sizeof(words));
}

enum { HEAP_A = 0x100000, HEAP_B = 0x180000, HEAP_END = 0x200000 };

static void make(bool is_new)
{
	uint64_t heaps[2], array[3], queue[4];
	uint64_t array_place, queue_place, entry_place;

	memset(memory, 0, sizeof(memory));
	used = 64;
	heaps[0] = put_heap(HEAP_B, HEAP_END, 0x50000);
	heaps[1] = put_heap(HEAP_A, HEAP_B, 0x60000);
	array[0] = 2;
	array[1] = put(heaps, sizeof(heaps));
	array_place = put_word(put(array, sizeof(array)));
	queue[0] = 0;
	queue[1] = HEAP_A + 0x100;
	queue[2] = 0x4000;
	queue_place = put_word(put(queue, sizeof(queue)));
	entry_place = put_word(HEAP_A + 0x8000);
	const struct field fields[] = {
		{ "Klass", "_name", "Symbol*", false, 16 },
		{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true, array_place },
		{ is_new ? "GrowableArrayBase" : "GenericGrowableArray", "_len", "int", false, 0 },
		{ "GrowableArray<int>", "_data", "int*", false, 8 },
		{ "CodeHeap", "_memory", "VirtualSpace", false, 8 },
		{ "CodeHeap", "_segmap", "VirtualSpace", false, 120 },
		{ "CodeHeap", "_log2_segment_size", "int", false, 232 },
		{ "VirtualSpace", "_low_boundary", "char*", false, 0 },
		{ "VirtualSpace", "_high_boundary", "char*", false, 8 },
		{ "HeapBlock", "_header", "HeapBlock::Header", false, 0 },
		{ "HeapBlock::Header", "_length", "size_t", false, 0 },
		{ "HeapBlock::Header", "_used", "bool", false, 8 },
		{ "CodeBlob", "_size", "int", false, 12 },
		{ "CodeBlob", "_frame_size", "int", false, 28 },
		{ "CodeBlob", "_frame_complete_offset", is_new ? "int16_t" : "int", false, 20 },
		{ "CodeBlob", is_new ? "_code_offset" : "_code_begin", is_new ? "int" : "address", false, 32 },
		{ "AbstractInterpreter", "_code", "StubQueue*", true, queue_place },
		{ "StubRoutines", "_call_stub_return_address", "address", true, entry_place },
		{ "StubQueue", "_stub_buffer", "address", false, 8 },
		{ "StubQueue", "_buffer_limit", "int", false, 16 },
	};
	exports.structs = put_word(put_fields(fields, sizeof(fields) / sizeof(*fields))) - base;
	exports.types = put_word(put_types()) - base;
	exports.field_bytes = put_word(ENTRY_BYTES) - base;
	exports.field_type = put_word(0) - base;
	exports.field_name = put_word(8) - base;
	exports.field_kind = put_word(16) - base;
	exports.field_is_static = put_word(24) - base;
	exports.field_offset = put_word(32) - base;
	exports.field_address = put_word(40) - base;
	exports.type_bytes = put_word(TYPE_BYTES) - base;
	exports.type_name = put_word(0) - base;
	exports.type_size = put_word(32) - base;
}

static bool read_memory(void *data __attribute__((unused)), struct memory_piece *pieces, size_t count, void *bytes)
{
	CHECK_THAT(count, <=, MEMORY_PIECES_MAX);
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = pieces[i].address - base;

		pieces[i].is_read = offset < sizeof(memory) && pieces[i].size_bytes <= sizeof(memory) - offset;
		memset(bytes, 0, pieces[i].size_bytes);
		if (pieces[i].is_read)
			memcpy(bytes, memory + offset, pieces[i].size_bytes);
		bytes = (char *)bytes + pieces[i].size_bytes;
	}
	return true;
}

static struct jvm_answer answer_now(void)
{
	const struct jvm_memory reader = { .read = read_memory };
	struct jvm_layout layout;
	struct jvm_answer answer;

	jvm_read(&reader, &exports, base, &layout, &answer);
	CHECK(jvm_answer_is_valid(&answer, sizeof(answer)));
	return answer;
}

TEST(two_versions_say_where_their_code_is)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		struct jvm_answer answer;
		const struct jvm_process *process = &answer.process;

		make(is_new);
		answer = answer_now();
		CHECK_EQUAL(answer.result, JVM_READ);
		CHECK_EQUAL(process->begin, HEAP_A);
		CHECK_EQUAL(process->bytes, HEAP_END - HEAP_A);
		CHECK_EQUAL(process->interpreter_begin, HEAP_A + 0x100);
		CHECK_EQUAL(process->interpreter_bytes, 0x4000);
		CHECK_EQUAL(process->entry, HEAP_A + 0x8000);
		CHECK_EQUAL(process->heap_count, 2);
		CHECK_EQUAL(process->heaps[0].begin, HEAP_B);
		CHECK_EQUAL(process->heaps[0].end, HEAP_END);
		CHECK_EQUAL(process->heaps[0].segments, 0x50000);
		CHECK_EQUAL(process->heaps[1].segments, 0x60000);
		CHECK_EQUAL(process->segment_bits, 7);
		CHECK_EQUAL(process->block_bytes, 16);
		CHECK_EQUAL(process->block_used, 8);
		CHECK_EQUAL(process->blob_frame, 28);
		CHECK_EQUAL(process->blob_complete, 20);
		CHECK_EQUAL(process->complete_bytes, is_new ? 2 : 4);
		CHECK_EQUAL(process->blob_code, 32);
		CHECK_EQUAL(process->is_code_offset, is_new);
	}
}

TEST(a_machine_that_has_only_begun_is_not_ready)
{
	struct jvm_answer answer;

	make(true);
	/* The array of heaps: the first static field's address is what the table has. */
	set_word(exports.structs + base, 0);
	answer = answer_now();
	CHECK_EQUAL(answer.result, JVM_NOT_READY);
}

TEST(a_damaged_description_gives_nothing_or_something_that_is_bounded)
{
	size_t results[JVM_UNREADABLE + 1] = { 0 };

	for (uint64_t seed = 1; seed <= 20000; seed++) {
		make(seed & 1);
		random_state = seed;
		for (size_t i = 1 + next_random() % 3; i--;) {
			if (next_random() % 2)
				memory[next_random() % used] = next_random();
			else
				set_word(base + next_random() % (used / 8) * 8, next_random() % 4 ? 0 : next_random());
		}
		results[answer_now().result]++;
	}
	for (size_t i = 0; i <= JVM_UNREADABLE; i++)
		CHECK_THAT(results[i], >, 0);
}
