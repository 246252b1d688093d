/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/python_codes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/names.h"
#include "symbol/python_code.h"
#include "symbol/python_lines.h"
#include "values.h"

enum {
	CODES_MAX = 262144,
	TABLES_BYTES_MAX = 32 << 20,	/* beyond it functions have their first line only */
};

static const uint64_t look_again_ns = 1000000000ull;

/* A code object, and those that had its address before. */
struct code {
	struct code *next;		/* of the same hash, later ones first */
	uint32_t space;
	uint32_t table_bytes;
	uint64_t address;
	uint64_t from_ns, seen_ns;
	uint64_t identity;
	uint32_t first_line;
	const char *function, *file;
	const uint8_t *table;
	uint64_t hash;
};

struct python_codes {
	struct names *names;
	struct arena *arena;
	struct table *by_hash;
	struct python_code *scratch;
	struct ev_space_python_code *told;	/* with room for all that scratch can hold */
	size_t count, tables_bytes_left;
};

struct python_codes *python_codes_new(struct names *names)
{
	struct python_codes *codes = xcalloc(1, sizeof(*codes));

	codes->names = names;
	codes->arena = arena_new();
	codes->by_hash = table_new();
	codes->scratch = xcalloc(1, sizeof(*codes->scratch));
	codes->told = xcalloc(1, sizeof(*codes->told) + sizeof(*codes->scratch));
	codes->tables_bytes_left = TABLES_BYTES_MAX;
	return codes;
}

void python_codes_free(struct python_codes *codes)
{
	if (!codes)
		return;
	arena_free(codes->arena);
	table_free(codes->by_hash);
	free(codes->scratch);
	free(codes->told);
	free(codes);
}

static bool read_process(void *data, uint64_t address, void *bytes, size_t size_bytes)
{
	struct iovec local = { bytes, size_bytes }, remote = { (void *)address, size_bytes };

	return process_vm_readv(*(const uint32_t *)data, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size_bytes;
}

static uint64_t address_of(uint64_t frame)
{
	return (frame & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT;
}

static uint64_t key_of(uint32_t space, uint64_t address)
{
	return hash_u64(address ^ hash_u64(space));
}

static uint64_t identity_of(const struct python_code_key *key)
{
	uint64_t hash = hash_u64(key->name ^ hash_u64(key->file ^ hash_u64(key->table)));

	return hash_u64(hash ^ hash_u64(key->unit_count ^ hash_u64(key->first_line)));
}

/* The latest at an address. */
static struct code *code_find(const struct python_codes *codes, uint32_t space, uint64_t address)
{
	struct code *code = table_find(codes->by_hash, key_of(space, address));

	while (code && (code->space != space || code->address != address))
		code = code->next;
	return code;
}

static uint64_t mix_string(uint64_t hash, const char *string)
{
	while (string && *string)
		hash = (hash ^ (unsigned char)*string++) * 0x100000001b3ull;	/* FNV-1a */
	return hash_u64(hash);
}

static const uint8_t *keep_table(struct python_codes *codes, const struct ev_space_python_code *e)
{
	const uint8_t *table = e->data + e->function_bytes + e->file_bytes;

	if (!e->table_bytes || e->table_bytes > codes->tables_bytes_left)
		return NULL;
	codes->tables_bytes_left -= e->table_bytes;
	return memcpy(arena_alloc(codes->arena, e->table_bytes), table, e->table_bytes);
}

void python_codes_add(struct python_codes *codes, uint32_t space,
		      const struct ev_space_python_code *e)
{
	const char *function = (const char *)e->data;
	struct code *code;

	if (codes->count >= CODES_MAX)
		return;
	code = arena_alloc(codes->arena, sizeof(*code));
	*code = (struct code){
		.next = table_find(codes->by_hash, key_of(space, e->address)),
		.space = space, .address = e->address,
		.from_ns = e->header.time_ns, .seen_ns = e->header.time_ns,
		.identity = e->identity, .first_line = e->first_line,
		.function = names_get(codes->names, function),
		.file = e->file_bytes ? names_get(codes->names, function + e->function_bytes) : NULL,
		.table = keep_table(codes, e), .table_bytes = e->table_bytes,
	};
	code->hash = mix_string(mix_string(code->first_line, code->function), code->file);
	table_put(codes->by_hash, key_of(space, e->address), code);
	codes->count++;
}

/* From what was read into scratch. */
static const struct ev_space_python_code *tell(struct python_codes *codes, uint32_t pid,
					       uint64_t time_ns, uint64_t address,
					       const struct python_code_key *key)
{
	const struct python_code *read = codes->scratch;
	struct ev_space_python_code *told = codes->told;

	*told = (struct ev_space_python_code){
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_SPACE,
			    .event = TRACE_EVENT_SPACE_PYTHON_CODE },
		.pid = pid, .first_line = key->first_line, .address = address,
		.identity = identity_of(key), .function_bytes = strlen(read->name) + 1,
		.file_bytes = strlen(read->file) + 1, .table_bytes = read->table_bytes,
	};
	memcpy(told->data, read->name, told->function_bytes);
	memcpy(told->data + told->function_bytes, read->file, told->file_bytes);
	memcpy(told->data + told->function_bytes + told->file_bytes, read->table,
	       read->table_bytes);
	return told;
}

const struct ev_space_python_code *python_codes_look(struct python_codes *codes, uint32_t pid,
						     uint32_t space, uint64_t time_ns,
						     const struct python_version *version,
						     uint64_t frame)
{
	struct python_memory memory = { read_process, &pid };
	uint64_t address = address_of(frame), index = frame & STACK_MANAGED_INDEX;
	struct code *code = code_find(codes, space, address);
	struct python_code_key key;

	if (code && time_ns < code->seen_ns + look_again_ns)
		return NULL;
	if (!python_code_read_key(&memory, &version->code, address, &key))
		return NULL;
	/* The code object was freed, and its memory is something else. */
	if (index != STACK_MANAGED_INDEX && index >= key.unit_count)
		return NULL;
	if (code && code->identity == identity_of(&key)) {
		code->seen_ns = time_ns;
		return NULL;
	}
	if (codes->count >= CODES_MAX ||
	    !python_code_read(&memory, &version->code, &key, codes->scratch))
		return NULL;
	return tell(codes, pid, time_ns, address, &key);
}

bool python_codes_find(const struct python_codes *codes, uint32_t space, uint64_t time_ns,
		       uint64_t frame, struct python_place *place)
{
	uint64_t address = address_of(frame);
	uint32_t index = frame & STACK_MANAGED_INDEX;
	const struct code *code = NULL, *other = code_find(codes, space, address);

	/* What is asked about a time before the first one gets the first. */
	for (; other; other = other->next) {
		if (other->space != space || other->address != address)
			continue;
		code = other;
		if (code->from_ns <= time_ns)
			break;
	}
	if (!code || !code->function)
		return false;
	*place = (struct python_place){
		.function = code->function, .file = code->file, .hash = code->hash,
		.first_line = code->first_line, .line = code->first_line,
	};
	if (code->table && index != STACK_MANAGED_INDEX)
		place->line = python_line_find(code->table, code->table_bytes,
					       code->first_line, index);
	return true;
}
