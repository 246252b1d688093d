/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java/jvm_methods.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"

enum {
	METHODS_MAX = 8192,
	HOPS_MAX = 64,     /* in a map of segments */
	PLACES_MAX = 3200, /* of one method's code; 50 KB */
	PLACE_BYTES_MAX = 64,
	LINES_BYTES_MAX = 2048,
	BLOB_NAME_BYTES = 64,
	SYMBOL_BYTES_MAX = 512,
	SCOPE_BYTES = 32, /* of which what matters is the beginning */
	WORD = sizeof(uint64_t),
	HAS_LINES = 1, /* a flag of a method */
	LINE_IS_FULL = 0xff,
	VERSION_WITHOUT_ZEROS = 20, /* from which on no byte of a compressed number is 0 */
};

/* What is known of a method. */
struct method {
	uint64_t constant; /* address of what of it does not change */
	char *name, *file;
	uint8_t *lines; /* bytecodes' lines, compressed */
	uint32_t lines_bytes;
};

struct jvm_methods {
	struct jvm_layout layout;
	struct jvm_process process;
	const struct jvm_memory *memory; /* now */
	uint64_t version;                /* 0: not known, or not yet */
	struct table *known;             /* by address; owns them */
	uint8_t places[PLACES_MAX * PLACE_BYTES_MAX];
};

/* Code of a method. */
struct compiled {
	uint64_t blob, code;
	uint64_t method, scopes, metadata;
	uint64_t places;
	uint32_t place_count;
};

struct jvm_methods *jvm_methods_new(const struct jvm_layout *layout, const struct jvm_process *process)
{
	struct jvm_methods *methods = xcalloc(1, sizeof(*methods));

	methods->layout = *layout;
	methods->process = *process;
	methods->known = table_new();
	return methods;
}

static void method_free(struct method *method)
{
	free(method->name);
	free(method->file);
	free(method->lines);
	free(method);
}

static void forget_all(struct jvm_methods *methods)
{
	struct method *method;
	size_t cursor = 0;

	while ((method = table_next(methods->known, &cursor)))
		method_free(method);
	table_free(methods->known);
}

void jvm_methods_free(struct jvm_methods *methods)
{
	if (!methods)
		return;
	forget_all(methods);
	free(methods);
}

/* --- Memory ---------------------------------------------------------------------------------- */

static bool read_bytes(const struct jvm_methods *methods, uint64_t address, void *bytes, uint32_t size_bytes)
{
	struct memory_piece piece = { .address = address, .size_bytes = size_bytes };

	return methods->memory->read(methods->memory->data, &piece, 1, bytes) && piece.is_read;
}

static bool read_word(const struct jvm_methods *methods, uint64_t address, uint64_t *word)
{
	return read_bytes(methods, address, word, sizeof(*word));
}

/* The member of an object: a word, an int that is not negative, or 16 bits. */
static bool read_member(const struct jvm_methods *methods, uint64_t object, enum jvm_field field, uint64_t *word)
{
	return read_word(methods, object + methods->layout.at[field], word);
}

static bool read_int(const struct jvm_methods *methods, uint64_t object, enum jvm_field field, uint64_t *number)
{
	int32_t value;

	if (!read_bytes(methods, object + methods->layout.at[field], &value, sizeof(value)) || value < 0)
		return false;
	*number = value;
	return true;
}

static bool read_short(const struct jvm_methods *methods, uint64_t object, enum jvm_field field, uint16_t *number)
{
	return read_bytes(methods, object + methods->layout.at[field], number, sizeof(*number));
}

/* --- Compressed numbers ---------------------------------------------------------------------- */

struct stream {
	const uint8_t *bytes;
	uint32_t at, size_bytes;
	bool is_without_zeros;
};

/* OpenJDK: utilities/unsigned5.hpp: 1 to 5 bytes; those that others follow are the highest 64. */
static bool take_unsigned(struct stream *stream, uint32_t *number)
{
	uint32_t zero = stream->is_without_zeros, high = 192, value = 0;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t byte;

		if (stream->at >= stream->size_bytes)
			return false;
		byte = stream->bytes[stream->at++];
		if (byte < zero)
			return false;
		value += (byte - zero) << 6 * i;
		if (byte < high) {
			*number = value;
			return true;
		}
	}
	*number = value;
	return true;
}

static bool take_signed(struct stream *stream, int32_t *number)
{
	uint32_t value;

	if (!take_unsigned(stream, &value))
		return false;
	*number = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
	return true;
}

