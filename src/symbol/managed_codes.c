/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/managed_codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"
#include "symbol/python/python_layout.h"
#include "symbol/python/python_lines.h"
#include "symbol/ruby/ruby_layout.h"
#include "symbol/worker/worker.h"
#include "values.h"

enum {
	CODES_MAX = 262144,
	UNREADABLE_MAX = 65536,
	TABLES_BYTES_MAX = 32 << 20, /* beyond it functions have their first line only */
	MISSED_MAX = 256,
	TRIES_MAX = 5,
};

static const uint64_t look_again_ns = 1000000000ull, try_again_ns = 10000000;

/* A function of JavaScript that could not be read: the garbage collector may have been moving what it has. */
struct missed {
	uint32_t pid, space;
	uint64_t frame;
	struct managed_runtimes runtimes;
	uint64_t next_ns; /* when it is tried again */
	uint32_t tries;
};

/* A function, and those that had its address before. */
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

struct managed_codes {
	struct session *session;
	struct worker *worker;
	struct names *names;
	struct notes *notes;
	struct arena *arena;
	struct table *by_hash;
	struct table *spaces;     /* by space + 1: those that have functions here */
	struct table *unreadable; /* by process + 1 */
	size_t count, tables_bytes_left;
	struct missed missed[MISSED_MAX];
	size_t missed_count;
};

struct managed_codes *managed_codes_new(struct session *session, struct worker *worker, struct names *names,
					struct notes *notes)
{
	struct managed_codes *codes = xcalloc(1, sizeof(*codes));

	codes->session = session;
	codes->worker = worker;
	codes->names = names;
	codes->notes = notes;
	codes->arena = arena_new();
	codes->by_hash = table_new();
	codes->spaces = table_new();
	codes->unreadable = table_new();
	codes->tables_bytes_left = TABLES_BYTES_MAX;
	return codes;
}

void managed_codes_free(struct managed_codes *codes)
{
	if (!codes)
		return;
	arena_free(codes->arena);
	table_free(codes->by_hash);
	table_free(codes->spaces);
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
static struct code *code_find(const struct managed_codes *codes, uint32_t space, uint64_t address)
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

static const uint8_t *keep_table(struct managed_codes *codes, const void *table, size_t size_bytes)
{
	if (!size_bytes || size_bytes > codes->tables_bytes_left)
		return NULL;
	codes->tables_bytes_left -= size_bytes;
	return memcpy(arena_alloc(codes->arena, size_bytes), table, size_bytes);
}

/* The caller fills in the rest; NULL: there are too many. */
static struct code *code_add(struct managed_codes *codes, uint32_t space, uint64_t address, uint64_t time_ns)
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
	table_put(codes->spaces, (uint64_t)space + 1, codes);
	codes->count++;
	return code;
}

/* text: of an event, name and file with their NULs and the table, as many bytes of each. */
static void set_text(struct managed_codes *codes, struct code *code, const char *text, size_t name_bytes,
		     size_t file_bytes)
{
	code->function = names_get(codes->names, text);
	code->file = file_bytes && text[name_bytes] ? names_get(codes->names, text + name_bytes) : NULL;
	code->table = keep_table(codes, text + name_bytes + file_bytes, code->table_bytes);
	code->hash = mix_string(mix_string(code->first_line, code->function), code->file);
}

void managed_codes_add_python(struct managed_codes *codes, uint32_t space, const struct ev_space_python_code *e)
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

void managed_codes_add(struct managed_codes *codes, uint32_t space, const struct ev_space_managed_code *e)
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

static void hand_out_python(struct managed_codes *codes, const struct managed_question *question,
			    const struct managed_answer *answer)
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

static void hand_out_managed(struct managed_codes *codes, const struct managed_question *question,
			     const struct managed_answer *answer)
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

/* What is read of a process is an event like others: whoever has no process gets it nevertheless. */
static void hand_out(struct managed_codes *codes, const struct managed_question *question,
		     const struct managed_answer *answer)
{
	if (question->language == MANAGED_PYTHON)
		hand_out_python(codes, question, answer);
	else
		hand_out_managed(codes, question, answer);
}

