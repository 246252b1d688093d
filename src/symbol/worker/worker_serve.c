/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads what traced programs wrote. It has no privileges, sees no file but those whose
 * descriptors it is given, and dies of whatever is too much.
 */
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "helper/given.h"
#include "helper/message.h"
#include "symbol/jit/jit_maps.h"
#include "symbol/object/object.h"
#include "symbol/python/python_code.h"
#include "symbol/ruby/ruby_code.h"
#include "symbol/v8/v8_function.h"
#include "symbol/worker/worker_confine.h"
#include "symbol/worker/worker_files.h"
#include "symbol/worker/worker_go.h"
#include "symbol/worker/worker_jvm.h"
#include "symbol/worker/worker_message.h"

enum {
	ANSWER_CPU_MS_MAX = 20000, /* a large program's compressed debug file takes 5 s */
	TABLE_SECONDS_MAX = 10,
	TABLE_CPU_MS_MAX = 2000, /* 35,000 functions take 10 ms */
	JAVASCRIPT_READINGS_MAX = 3,
	PRIORITY = -10, /* there is who waits for it; as nice(2) has it */
};

struct server {
	struct helper_sockets sockets;
	struct worker_files *files;
	struct jit_maps *jits;
	struct python_code *python; /* what was read last */
	struct ruby_code *ruby;
	struct v8_function *javascript;
	struct worker_go *go;
	struct worker_jvm *jvm;
	uint64_t begin_cpu_ns, begin_ns; /* when the question came */
	union worker_content content;
};

/* --- Answers --------------------------------------------------------------------------------- */

/* Default actions of both signals end the process: no file may keep it for ever. 0: no limit. */
static void set_deadline(unsigned int seconds, unsigned int cpu_ms)
{
	struct itimerval cpu = { .it_value = { cpu_ms / 1000, cpu_ms % 1000 * 1000 } };

	alarm(seconds);
	setitimer(ITIMER_PROF, &cpu, NULL);
}

static struct worker_answer answer_header(const struct server *server, const struct question *question, int err)
{
	return (struct worker_answer){
		question->sequence,
		err,
		clock_cpu_ns() - server->begin_cpu_ns,
		clock_ns() - server->begin_ns,
	};
}

static void send_answer(const struct server *server, const struct worker_answer *header, const void *content,
			size_t content_bytes)
{
	const struct iovec parts[2] = {
		{ (void *)header, sizeof(*header) },
		{ (void *)content, content_bytes },
	};

	if (message_send(server->sockets.tool, parts, 2, -1, true))
		_exit(0);
}

static void answer(const struct server *server, const struct question *question, int err, size_t content_bytes)
{
	struct worker_answer header = answer_header(server, question, err);

	send_answer(server, &header, &server->content, err ? 0 : content_bytes);
}

struct table_parts {
	const struct server *server;
	struct worker_answer header;
};

static int send_parts(void *data, const void *bytes, size_t size_bytes)
{
	const struct table_parts *parts = data;

	for (size_t at = 0; at < size_bytes; at += WORKER_PART_BYTES) {
		size_t left = size_bytes - at;

		send_answer(parts->server, &parts->header, (const char *)bytes + at,
			    left < WORKER_PART_BYTES ? left : WORKER_PART_BYTES);
	}
	return 0;
}

static void answer_table(const struct server *server, const struct question *question, struct object *object)
{
	struct unwind_file file = { 0 };
	int err = object_unwind_file(object, &file);
	struct table_parts parts = { server, answer_header(server, question, WORKER_GOES_ON) };

	/* From here on it waits for the tool, and is done with the file. */
	set_deadline(0, 0);
	if (!err)
		err = unwind_file_write(&file, send_parts, &parts);
	parts.header.err = err;
	send_answer(server, &parts.header, NULL, 0);
	unwind_file_fini(&file);
	malloc_trim(0); /* what it was made of is large, and is not made again */
}