static struct stream stream_of(const struct jvm_methods *methods, const uint8_t *bytes, uint32_t size_bytes)
{
	return (struct stream){ bytes, 0, size_bytes, methods->version >= VERSION_WITHOUT_ZEROS };
}

/* --- A method -------------------------------------------------------------------------------- */

/* The text of a symbol, in text; false: it cannot be read or is too long. */
static bool read_symbol(const struct jvm_methods *methods, uint64_t symbol, char *text)
{
	uint16_t length;

	if (!read_short(methods, symbol, JVM_SYMBOL_LENGTH, &length) || length >= SYMBOL_BYTES_MAX ||
	    !read_bytes(methods, symbol + methods->layout.at[JVM_SYMBOL_TEXT], text, length))
		return false;
	text[length] = '\0';
	return strlen(text) == length;
}

/* A symbol in a pool of constants. */
static bool read_constant(const struct jvm_methods *methods, uint64_t pool, uint16_t index, char *text)
{
	uint64_t symbol;

	return index &&
	       read_word(methods, pool + methods->layout.size_bytes[JVM_POOL] + (uint64_t)index * WORD, &symbol) &&
	       read_symbol(methods, symbol & ~1ull, text);
}

/* As programs spell it: "java.util.ArrayList"; classes that are made at run time without the address in their names. */
static void spell_class(char *name)
{
	char *address = strstr(name, "/0x");

	if (!address)
		address = strstr(name, "+0x");
	if (address)
		*address = '\0';
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
}

/* The source file of a class; empty: unknown. */
static void read_file(const struct jvm_methods *methods, uint64_t pool, uint64_t holder, char *file)
{
	const bool *has = methods->layout.has;
	uint16_t index = 0;
	bool is_read = false;

	if (has[JVM_POOL_SOURCE])
		is_read = read_short(methods, pool, JVM_POOL_SOURCE, &index);
	else if (has[JVM_HOLDER_SOURCE])
		is_read = read_short(methods, holder, JVM_HOLDER_SOURCE, &index);
	if (!is_read || !read_constant(methods, pool, index, file))
		*file = '\0';
}

static void read_lines(const struct jvm_methods *methods, struct method *method)
{
	uint16_t code_bytes, flags;
	uint8_t lines[LINES_BYTES_MAX];
	uint64_t begin;

	if (!methods->layout.has[JVM_CONST_FLAGS] || !read_short(methods, method->constant, JVM_CONST_FLAGS, &flags) ||
	    !(flags & HAS_LINES) || !read_short(methods, method->constant, JVM_CONST_CODE_BYTES, &code_bytes))
		return;
	begin = method->constant + methods->layout.size_bytes[JVM_CONST] + code_bytes;
	/* How many there are is not known. */
	for (uint32_t size_bytes = LINES_BYTES_MAX; size_bytes >= WORD; size_bytes /= 2) {
		if (!read_bytes(methods, begin, lines, size_bytes))
			continue;
		method->lines = memcpy(xcalloc(1, size_bytes), lines, size_bytes);
		method->lines_bytes = size_bytes;
		return;
	}
}

static struct method *read_method(const struct jvm_methods *methods, uint64_t constant)
{
	char name[SYMBOL_BYTES_MAX], type[SYMBOL_BYTES_MAX], file[SYMBOL_BYTES_MAX];
	uint64_t pool, holder, symbol;
	struct method *method;
	size_t size_bytes;
	uint16_t index;

	if (!read_member(methods, constant, JVM_CONST_POOL, &pool) ||
	    !read_short(methods, constant, JVM_CONST_NAME, &index) || !read_constant(methods, pool, index, name) ||
	    !read_member(methods, pool, JVM_POOL_HOLDER, &holder) ||
	    !read_member(methods, holder, JVM_CLASS_NAME, &symbol) || !read_symbol(methods, symbol, type))
		return NULL;
	spell_class(type);
	read_file(methods, pool, holder, file);
	method = xcalloc(1, sizeof(*method));
	method->constant = constant;
	size_bytes = strlen(type) + 1 + strlen(name) + 1;
	method->name = xcalloc(1, size_bytes);
	strcpy(method->name, type);
	strcat(method->name, ".");
	strcat(method->name, name);
	method->file = xstrdup(file);
	read_lines(methods, method);
	return method;
}

