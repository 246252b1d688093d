/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Methods of compiled code, inlined into each other, as a HotSpot machine describes them to debuggers: whole and damaged. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "symbol/answer/answer.h"
#include "symbol/java/jvm_methods.h"

enum {
	MEMORY_BYTES = 1 << 18,
	SEGMENT_BITS = 7,
	HEAP_BYTES = 1 << 16,
	BLOCK_BYTES = 16,
	METHODS = 12,
	SCOPES = 40,
	PLACES = 60,
	PLACE_BYTES = 16,
	POOL_BYTES = 72,
	CONST_BYTES = 56,
	CODE = 256, /* in a blob */
};

static const uint64_t base = 0x7f1200000000;

static uint8_t memory[MEMORY_BYTES];
static uint64_t used;
static uint64_t random_state;

struct model_method {
	uint64_t address;
	char name[96], file[32];
	uint32_t first_line; /* a line more for each 3 bytes of bytecode */
};

struct model_scope {
	uint32_t at; /* in the stream */
	const struct model_scope *caller;
	size_t method;
	int32_t bytecode;
};

static struct model_method methods[METHODS];
static struct model_scope scopes[SCOPES];
static struct {
	int32_t code;
	const struct model_scope *scope;
} places[PLACES];
static uint64_t heap, blob, stub, version_place;
static uint32_t version;

static uint64_t next_random(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 24;
}

static uint64_t below(uint64_t limit)
{
	return next_random() % limit;
}

static void set(uint64_t address, const void *bytes, size_t size_bytes)
{
	CHECK_THAT(address - base + size_bytes, <=, MEMORY_BYTES);
	memcpy(memory + (address - base), bytes, size_bytes);
}

static void set_text(uint64_t address, const char *text)
{
	set(address, text, strlen(text) + 1);
}

static void set_word(uint64_t address, uint64_t word)
{
	set(address, &word, sizeof(word));
}

static void set_int(uint64_t address, int32_t value)
{
	set(address, &value, sizeof(value));
}

static void set_short(uint64_t address, uint16_t value)
{
	set(address, &value, sizeof(value));
}

static uint64_t reserve(size_t size_bytes)
{
	uint64_t address = base + used;

	used += (size_bytes + 7) & ~7ull;
	CHECK_THAT(used, <=, MEMORY_BYTES);
	return address;
}

/* --- What the machine writes ------------------------------------------------------------------ */

static uint64_t put_symbol(const char *text)
{
	uint64_t symbol = reserve(6 + strlen(text));

	set_short(symbol + 4, strlen(text));
	set(symbol + 6, text, strlen(text));
	return symbol;
}

/* OpenJDK: Method::_constMethod at 8; ConstMethod: pool 8, flags 20, bytes of code 40, name 42; pool: holder 24. */
static const struct jvm_layout layout = {
	.at = {
		[JVM_BLOB_NAME] = 0,
		[JVM_BLOB_CODE] = 8,
		[JVM_COMPILED_METHOD] = 16,
		[JVM_COMPILED_SCOPES] = 24,
		[JVM_COMPILED_METADATA] = 32,
		[JVM_COMPILED_PLACES] = 36,
		[JVM_COMPILED_PLACES_END] = 40,
		[JVM_COMPILED_CONSTANT] = 48,
		[JVM_COMPILED_SCOPES_OFFSET] = 56,
		[JVM_BLOB_MUTABLE] = 64,
		[JVM_BLOB_RELOCATION_BYTES] = 72,
		[JVM_PLACE_CODE] = 0,
		[JVM_PLACE_SCOPE] = 4,
		[JVM_METHOD_CONST] = 8,
		[JVM_CONST_POOL] = 8,
		[JVM_CONST_FLAGS] = 20,
		[JVM_CONST_CODE_BYTES] = 40,
		[JVM_CONST_NAME] = 42,
		[JVM_POOL_HOLDER] = 24,
		[JVM_POOL_SOURCE] = 32,
		[JVM_CLASS_NAME] = 16,
		[JVM_SYMBOL_LENGTH] = 4,
		[JVM_SYMBOL_TEXT] = 6,
	},
	.size_bytes = { [JVM_BLOCK] = BLOCK_BYTES, [JVM_PLACE] = PLACE_BYTES, [JVM_POOL] = POOL_BYTES, [JVM_CONST] = CONST_BYTES },
};

