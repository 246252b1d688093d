/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/python_codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "symbol/names.h"
#include "symbol/notes.h"
#include "symbol/python/python_lines.h"
#include "symbol/worker/worker.h"
#include "values.h"

enum {
	CODES_MAX = 262144,
	UNREADABLE_MAX = 65536,
	TABLES_BYTES_MAX = 32 << 20, /* beyond it functions have their first line only */
};

static const uint64_t look_again_ns = 1000000000ull;

/* A code object or the like, and those that had its address before. */
struct code {
	struct code *next; /* of the same hash, later ones first */
	uint32_t space;
	uint32_t table_bytes;
	uint64_t address;
	uint64_t from_ns, seen_ns;
	uint64_t identity;
	uint32_t first_line;
	uint32_t first_index; /* as space.MANAGED_CODE has it */
	enum managed_language language;
	const char *function, *file;
	const uint8_t *table;
	uint64_t hash;
};

struct python_codes {
	struct session *session;
	struct worker *worker;
	struct names *names;
	struct notes *notes;
	struct arena *arena;
	struct table *by_hash;
	struct table *unreadable; /* by process + 1 */
	size_t count, tables_bytes_left;
};

struct python_codes *python_codes_new(struct session *session, struct worker *worker, struct names *names,
				      struct notes *notes)
{
	struct python_codes *codes = xcalloc(1, sizeof(*codes));

	codes->session = session;
	codes->worker = worker;
	codes->names = names;
	codes->notes = notes;
	codes->arena = arena_new();
	codes->by_hash = table_new();
	codes->unreadable = table_new();
	codes->tables_bytes_left = TABLES_BYTES_MAX;
	return codes;
}

void python_codes_free(struct python_codes *codes)
{
	if (!codes)
		return;
	arena_free(codes->arena);
	table_free(codes->by_hash);
	table_free(codes->unreadable);
	free(codes);
}

