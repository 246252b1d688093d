/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "helper/pair.h"
#include "helper/users.h"
#include "symbol/answer/answer_book.h"
#include "symbol/worker/worker_book.h"

enum {
	AHEAD_MAX = 16, /* questions: all fit into the socket, whatever the worker does */
};

static void put_build_id(struct question *question, const struct build_id *build_id)
{
	question->build_id_bytes = build_id->size_bytes;
	memcpy(question->build_id, build_id->bytes, sizeof(question->build_id));
}

static struct asked *asked_new(const struct module *module, const struct question *question)
{
	struct asked *asked = xcalloc(1, sizeof(*asked));

	asked->question = *question;
	asked->module = module;
	if (module) {
		asked->question.module = module->number;
		asked->question.pid = module->pid;
		asked->question.is_vdso = module->kind == MODULE_VDSO;
		/* What a live process maps is known by more than that. */
		if (!module->has_stamp || !module->pid)
			put_build_id(&asked->question, &module->build_id);
	}
	return asked;
}

/* A space is not a process, but has one. */
static void set_owner(struct asked *asked, uint32_t user)
{
	const struct question *question = &asked->question;

	asked->user = user;
	asked->process = question->pid ? question->pid : (uint64_t)question->module << 32;
}

static int await(struct worker *worker, struct asked *asked)
{
	int err;

	asked->is_awaited = true;
	worker->is_here = false;
	err = worker_send(worker, asked);
	if (err) {
		asked_free(asked);
		return err;
	}
	while (!worker->is_here)
		worker_wait(worker, 0);
	return worker->err;
}

/* One that is waited for. user: who has what it is about, if that is no module. */
static int ask_awaited(struct worker *worker, const struct module *module, uint32_t user,
		       const struct question *question)
{
	struct asked *asked = asked_new(module, question);

	if (!module)
		set_owner(asked, user);
	return await(worker, asked);
}

static int ask(struct worker *worker, const struct module *module, struct question *question)
{
	int err;

	if (worker_find_in_book(worker, module, question))
		return 0;
	if (worker->is_book_alone)
		return -ENODATA;
	err = ask_awaited(worker, module, USER_UNKNOWN, question);
	if (!err && worker->book)
		worker_put_in_book(worker, module, question);
	return err;
}

/* The same of what is not a file's. */
static int ask_process(struct worker *worker, uint32_t user, struct question *question)
{
	return worker->is_book_alone ? -ENODATA : ask_awaited(worker, NULL, user, question);
}

static struct question missing_question(const struct worker_call *call, bool wants_lines)
{
	struct question question = {
		.kind = QUESTION_MISSING,
		.file_offset = call->file_offset,
		.callee_offset = call->callee_offset,
		.is_entry = call->is_entry,
		.wants_debug = wants_lines,
	};

	/* No name is better than a part of one. */
	if (call->callee_name && strlen(call->callee_name) < sizeof(question.function))
		strcpy(question.function, call->callee_name);
	return question;
}

uint64_t worker_call_place(const struct worker_call *call)
{
	struct question question = missing_question(call, true);

	return worker_book_place(&question);
}

static struct question as_question(const struct worker_question *wanted)
{
	struct question question = {
		.kind = wanted->kind == WORKER_CODE ? QUESTION_CODE : QUESTION_PLACE,
		.file_offset = wanted->file_offset,
		.wants_debug = wanted->wants_lines,
		.size_bytes = wanted->size_bytes,
	};

	return wanted->kind == WORKER_MISSING ? missing_question(&wanted->call, wanted->wants_lines) : question;
}

/* Sends some questions, then takes their answers. Returns false when that is of no use any more. */
static bool ask_some_ahead(struct worker *worker, const struct worker_question *questions, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && err != -ECANCELED; i++) {
		const struct module *module = questions[i].module;
		struct question question = as_question(&questions[i]);
		struct asked *asked;

		if (worker_find_in_book(worker, module, &question))
			continue;
		asked = asked_new(module, &question);
		asked->is_ahead = true;
		worker->ahead_count++;
		err = worker_send(worker, asked);
		if (err) {
			worker->ahead_count--;
			asked_free(asked);
		}
	}
	while (worker->ahead_count)
		worker_wait(worker, 0);
	return err != -ECANCELED;
}