/* Another class may have been loaded in its place. */
static const struct method *find_method(struct jvm_methods *methods, uint64_t address)
{
	struct method *method = table_find(methods->known, address);
	uint64_t constant;

	if (!address || !read_member(methods, address, JVM_METHOD_CONST, &constant))
		return NULL;
	if (method && method->constant == constant)
		return method;
	if (method)
		method_free(table_take(methods->known, address));
	if (table_count(methods->known) >= METHODS_MAX) {
		forget_all(methods);
		methods->known = table_new();
	}
	method = read_method(methods, constant);
	if (method)
		table_put(methods->known, address, method);
	return method;
}

/* Of a bytecode; 0: unknown. (OpenJDK: code/compressedStream.hpp, oops/method.cpp, CompressedLineNumberReadStream) */
static uint32_t line_of(const struct jvm_methods *methods, const struct method *method, int32_t bytecode)
{
	struct stream stream = stream_of(methods, method->lines, method->lines_bytes);
	int32_t at = 0, line = 0, best = -1, found = 0;

	while (stream.at < stream.size_bytes && stream.bytes[stream.at]) {
		uint8_t byte = stream.bytes[stream.at++];
		int32_t more = byte >> 3, lines = byte & 7;

		if (byte == LINE_IS_FULL && (!take_signed(&stream, &more) || !take_signed(&stream, &lines)))
			return 0;
		at = (int32_t)((uint32_t)at + more);
		line = (int32_t)((uint32_t)line + lines);
		if (at <= bytecode && at > best) {
			best = at;
			found = line;
		}
	}
	return found > 0 ? found : 0;
}

/* --- Its code -------------------------------------------------------------------------------- */

/* As bpf/unwind_jvm.h does. 0: it is in no block that is used. */
static uint64_t find_block(const struct jvm_methods *methods, uint64_t address)
{
	const struct jvm_process *process = &methods->process;
	const struct jvm_heap *heap = NULL;
	uint64_t segment;
	uint8_t hop;

	for (uint32_t i = 0; i < process->heap_count; i++)
		if (address >= process->heaps[i].begin && address < process->heaps[i].end)
			heap = &process->heaps[i];
	if (!heap)
		return 0;
	segment = (address - heap->begin) >> process->segment_bits;
	for (int i = 0; i < HOPS_MAX; i++) {
		if (!read_bytes(methods, heap->segments + segment, &hop, 1) || hop == JVM_SEGMENT_IS_FREE ||
		    hop > segment)
			return 0;
		if (!hop)
			return heap->begin + (segment << process->segment_bits);
		segment -= hop;
	}
	return 0;
}

static bool is_used(const struct jvm_methods *methods, uint64_t block)
{
	uint8_t used;

	return block && read_bytes(methods, block + methods->process.block_used, &used, 1) && used;
}

/* "nmethod", "native nmethod"; else it is a stub's name. Empty: it cannot be read. */
static void read_blob_name(const struct jvm_methods *methods, uint64_t blob, char name[BLOB_NAME_BYTES])
{
	uint64_t address;

	memset(name, 0, BLOB_NAME_BYTES);
	if (!read_member(methods, blob, JVM_BLOB_NAME, &address))
		return;
	/* How long it is is not known. */
	for (uint32_t size_bytes = BLOB_NAME_BYTES - 1; size_bytes >= WORD; size_bytes /= 2)
		if (read_bytes(methods, address, name, size_bytes))
			return;
}

static bool find_code(const struct jvm_methods *methods, uint64_t blob, uint64_t *code)
{
	uint64_t offset;

	if (!methods->process.is_code_offset)
		return read_word(methods, blob + methods->process.blob_code, code);
	if (!read_int(methods, blob, JVM_BLOB_CODE_OFFSET, &offset))
		return false;
	*code = blob + offset;
	return true;
}

static bool is_in_blocks(const struct jvm_layout *layout)
{
	return layout->has[JVM_COMPILED_CONSTANT] && layout->has[JVM_COMPILED_SCOPES_OFFSET] &&
	       layout->has[JVM_BLOB_MUTABLE] && layout->has[JVM_BLOB_RELOCATION_BYTES];
}

static bool is_in_blob(const struct jvm_layout *layout)
{
	return layout->has[JVM_COMPILED_SCOPES] && layout->has[JVM_COMPILED_METADATA] &&
	       layout->has[JVM_COMPILED_PLACES_END];
}