/* OpenJDK: UNSIGNED5, before and since version 20. */
static uint32_t put_number(uint64_t address, uint32_t number)
{
	uint32_t zero = version >= 20, low = 192 - zero, count = 0;

	for (;; number = (number - low) >> 6) {
		uint8_t byte = number < low || count == 4 ? number : low + ((number - low) & 63);

		byte += zero;
		set(address + count++, &byte, 1);
		if (number < low || count == 5)
			return count;
	}
}

static uint32_t put_signed(uint64_t address, int32_t number)
{
	return put_number(address, (uint32_t)number << 1 ^ (uint32_t)(number >> 31));
}

/* Lines by bytecode, in either form of a pair. */
static void put_lines(uint64_t address, uint32_t first_line, uint32_t code_bytes)
{
	int32_t line = 0, at = 0;

	for (uint32_t code = 0; code < code_bytes; code += 3) {
		int32_t more = (int32_t)code - at, lines = (int32_t)(first_line + code / 3) - line;
		uint8_t byte = more << 3 | lines;

		if (lines < 0 || lines > 7 || byte == 0 || byte == 0xff || below(4) == 0) {
			byte = 0xff;
			set(address++, &byte, 1);
			address += put_signed(address, more);
			address += put_signed(address, lines);
		} else {
			set(address++, &byte, 1);
		}
		at = code;
		line = first_line + code / 3;
	}
	set(address, "", 1);
}

static void put_method(size_t i)
{
	uint64_t method = reserve(64), constant = reserve(CONST_BYTES + 60 + 512), pool = reserve(POOL_BYTES + 64),
		 holder = reserve(64);
	struct model_method *model = &methods[i];
	char type[64], name[16];

	snprintf(type, sizeof(type), "shop/Class%zu%s", i, i % 3 ? "" : "$$Lambda$7/0x0000000800c03000");
	snprintf(name, sizeof(name), i % 4 ? "work%zu" : "<init>", i);
	snprintf(model->name, sizeof(model->name), "shop.Class%zu%s.%s", i, i % 3 ? "" : "$$Lambda$7", name);
	snprintf(model->file, sizeof(model->file), "Class%zu.java", i);
	model->address = method;
	model->first_line = 1 + below(3000);
	set_word(method + 8, constant);
	set_word(constant + 8, pool);
	set_short(constant + 20, 1);
	set_short(constant + 40, 60);
	set_short(constant + 42, 2);
	put_lines(constant + CONST_BYTES + 60, model->first_line, 60);
	set_word(pool + 24, holder);
	set_short(pool + 32, 3);
	set_word(pool + POOL_BYTES + 2 * 8, put_symbol(name));
	set_word(pool + POOL_BYTES + 3 * 8, put_symbol(model->file));
	set_word(holder + 16, put_symbol(type));
}

static void put_block(uint64_t first, uint64_t count)
{
	uint8_t hop = 0, is_used = 1;

	for (uint64_t i = first; i < first + count; i++) {
		set(base + i, &hop, 1);
		hop = hop == 0xfe ? 1 : hop + 1;
	}
	set(heap + (first << SEGMENT_BITS) + 8, &is_used, 1);
}

static void put_scopes(uint64_t stream)
{
	uint32_t at = 1;

	for (size_t i = 0; i < SCOPES; i++) {
		struct model_scope *scope = &scopes[i];

		scope->at = at;
		scope->caller = i && below(4) ? &scopes[below(i)] : NULL;
		scope->method = below(METHODS);
		scope->bytecode = (int32_t)below(61) - 1;
		at += put_number(stream + at, scope->caller ? scope->caller->at : 0);
		at += put_number(stream + at, 1 + scope->method);
		at += put_number(stream + at, scope->bytecode + 1);
		at += below(200); /* of locals */
	}
}