/* Where answers take long, one is asked for at a time: that of the next may be worth waiting for less. */
void worker_ask_ahead(struct worker *worker, const struct worker_question *questions, size_t count)
{
	static const uint64_t soon_ns = 10000000, all_ns_max = 10000000000;
	uint64_t begin_ns = clock_ns();
	size_t at = 0, some = 1;

	if (worker->is_book_alone)
		return;
	answer_book_free(worker->ahead);
	worker->ahead = worker->book ? NULL : answer_book_new();
	while (at < count && clock_ns() - begin_ns < all_ns_max) {
		uint64_t asked_ns = clock_ns();

		if (some > count - at)
			some = count - at;
		if (!ask_some_ahead(worker, &questions[at], some))
			return;
		at += some;
		if (clock_ns() - asked_ns > soon_ns * some)
			some = 1;
		else if (some < AHEAD_MAX)
			some *= 2;
	}
}

int worker_ask(struct worker *worker, const struct module *module, uint64_t file_offset, bool wants_lines,
	       const struct answer **answer)
{
	struct question question = {
		.kind = QUESTION_PLACE,
		.file_offset = file_offset,
		.wants_debug = wants_lines,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.place;
	return err;
}

int worker_ask_missing(struct worker *worker, const struct module *module, const struct worker_call *call,
		       bool wants_lines, const struct answer **answer)
{
	struct question question = missing_question(call, wants_lines);
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.place;
	return err;
}

int worker_ask_variable(struct worker *worker, const struct module *module, uint64_t address, bool wants_types,
			const struct variable_answer **answer)
{
	struct question question = {
		.kind = QUESTION_VARIABLE,
		.address = address,
		.wants_debug = wants_types,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.variable;
	return err;
}

int worker_ask_sources(struct worker *worker, const struct module *module, const struct sources_answer **answer)
{
	struct question question = { .kind = QUESTION_SOURCES };
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.sources;
	return err;
}

int worker_ask_build_id(struct worker *worker, const struct module *module, struct build_id *build_id)
{
	struct question question = { .kind = QUESTION_BUILD_ID };
	int err = ask(worker, module, &question);

	if (!err)
		*build_id = worker->content.build_id;
	return err;
}

int worker_ask_segments(struct worker *worker, const struct module *module, const struct segments_answer **answer)
{
	struct question question = { .kind = QUESTION_SEGMENTS };
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.segments;
	return err;
}

int worker_ask_code(struct worker *worker, const struct module *module, uint64_t file_offset, size_t size_bytes,
		    const struct code_answer **answer)
{
	struct question question = {
		.kind = QUESTION_CODE,
		.file_offset = file_offset,
		.size_bytes = size_bytes < CODE_BYTES_MAX ? size_bytes : CODE_BYTES_MAX,
	};
	int err = ask(worker, module, &question);

	if (!err)
		*answer = &worker->content.code;
	return err;
}

int worker_ask_function(struct worker *worker, const struct module *module, const char *name, uint64_t *file_offset)
{
	struct question question = { .kind = QUESTION_FUNCTION };
	int err;

	snprintf(question.function, sizeof(question.function), "%s", name);
	err = ask(worker, module, &question);
	if (err)
		return err;
	if (!worker->content.function.is_found)
		return -ENOENT;
	*file_offset = worker->content.function.file_offset;
	return 0;
}

int worker_ask_functions(struct worker *worker, const struct module *module, const char *name,
			 const struct symbol_functions **answer)
{
	struct question question = { .kind = QUESTION_FUNCTIONS };
	int err;

	if (strlen(name) >= sizeof(question.function))
		return -ENOENT;
	strcpy(question.function, name);
	err = ask(worker, module, &question);
	if (!err)
		*answer = &worker->content.functions;
	return err;
}

int worker_ask_usdt(struct worker *worker, const struct module *module, const char *pattern, uint64_t first,
		    const struct symbol_usdt **answer)
{
	struct question question = { .kind = QUESTION_USDT, .file_offset = first };
	int err;

	if (strlen(pattern) >= sizeof(question.function))
		return -ENOENT;
	strcpy(question.function, pattern);
	err = ask(worker, module, &question);
	if (!err)
		*answer = &worker->content.usdt;
	return err;
}

int worker_ask_table(struct worker *worker, const struct module *module, worker_on_table *on_table, void *data)
{
	struct asked *asked = asked_new(module, &(struct question){ .kind = QUESTION_TABLE });

	asked->on_table = on_table;
	asked->data = data;
	return worker_ask_later(worker, asked);
}

int worker_ask_managed(struct worker *worker, const struct managed_question *asked,
		       const struct managed_answer **answer)
{
	static const enum question_kind kinds[] = {
		[MANAGED_PYTHON] = QUESTION_PYTHON,
		[MANAGED_RUBY] = QUESTION_RUBY,
		[MANAGED_JAVASCRIPT] = QUESTION_JAVASCRIPT,
	};
	struct question question = {
		.kind = kinds[asked->language],
		.pid = asked->pid,
		.address = asked->address,
		.version = asked->version,
		.code_index = asked->index,
		.code_identity = asked->identity,
	};
	int err;

	if (asked->v8_heap)
		question.v8_heap = *asked->v8_heap;
	err = ask_process(worker, worker_user_of(worker, asked->pid), &question);
	if (!err)
		*answer = &worker->content.managed;
	return err;
}

int worker_ask_goroutines(struct worker *worker, const struct module *module, const struct go_process *process,
			  worker_on_goroutines *on_goroutines, void *data)
{
	struct asked *asked = asked_new(module, &(struct question){
							.kind = QUESTION_GOROUTINES,
							.address = process->start,
							.mapping_offset = process->file_offset,
							.random = process->random,
							.wants_debug = true,
						});

	asked->question.pid = process->pid;
	set_owner(asked, worker_user_of(worker, process->pid));
	asked->on_goroutines = on_goroutines;
	asked->data = data;
	return worker_ask_later(worker, asked);
}

int worker_ask_jvm(struct worker *worker, const struct module *module, const struct jvm_place *place,
		   worker_on_jvm *on_jvm, void *data)
{
	struct asked *asked = asked_new(module, &(struct question){
							.kind = QUESTION_JVM,
							.address = place->start,
							.mapping_offset = place->file_offset,
						});

	asked->question.pid = place->pid;
	set_owner(asked, worker_user_of(worker, place->pid));
	asked->on_jvm = on_jvm;
	asked->data = data;
	return worker_ask_later(worker, asked);
}

int worker_ask_methods(struct worker *worker, const struct module *module, const struct jvm_place *place,
		       uint64_t address, bool is_interpreted, const struct answer **answer)
{
	struct asked *asked;
	int err;

	if (worker->is_book_alone)
		return -ENODATA;
	asked = asked_new(module, &(struct question){
					  .kind = QUESTION_METHODS,
					  .address = place->start,
					  .mapping_offset = place->file_offset,
					  .generated_code = address,
					  .is_interpreted = is_interpreted,
				  });
	asked->question.pid = place->pid;
	set_owner(asked, worker_user_of(worker, place->pid));
	err = await(worker, asked);
	if (!err)
		*answer = &worker->content.place;
	return err;
}

int worker_read_jit(struct worker *worker, uint32_t space, uint32_t user, worker_on_jit *on_jit, void *data)
{
	struct asked *asked = asked_new(NULL, &(struct question){
						      .kind = QUESTION_JIT_READ,
						      .module = space,
					      });

	set_owner(asked, user);
	asked->on_jit = on_jit;
	asked->data = data;
	return worker_ask_later(worker, asked);
}

void worker_forget_jit(struct worker *worker, uint32_t space)
{
	/* Without a worker there is nothing to be forgotten. */
	if (helper_pair_worker_number(worker->pair))
		worker_ask_later(worker, asked_new(NULL, &(struct question){
								 .kind = QUESTION_JIT_FORGET,
								 .module = space,
							 }));
}

int worker_ask_jit(struct worker *worker, uint32_t space, uint32_t user, uint64_t address,
		   const struct jit_answer **answer)
{
	struct question question = { .kind = QUESTION_JIT, .module = space, .address = address };
	int err = ask_process(worker, user, &question);

	if (!err)
		*answer = &worker->content.jit;
	return err;
}