/* Where its description lies; places: how far in. */
static bool find_in_blob(const struct jvm_methods *methods, uint64_t places, struct compiled *compiled, uint64_t *end)
{
	uint64_t blob = compiled->blob, metadata, places_end;

	if (!read_member(methods, blob, JVM_COMPILED_SCOPES, &compiled->scopes) ||
	    !read_int(methods, blob, JVM_COMPILED_METADATA, &metadata) ||
	    !read_int(methods, blob, JVM_COMPILED_PLACES_END, &places_end))
		return false;
	compiled->metadata = blob + metadata;
	compiled->places = blob + places;
	*end = blob + places_end;
	return true;
}

static bool find_in_blocks(const struct jvm_methods *methods, uint64_t places, struct compiled *compiled, uint64_t *end)
{
	uint64_t blob = compiled->blob, constant, scopes, variable, relocation_bytes;

	if (!read_member(methods, blob, JVM_COMPILED_CONSTANT, &constant) ||
	    !read_int(methods, blob, JVM_COMPILED_SCOPES_OFFSET, &scopes) ||
	    !read_member(methods, blob, JVM_BLOB_MUTABLE, &variable) ||
	    !read_int(methods, blob, JVM_BLOB_RELOCATION_BYTES, &relocation_bytes))
		return false;
	compiled->metadata = variable + relocation_bytes;
	compiled->places = constant + places;
	compiled->scopes = constant + scopes;
	*end = compiled->scopes;
	return true;
}

static bool read_compiled(const struct jvm_methods *methods, uint64_t blob, struct compiled *compiled)
{
	const struct jvm_layout *layout = &methods->layout;
	uint64_t places, end;

	compiled->blob = blob;
	if (!find_code(methods, blob, &compiled->code) ||
	    !read_member(methods, blob, JVM_COMPILED_METHOD, &compiled->method) ||
	    !read_int(methods, blob, JVM_COMPILED_PLACES, &places) ||
	    !(is_in_blocks(layout) ? find_in_blocks(methods, places, compiled, &end)
				   : find_in_blob(methods, places, compiled, &end)) ||
	    end < compiled->places || (end - compiled->places) / layout->size_bytes[JVM_PLACE] > UINT32_MAX)
		return false;
	compiled->place_count = (end - compiled->places) / layout->size_bytes[JVM_PLACE];
	return true;
}

/* Where the scope of an address begins that lies so far in the code; 0: none is known. */
static uint32_t find_scope(struct jvm_methods *methods, const struct compiled *compiled, uint64_t offset)
{
	uint32_t size_bytes = methods->layout.size_bytes[JVM_PLACE];
	uint32_t count = compiled->place_count < PLACES_MAX ? compiled->place_count : PLACES_MAX;

	if (!read_bytes(methods, compiled->places, methods->places, count * size_bytes))
		return 0;
	/* They are in the order of the code; the first and the last are none. */
	for (uint32_t i = 1; i + 1 < count; i++) {
		const uint8_t *place = methods->places + i * size_bytes;
		int32_t code, scope;

		memcpy(&code, place + methods->layout.at[JVM_PLACE_CODE], sizeof(code));
		memcpy(&scope, place + methods->layout.at[JVM_PLACE_SCOPE], sizeof(scope));
		if (code >= 0 && (uint64_t)code >= offset)
			return scope > 0 ? scope : 0;
	}
	return 0;
}

struct scope {
	uint32_t caller; /* where the caller's begins; 0: there is none */
	uint64_t method;
	int32_t bytecode; /* -1: where it is entered */
};

static bool read_scope(const struct jvm_methods *methods, const struct compiled *compiled, uint32_t at,
		       struct scope *scope)
{
	uint8_t bytes[SCOPE_BYTES];
	uint32_t index, bytecode;
	struct stream stream;

	if (!read_bytes(methods, compiled->scopes + at, bytes, sizeof(bytes)))
		return false;
	stream = stream_of(methods, bytes, sizeof(bytes));
	if (!take_unsigned(&stream, &scope->caller) || !take_unsigned(&stream, &index) ||
	    !take_unsigned(&stream, &bytecode) || !index ||
	    !read_word(methods, compiled->metadata + (uint64_t)(index - 1) * WORD, &scope->method))
		return false;
	scope->bytecode = (int32_t)bytecode - 1;
	return true;
}

/* --- The answer ------------------------------------------------------------------------------ */