static void put_places(uint64_t address)
{
	int32_t code = 0;

	set_int(address, -1);
	for (size_t i = 0; i < PLACES; i++) {
		code += 1 + below(40);
		places[i].code = code;
		places[i].scope = &scopes[below(SCOPES)];
		set_int(address + (1 + i) * PLACE_BYTES, code);
		set_int(address + (1 + i) * PLACE_BYTES + 4, places[i].scope->at);
	}
	set_int(address + (1 + PLACES) * PLACE_BYTES, INT32_MAX);
}

/* The map of segments, a heap with a method's code and a stub, and what the code is of. */
static void make(uint64_t seed)
{
	uint64_t stream, constant, name, segments = HEAP_BYTES >> SEGMENT_BITS;

	random_state = seed;
	version = (const uint32_t[]){ 17, 21, 25 }[seed % 3];
	memset(memory, 0, sizeof(memory));
	used = 0;
	reserve(segments);
	memset(memory, JVM_SEGMENT_IS_FREE, segments);
	heap = reserve(HEAP_BYTES);
	put_block(3, 400);
	put_block(420, 20);
	blob = heap + (3ull << SEGMENT_BITS) + BLOCK_BYTES;
	stub = heap + (420ull << SEGMENT_BITS) + BLOCK_BYTES;
	for (size_t i = 0; i < METHODS; i++)
		put_method(i);
	version_place = reserve(8);
	set_int(version_place, version);
	name = reserve(16);
	set_text(name, below(2) ? "nmethod" : "native nmethod");
	constant = reserve(4 * PLACES * PLACE_BYTES + (32 << 10));
	stream = constant + 40 + (2 + PLACES) * PLACE_BYTES;
	put_scopes(stream);
	set_word(blob, name);
	set_word(blob + 8, blob + CODE);
	set_word(blob + 16, methods[5].address);
	set_word(blob + 24, stream);
	set_int(blob + 32, 8192);
	set_int(blob + 36, version < 22 ? 16384 : 40);
	set_int(blob + 40, 16384 + (2 + PLACES) * PLACE_BYTES);
	set_word(blob + 48, constant);
	set_int(blob + 56, stream - constant);
	set_word(blob + 64, blob + 8000);
	set_int(blob + 72, 192);
	for (size_t i = 0; i < METHODS; i++)
		set_word(blob + 8192 + i * 8, methods[i].address);
	put_places(version < 22 ? blob + 16384 : constant + 40);
	name = reserve(32);
	set_text(name, "StubRoutines (1)");
	set_word(stub, name);
}

/* --- What is read ------------------------------------------------------------------------------ */