static void find_missing(struct server *server, struct object *object, const struct question *question)
{
	char name[WORKER_NAME_BYTES];

	memcpy(name, question->function, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	object_find_missing(object,
			    &(struct missing_question){
				    .file_offset = question->file_offset,
				    .callee_offset = question->callee_offset,
				    .callee_name = name,
				    .is_entry = question->is_entry,
				    .wants_lines = question->wants_debug,
			    },
			    &server->content.place);
}

static size_t find_usdt(struct server *server, struct object *object, const struct question *question)
{
	char pattern[WORKER_NAME_BYTES];

	memcpy(pattern, question->function, sizeof(pattern));
	pattern[sizeof(pattern) - 1] = '\0';
	object_find_usdt(object, pattern, question->file_offset, &server->content.usdt);
	return sizeof(server->content.usdt);
}

/* The size of what is in server->content then. */
static size_t find_answer(struct server *server, struct object *object, const struct question *question)
{
	switch (question->kind) {
	case QUESTION_VARIABLE:
		object_find_variable(object, question->address, question->wants_debug, &server->content.variable);
		return offsetof(struct variable_answer, text) + server->content.variable.text_bytes;
	case QUESTION_SEGMENTS:
		object_segments(object, &server->content.segments);
		return sizeof(server->content.segments);
	case QUESTION_CODE:
		object_read_code(object, question->file_offset, question->size_bytes, &server->content.code);
		return offsetof(struct code_answer, code) + server->content.code.size_bytes;
	case QUESTION_FUNCTION:
		object_find_function(object, question->function, &server->content.function);
		return sizeof(server->content.function);
	case QUESTION_FUNCTIONS:
		object_find_functions(object, question->function, &server->content.functions);
		return sizeof(server->content.functions);
	case QUESTION_SOURCES:
		object_sources(object, &server->content.sources);
		return sizeof(server->content.sources);
	case QUESTION_BUILD_ID:
		object_build_id(object, &server->content.build_id);
		return sizeof(server->content.build_id);
	case QUESTION_GOROUTINES:
		return worker_go_answer(server->go, question, object, &server->content.go);
	case QUESTION_JVM:
		worker_jvm_answer(server->jvm, question, object, &server->content.jvm);
		return sizeof(server->content.jvm);
	case QUESTION_METHODS:
		worker_jvm_methods(server->jvm, question, object, &server->content.place);
		return offsetof(struct answer, text) + server->content.place.text_bytes;
	case QUESTION_MISSING:
		find_missing(server, object, question);
		return offsetof(struct answer, text) + server->content.place.text_bytes;
	case QUESTION_USDT:
		return find_usdt(server, object, question);
	default:
		object_find(object, question->file_offset, question->wants_debug, &server->content.place);
		return offsetof(struct answer, text) + server->content.place.text_bytes;
	}
}

static void answer_of_file(struct server *server, const struct question *question)
{
	struct worker_file *file = worker_files_get(server->files, question);
	struct object *object;
	int err;

	if (!file)
		_exit(1);
	err = worker_files_open(server->files, file, &object);
	if (err)
		answer(server, question, err, 0);
	else if (question->kind == QUESTION_TABLE)
		answer_table(server, question, object);
	else
		answer(server, question, 0, find_answer(server, object, question));
	worker_files_save_memory(server->files, file);
}

/* --- Generated and managed code ------------------------------------------------------------- */

static int give_jit(void *data, uint32_t space)
{
	const struct server *server = data;

	return given_jit(server->sockets.other, space);
}

static void answer_jit(struct server *server, const struct question *question)
{
	struct jit_answer *jit = &server->content.jit;
	int err = 0;

	memset(jit, 0, sizeof(*jit));
	if (question->kind == QUESTION_JIT_FORGET)
		jit_maps_forget(server->jits, question->module);
	else if (question->kind == QUESTION_JIT_READ)
		err = jit_maps_read(server->jits, question->module);
	else
		err = jit_maps_find(server->jits, question->module, question->address, jit->name, sizeof(jit->name),
				    &jit->start);
	jit->is_found = !err;
	answer(server, question, err, sizeof(*jit));
}

struct process_memory {
	const struct server *server;
	uint32_t pid;
};

static bool read_process(void *data, uint64_t address, void *bytes, size_t size_bytes)
{
	const struct process_memory *memory = data;

	return !given_memory(memory->server->sockets.other, memory->pid, address, bytes, size_bytes);
}

static void put_managed(struct managed_answer *found, const char *function, const char *file, const void *table,
			size_t table_bytes)
{
	found->kind = MANAGED_IS_NEW;
	found->function_bytes = strlen(function) + 1;
	found->file_bytes = strlen(file) + 1;
	found->table_bytes = table_bytes;
	memcpy(found->data, function, found->function_bytes);
	memcpy(found->data + found->function_bytes, file, found->file_bytes);
	if (table_bytes)
		memcpy(found->data + found->function_bytes + found->file_bytes, table, table_bytes);
}

static void find_python(const struct server *server, const struct question *question,
			const struct memory_reader *memory, struct managed_answer *found)
{
	const struct python_version *version = python_version_find(question->version);
	struct python_code *code = server->python;
	struct python_code_key key, after;

	if (!version || !python_code_read_key(memory, &version->code, question->address, &key) ||
	    /* The code object was freed, and its memory is something else. */
	    (question->code_index != ~0u && question->code_index >= key.unit_count))
		return;
	found->identity = python_code_identity(&key);
	found->first_line = key.first_line;
	if (found->identity == question->code_identity)
		found->kind = MANAGED_IS_KNOWN;
	/* It may be freed, and its memory used for something else, while it is read. */
	else if (python_code_read(memory, &version->code, &key, code) &&
		 python_code_read_key(memory, &version->code, question->address, &after) &&
		 python_code_identity(&after) == found->identity)
		put_managed(found, code->name, code->file, code->table, code->table_bytes);
}

static void find_ruby(const struct server *server, const struct question *question, const struct memory_reader *reader,
		      struct managed_answer *found)
{
	struct ruby_memory memory = { reader->read, reader->data, ruby_version_find(question->version) };
	struct ruby_code *code = server->ruby;
	struct ruby_code_key key;

	if (!memory.version || !ruby_code_read_key(&memory, question->address, question->code_index, &key))
		return;
	found->identity = ruby_code_identity(&key);
	found->first_line = key.lines.first_line;
	found->first_index = ruby_code_first_index(&key);
	if (found->identity == question->code_identity)
		found->kind = MANAGED_IS_KNOWN;
	else if (ruby_code_read(&memory, &key, code))
		put_managed(found, code->name, code->file, code->table, code->table_bytes);
}

static void find_javascript(const struct server *server, const struct question *question,
			    const struct memory_reader *memory, struct managed_answer *found)
{
	struct v8_function *function = server->javascript;
	struct v8_function_key key;
	bool is_read = false;

	/* What is in its way is being moved, perhaps. */
	for (int i = 0; i < JAVASCRIPT_READINGS_MAX && !(is_read && function->is_whole); i++) {
		if (!v8_function_read_key(memory, &question->v8_heap, question->address, &key))
			return;
		found->identity = v8_function_identity(&key);
		if (found->identity == question->code_identity) {
			found->kind = MANAGED_IS_KNOWN;
			return;
		}
		is_read = v8_function_read(memory, &question->v8_heap, &key, function);
	}
	if (!is_read)
		return;
	found->first_line = function->line;
	put_managed(found, function->name[0] ? function->name : "(anonymous)", function->file, NULL, 0);
}

static void answer_managed(struct server *server, const struct question *question)
{
	struct process_memory process = { server, question->pid };
	struct memory_reader memory = { read_process, &process };
	struct managed_answer *found = &server->content.managed;

	memset(found, 0, offsetof(struct managed_answer, data));
	if (question->kind == QUESTION_PYTHON)
		find_python(server, question, &memory, found);
	else if (question->kind == QUESTION_RUBY)
		find_ruby(server, question, &memory, found);
	else
		find_javascript(server, question, &memory, found);
	answer(server, question, 0,
	       offsetof(struct managed_answer, data) + found->function_bytes + found->file_bytes + found->table_bytes);
}

/* --- The process ----------------------------------------------------------------------------- */

static unsigned int smaller(unsigned int limit, unsigned int asked)
{
	return asked && asked < limit ? asked : limit;
}

static void set_limits(struct server *server, const struct question *question)
{
	/* The tool gives these up before: it can end what the opener does for them, too. */
	if (question->kind == QUESTION_PYTHON || question->kind == QUESTION_RUBY ||
	    question->kind == QUESTION_JAVASCRIPT)
		set_deadline(WORKER_MANAGED_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_JIT || question->kind == QUESTION_JIT_READ)
		set_deadline(WORKER_JIT_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_GOROUTINES)
		set_deadline(WORKER_GO_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_JVM || question->kind == QUESTION_METHODS)
		set_deadline(WORKER_JVM_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_TABLE)
		set_deadline(TABLE_SECONDS_MAX, smaller(TABLE_CPU_MS_MAX, question->cpu_ms_max));
	else
		set_deadline(WORKER_ANSWER_SECONDS_MAX, smaller(ANSWER_CPU_MS_MAX, question->cpu_ms_max));
	worker_files_limit_memory(server->files, question->memory_mb_max);
	server->begin_cpu_ns = clock_cpu_ns();
	server->begin_ns = clock_ns();
}

static void answer_question(struct server *server, const struct question *question)
{
	switch (question->kind) {
	case QUESTION_JIT:
	case QUESTION_JIT_READ:
	case QUESTION_JIT_FORGET:
		answer_jit(server, question);
		break;
	case QUESTION_PYTHON:
	case QUESTION_RUBY:
	case QUESTION_JAVASCRIPT:
		answer_managed(server, question);
		break;
	default:
		answer_of_file(server, question);
	}
}

void worker_serve(const struct helper_sockets *sockets)
{
	struct server *server = xcalloc(1, sizeof(*server));
	union {
		struct question question;
		char bytes[sizeof(struct question) + WORKER_PATH_BYTES_MAX + 1];
	} in;
	int err;

	prctl(PR_SET_NAME, "pinch-symbols");
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	server->sockets = *sockets;
	server->files = worker_files_new(sockets);
	server->jits = jit_maps_new(give_jit, server);
	server->python = xcalloc(1, sizeof(*server->python));
	server->ruby = xcalloc(1, sizeof(*server->ruby));
	server->javascript = xcalloc(1, sizeof(*server->javascript));
	server->go = worker_go_new(sockets->other);
	server->jvm = worker_jvm_new(sockets->other);
	worker_limit_resources();
	err = worker_confine();
	if (err)
		helper_refuse(sockets, err);
	worker_files_begin(server->files);
	for (;;) {
		int fd;
		ssize_t n = message_get(sockets->tool, &in, sizeof(in) - 1, &fd);

		if (fd >= 0)
			close(fd);
		if (n < (ssize_t)sizeof(struct question))
			_exit(0);
		in.bytes[n] = '\0';
		set_limits(server, &in.question);
		answer_question(server, &in.question);
		set_deadline(0, 0);
	}
}