static uint64_t address_of(uint64_t frame)
{
	return (frame & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT;
}

static uint64_t key_of(uint32_t space, uint64_t address)
{
	return hash_u64(address ^ hash_u64(space));
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
		hash = (hash ^ (unsigned char)*string++) * 0x100000001b3ull; /* FNV-1a */
	return hash_u64(hash);
}

static const uint8_t *keep_table(struct python_codes *codes, const void *table, size_t size_bytes)
{
	if (!size_bytes || size_bytes > codes->tables_bytes_left)
		return NULL;
	codes->tables_bytes_left -= size_bytes;
	return memcpy(arena_alloc(codes->arena, size_bytes), table, size_bytes);
}

/* The caller fills in the rest; NULL: there are too many. */
static struct code *code_add(struct python_codes *codes, uint32_t space, uint64_t address, uint64_t time_ns)
{
	struct code *code;

	if (codes->count >= CODES_MAX)
		return NULL;
	code = arena_alloc(codes->arena, sizeof(*code));
	*code = (struct code){
		.next = table_find(codes->by_hash, key_of(space, address)),
		.space = space,
		.address = address,
		.from_ns = time_ns,
		.seen_ns = time_ns,
	};
	table_put(codes->by_hash, key_of(space, address), code);
	codes->count++;
	return code;
}

/* text: of an event, name and file with their NULs and the table, as many bytes of each. */
static void set_text(struct python_codes *codes, struct code *code, const char *text, size_t name_bytes,
		     size_t file_bytes)
{
	code->function = names_get(codes->names, text);
	code->file = file_bytes ? names_get(codes->names, text + name_bytes) : NULL;
	code->table = keep_table(codes, text + name_bytes + file_bytes, code->table_bytes);
	code->hash = mix_string(mix_string(code->first_line, code->function), code->file);
}

void python_codes_add(struct python_codes *codes, uint32_t space, const struct ev_space_python_code *e)
{
	struct code *code = code_add(codes, space, e->address, e->header.time_ns);

	if (!code)
		return;
	code->language = MANAGED_PYTHON;
	code->identity = e->identity;
	code->first_line = e->first_line;
	code->table_bytes = e->table_bytes;
	set_text(codes, code, e->function, e->function_bytes, e->file_bytes);
}

void python_codes_add_managed(struct python_codes *codes, uint32_t space, const struct ev_space_managed_code *e)
{
	struct code *code = code_add(codes, space, e->address, e->header.time_ns);

	if (!code)
		return;
	code->language = e->language;
	code->identity = e->identity;
	code->first_line = e->first_line;
	code->first_index = e->first_index;
	code->table_bytes = e->table_bytes;
	set_text(codes, code, e->function, e->function_bytes, e->file_bytes);
}

/* What is read of a process is an event like others: whoever has no process gets it nevertheless. */
static void hand_out_python(struct python_codes *codes, const struct python_question *question,
			    const struct python_answer *answer)
{
	uint32_t data_bytes = answer->function_bytes + answer->file_bytes + answer->table_bytes;
	struct ev_space_python_code *recorded = xcalloc(1, sizeof(*recorded) + data_bytes);

	*recorded = (struct ev_space_python_code){
		.header = { .time_ns = session_time_ns(codes->session),
			    .subsys = TRACE_SUBSYS_SPACE,
			    .event = TRACE_EVENT_SPACE_PYTHON_CODE },
		.pid = question->pid,
		.first_line = answer->first_line,
		.address = question->address,
		.identity = answer->identity,
		.function_bytes = answer->function_bytes,
		.file_bytes = answer->file_bytes,
		.table_bytes = answer->table_bytes,
	};
	memcpy(recorded->function, answer->data, data_bytes);
	session_hand_out(codes->session, &recorded->header);
	free(recorded);
}

static void hand_out_managed(struct python_codes *codes, const struct python_question *question,
			     const struct python_answer *answer)
{
	uint32_t data_bytes = answer->function_bytes + answer->file_bytes + answer->table_bytes;
	struct ev_space_managed_code *recorded = xcalloc(1, sizeof(*recorded) + data_bytes);

	*recorded = (struct ev_space_managed_code){
		.header = { .time_ns = session_time_ns(codes->session),
			    .subsys = TRACE_SUBSYS_SPACE,
			    .event = TRACE_EVENT_SPACE_MANAGED_CODE },
		.pid = question->pid,
		.first_line = answer->first_line,
		.address = question->address,
		.identity = answer->identity,
		.first_index = answer->first_index,
		.function_bytes = answer->function_bytes,
		.file_bytes = answer->file_bytes,
		.table_bytes = answer->table_bytes,
		.language = question->language,
	};
	memcpy(recorded->function, answer->data, data_bytes);
	session_hand_out(codes->session, &recorded->header);
	free(recorded);
}

/* Of what is all a user's, a note tells already. */
static void give_up(struct python_codes *codes, uint32_t pid, enum managed_language language, int err)
{
	const char *name = language == MANAGED_RUBY ? "Ruby" : "Python";

	if (err == -EDQUOT)
		notes_add(codes->notes,
			  "reading the memory of process %u took too long: some of its %s functions have no names", pid,
			  name);
	else if (err != -EACCES)
		notes_add(codes->notes, "the memory of process %u cannot be read: its %s functions have no names", pid,
			  name);
	if (table_count(codes->unreadable) < UNREADABLE_MAX)
		table_put(codes->unreadable, (uint64_t)pid + 1, codes);
}

void python_codes_look(struct python_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
		       struct managed_version version, uint64_t frame)
{
	uint64_t index = frame & STACK_MANAGED_INDEX;
	struct python_question question = {
		.language = version.language,
		.pid = pid,
		.version = version.number,
		.address = address_of(frame),
		.index = version.language == MANAGED_PYTHON && index == STACK_MANAGED_INDEX ? ~0u : index,
	};
	struct code *code = code_find(codes, space, question.address);
	const struct python_answer *answer;
	int err;

	if ((code && time_ns < code->seen_ns + look_again_ns) || codes->count >= CODES_MAX ||
	    table_find(codes->unreadable, (uint64_t)pid + 1))
		return;
	if (code) {
		question.identity = code->identity;
		code->seen_ns = time_ns; /* whatever the answer is, a second later is soon enough */
	}
	err = worker_ask_python(codes->worker, &question, &answer);
	if (err == -ETIMEDOUT || err == -ECHILD || err == -EDQUOT || err == -EACCES)
		give_up(codes, pid, version.language, err);
	if (!err && answer->kind == PYTHON_IS_NEW && version.language == MANAGED_PYTHON)
		hand_out_python(codes, &question, answer);
	else if (!err && answer->kind == PYTHON_IS_NEW)
		hand_out_managed(codes, &question, answer);
}

/* The line of a frame with this index. */
static uint32_t line_of(const struct code *code, uint32_t index)
{
	if (code->language == MANAGED_RUBY) {
		/* It has the next instruction. */
		index = (index - code->first_index) & STACK_MANAGED_INDEX;
		index -= index > 0;
	} else if (index == STACK_MANAGED_INDEX) {
		return code->first_line;
	}
	return code->table ? python_line_find(code->table, code->table_bytes, code->first_line, index)
			   : code->first_line;
}

bool python_codes_find(const struct python_codes *codes, uint32_t space, uint64_t time_ns, uint64_t frame,
		       struct python_place *place)
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
		.language = code->language,
		.function = code->function,
		.file = code->file,
		.hash = code->hash,
		.first_line = code->first_line,
		.line = line_of(code, index),
	};
	return true;
}