/* Of what is all a user's, a note tells already. */
static void give_up(struct managed_codes *codes, const struct managed_question *question, int err)
{
	static const char *const languages[] = {
		[MANAGED_PYTHON] = "Python",
		[MANAGED_RUBY] = "Ruby",
		[MANAGED_JAVASCRIPT] = "JavaScript",
	};
	const char *language = languages[question->language];

	if (err == -EDQUOT)
		notes_add(codes->notes,
			  "reading the memory of process %u took too long: some of its %s functions have no names",
			  question->pid, language);
	else if (err != -EACCES)
		notes_add(codes->notes, "the memory of process %u cannot be read: its %s functions have no names",
			  question->pid, language);
	if (table_count(codes->unreadable) < UNREADABLE_MAX)
		table_put(codes->unreadable, (uint64_t)question->pid + 1, codes);
}

bool managed_is_javascript(uint64_t frame)
{
	return (frame & STACK_MANAGED_INDEX) == STACK_MANAGED_JAVASCRIPT;
}

/* False: it is not known how such functions are read. */
static bool put_question(uint32_t pid, const struct managed_runtimes *runtimes, uint64_t frame,
			 struct managed_question *question)
{
	uint64_t index = frame & STACK_MANAGED_INDEX;

	*question = (struct managed_question){ .pid = pid, .address = address_of(frame) };
	if (managed_is_javascript(frame)) {
		question->language = MANAGED_JAVASCRIPT;
		question->v8_heap = runtimes->v8;
		return runtimes->v8;
	}
	if (runtimes->python) {
		question->language = MANAGED_PYTHON;
		question->version = runtimes->python->number;
		question->index = index == STACK_MANAGED_INDEX ? ~0u : index;
		return true;
	}
	if (!runtimes->ruby)
		return false;
	question->language = MANAGED_RUBY;
	question->version = runtimes->ruby->number;
	question->index = index;
	return true;
}

/* False: it is a function of JavaScript that may be there later, or one of Python that may be there again. */
static bool look(struct managed_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
		 const struct managed_runtimes *runtimes, uint64_t frame)
{
	struct code *code = code_find(codes, space, address_of(frame));
	const struct managed_answer *answer;
	struct managed_question question;
	int err;

	if ((code && time_ns < code->seen_ns + look_again_ns) || codes->count >= CODES_MAX ||
	    table_find(codes->unreadable, (uint64_t)pid + 1) || !put_question(pid, runtimes, frame, &question))
		return true;
	if (code) {
		question.identity = code->identity;
		code->seen_ns = time_ns; /* whatever the answer is, a second later is soon enough */
	}
	err = worker_ask_managed(codes->worker, &question, &answer);
	if (err == -ETIMEDOUT || err == -ECHILD || err == -EDQUOT || err == -EACCES)
		give_up(codes, &question, err);
	if (!err && answer->kind == MANAGED_IS_NEW)
		hand_out(codes, &question, answer);
	return err || code || answer->kind != MANAGED_IS_GONE || question.language == MANAGED_RUBY;
}

/* Each function once, in however many stacks it is. */
static void note_missed(struct managed_codes *codes, const struct missed *missed)
{
	if (codes->missed_count >= MISSED_MAX || missed->tries >= TRIES_MAX)
		return;
	for (size_t i = 0; i < codes->missed_count; i++)
		if (codes->missed[i].space == missed->space && codes->missed[i].frame == missed->frame)
			return;
	codes->missed[codes->missed_count++] = *missed;
}

void managed_codes_look_again(struct managed_codes *codes, uint32_t pid, uint64_t time_ns)
{
	size_t count = codes->missed_count;

	codes->missed_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct missed missed = codes->missed[i];

		if (missed.pid == pid && missed.next_ns <= time_ns) {
			missed.tries++;
			missed.next_ns = time_ns + (try_again_ns << missed.tries);
			if (look(codes, missed.pid, missed.space, time_ns, &missed.runtimes, missed.frame))
				continue;
		}
		note_missed(codes, &missed);
	}
}

void managed_codes_look(struct managed_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
			const struct managed_runtimes *runtimes, uint64_t frame)
{
	struct missed missed = {
		.pid = pid,
		.space = space,
		.frame = frame,
		.runtimes = *runtimes,
		.next_ns = time_ns + try_again_ns,
	};

	if (!look(codes, pid, space, time_ns, runtimes, frame))
		note_missed(codes, &missed);
}

bool managed_codes_has(const struct managed_codes *codes, uint32_t space)
{
	return table_find(codes->spaces, (uint64_t)space + 1);
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

bool managed_codes_find(const struct managed_codes *codes, uint32_t space, uint64_t time_ns, uint64_t frame,
			struct managed_place *place)
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
	*place = (struct managed_place){
		.language = code->language,
		.function = code->function,
		.file = code->file,
		.hash = code->hash,
		.first_line = code->first_line,
		.line = line_of(code, index),
	};
	return true;
}