/* 0: there is no space, or no text. */
static uint32_t put_text(struct answer *answer, const char *text)
{
	uint32_t size_bytes = strlen(text) + 1, at = answer->text_bytes;

	if (size_bytes == 1 || size_bytes > sizeof(answer->text) - at)
		return 0;
	memcpy(answer->text + at, text, size_bytes);
	answer->text_bytes += size_bytes;
	return at;
}

/* False: there is no space for it. */
static bool put_frame(struct jvm_methods *methods, uint64_t address, int32_t bytecode, struct answer *answer)
{
	const struct method *method = find_method(methods, address);
	uint32_t function;

	if (!method || answer->frame_count >= SYMBOL_INLINE_MAX)
		return false;
	function = put_text(answer, method->name);
	if (!function)
		return false;
	answer->frames[answer->frame_count].function = function;
	answer->frames[answer->frame_count].file = put_text(answer, method->file);
	answer->frames[answer->frame_count++].line = line_of(methods, method, bytecode < 0 ? 0 : bytecode);
	return true;
}

static bool has_layout(const struct jvm_layout *layout)
{
	static const enum jvm_field needed[] = {
		JVM_BLOB_NAME,    JVM_COMPILED_METHOD, JVM_COMPILED_PLACES, JVM_PLACE_CODE,       JVM_PLACE_SCOPE,
		JVM_METHOD_CONST, JVM_CONST_POOL,      JVM_CONST_NAME,      JVM_CONST_CODE_BYTES, JVM_POOL_HOLDER,
		JVM_CLASS_NAME,   JVM_SYMBOL_LENGTH,   JVM_SYMBOL_TEXT,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!layout->has[needed[i]])
			return false;
	return (is_in_blob(layout) || is_in_blocks(layout)) && layout->size_bytes[JVM_PLACE] >= sizeof(uint64_t) &&
	       layout->size_bytes[JVM_PLACE] <= PLACE_BYTES_MAX &&
	       layout->at[JVM_PLACE_CODE] + sizeof(int32_t) <= layout->size_bytes[JVM_PLACE] &&
	       layout->at[JVM_PLACE_SCOPE] + sizeof(int32_t) <= layout->size_bytes[JVM_PLACE] &&
	       layout->size_bytes[JVM_POOL] && layout->size_bytes[JVM_CONST];
}

static bool begin_answer(struct jvm_methods *methods, const struct jvm_memory *memory, struct answer *answer)
{
	memset(answer, 0, offsetof(struct answer, text));
	answer->text[0] = '\0';
	answer->text_bytes = 1;
	methods->memory = memory;
	if (!methods->version && methods->layout.has[JVM_VERSION] &&
	    !read_int(methods, 0, JVM_VERSION, &methods->version))
		methods->version = 0;
	return has_layout(&methods->layout);
}

bool jvm_methods_of_interpreter(struct jvm_methods *methods, const struct jvm_memory *memory, uint64_t address,
				struct answer *answer)
{
	return begin_answer(methods, memory, answer) && put_frame(methods, address, 0, answer);
}

static bool put_stub(const char *name, struct answer *answer)
{
	uint32_t function = put_text(answer, name);

	if (!function)
		return false;
	answer->frames[answer->frame_count++].function = function;
	return true;
}

bool jvm_methods_find(struct jvm_methods *methods, const struct jvm_memory *memory, uint64_t address,
		      struct answer *answer)
{
	char name[BLOB_NAME_BYTES];
	struct compiled compiled;
	uint64_t block, blob;
	struct scope scope;
	uint32_t at;

	if (!begin_answer(methods, memory, answer))
		return false;
	block = find_block(methods, address);
	blob = block + methods->process.block_bytes;
	if (!is_used(methods, block))
		return false;
	read_blob_name(methods, blob, name);
	if (!strstr(name, "nmethod"))
		return put_stub(name, answer);
	if (!read_compiled(methods, blob, &compiled) || address < compiled.code)
		return false;
	answer->function_offset = compiled.code;
	for (at = find_scope(methods, &compiled, address - compiled.code);
	     at && read_scope(methods, &compiled, at, &scope) && scope.caller < at &&
	     put_frame(methods, scope.method, scope.bytecode, answer);
	     at = scope.caller)
		;
	/* A part of them is worse than the outermost alone. */
	if (at) {
		answer->frame_count = 0;
		answer->text_bytes = 1;
	}
	return answer->frame_count || put_frame(methods, compiled.method, -1, answer);
}