static bool read_memory(void *data __attribute__((unused)), struct memory_piece *pieces, size_t count, void *bytes)
{
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

static const struct jvm_memory reader = { .read = read_memory };
static struct answer answer;

static struct jvm_methods *open_machine(void)
{
	struct jvm_process process = {
		.begin = heap,
		.bytes = HEAP_BYTES,
		.heaps = { { heap, heap + HEAP_BYTES, base } },
		.heap_count = 1,
		.segment_bits = SEGMENT_BITS,
		.block_bytes = BLOCK_BYTES,
		.block_used = 8,
		.blob_code = 8,
	};
	struct jvm_layout whole = layout;

	memset(whole.has, true, sizeof(whole.has));
	whole.has[version < 22 ? JVM_COMPILED_CONSTANT : JVM_COMPILED_SCOPES] = false;
	whole.at[JVM_VERSION] = version_place;
	return jvm_methods_new(&whole, &process);
}

static bool find(struct jvm_methods *machine, uint64_t address)
{
	bool is_found = jvm_methods_find(machine, &reader, address, &answer);

	CHECK(answer_is_valid(&answer, offsetof(struct answer, text) + answer.text_bytes));
	CHECK_EQUAL(is_found, answer.frame_count > 0);
	return is_found;
}

static void check_frame(size_t i, size_t method, int32_t bytecode)
{
	const struct model_method *model = &methods[method];
	uint32_t code = bytecode < 0 ? 0 : bytecode > 57 ? 57 : bytecode;

	CHECK_STRING(answer.text + answer.frames[i].function, model->name);
	CHECK_STRING(answer.text + answer.frames[i].file, model->file);
	CHECK_EQUAL(answer.frames[i].line, model->first_line + code / 3);
}

TEST(each_place_has_the_methods_that_were_inlined_there)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct jvm_methods *machine;

		make(seed);
		machine = open_machine();
		for (size_t i = 0; i < PLACES; i++) {
			int32_t before = i ? places[i - 1].code : 0;
			uint64_t offset = places[i].code - below(places[i].code - before);
			size_t depth = 0;

			CHECK(find(machine, blob + CODE + offset));
			CHECK_EQUAL(answer.function_offset, blob + CODE);
			for (const struct model_scope *scope = places[i].scope; scope; scope = scope->caller)
				depth++;
			if (depth > SYMBOL_INLINE_MAX) {
				CHECK_EQUAL(answer.frame_count, 1);
				check_frame(0, 5, 0);
				continue;
			}
			CHECK_EQUAL(answer.frame_count, depth);
			depth = 0;
			for (const struct model_scope *scope = places[i].scope; scope; scope = scope->caller)
				check_frame(depth++, scope->method, scope->bytecode);
		}
		jvm_methods_free(machine);
	}
}

TEST(behind_the_last_place_the_code_is_its_methods_and_a_stub_has_its_name)
{
	struct jvm_methods *machine;

	make(1);
	machine = open_machine();
	CHECK(find(machine, blob + CODE + places[PLACES - 1].code + 1));
	CHECK_EQUAL(answer.frame_count, 1);
	check_frame(0, 5, 0);
	CHECK(find(machine, stub + 500));
	CHECK_STRING(answer.text + answer.frames[0].function, "StubRoutines (1)");
	CHECK(!find(machine, heap + 64));
	CHECK(!find(machine, heap + HEAP_BYTES));
	CHECK(!find(machine, blob + CODE - 1));
	jvm_methods_free(machine);
}

TEST(a_method_that_is_interpreted_has_the_line_where_it_begins)
{
	struct jvm_methods *machine;

	make(2);
	machine = open_machine();
	for (size_t i = 0; i < METHODS; i++) {
		CHECK(jvm_methods_of_interpreter(machine, &reader, methods[i].address, &answer));
		CHECK_EQUAL(answer.frame_count, 1);
		check_frame(0, i, 0);
	}
	CHECK(!jvm_methods_of_interpreter(machine, &reader, 0, &answer));
	jvm_methods_free(machine);
}

TEST(another_method_in_the_place_of_one_is_read_again)
{
	struct jvm_methods *machine;
	uint64_t constant;

	make(3);
	machine = open_machine();
	CHECK(jvm_methods_of_interpreter(machine, &reader, methods[1].address, &answer));
	memcpy(&constant, memory + (methods[2].address + 8 - base), sizeof(constant));
	set_word(methods[1].address + 8, constant);
	CHECK(jvm_methods_of_interpreter(machine, &reader, methods[1].address, &answer));
	check_frame(0, 2, 0);
	jvm_methods_free(machine);
}

TEST(damaged_memory_gives_nothing_or_an_answer_that_is_whole)
{
	size_t results[2] = { 0 };

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct jvm_methods *machine;

		make(seed);
		machine = open_machine();
		for (size_t i = 1 + below(20); i--;)
			if (below(2))
				memory[below(used)] = next_random();
			else
				set_word(base + below(used / 8) * 8, below(3) ? next_random() : 0);
		for (size_t i = 0; i < 20; i++)
			results[find(machine, blob + CODE + below(2500))]++;
		jvm_methods_free(machine);
	}
	CHECK_THAT(results[0], >, 0);
	CHECK_THAT(results[1], >, 0);
}
