/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is learnt of addresses goes into a recording, and comes out of it where nothing else is at hand. */
#include "symbol/symbol_internal.h"

#include <string.h>

#include "symbol/answer/answer.h"
#include "symbol/answer/answer_book.h"
#include "symbol/answer_cache.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/worker/worker.h"

void symbols_keep_answers(struct symbols *symbols)
{
	answer_book_free(symbols->book);
	symbols->book = answer_book_new();
	worker_use_book(symbols->worker, symbols->book, false);
	if (symbols->cache)
		answer_cache_use_book(symbols->cache, symbols->book);
}

void symbols_keep_notes(struct symbols *symbols)
{
	const char *const *notes;
	size_t count = notes_list(symbols->notes, &notes);

	for (; symbols->notes_kept < count; symbols->notes_kept++)
		answer_book_put(symbols->book, BOOK_NOTE, 0, symbols->notes_kept, notes[symbols->notes_kept],
				strlen(notes[symbols->notes_kept]) + 1);
}

const void *symbols_take_answers(struct symbols *symbols, size_t *size_bytes)
{
	return answer_book_take(symbols->book, size_bytes);
}

static void add_notes(struct symbols *symbols)
{
	const char *note;
	size_t size_bytes;

	for (; (note = answer_book_find(symbols->book, BOOK_NOTE, 0, symbols->notes_kept, &size_bytes));
	     symbols->notes_kept++)
		notes_add(symbols->notes, "%.*s", (int)size_bytes, note);
}

void symbols_use_recorded(struct symbols *symbols)
{
	if (symbols->book)
		return;
	symbols->book = answer_book_new();
	worker_use_book(symbols->worker, symbols->book, true);
	modules_shut(symbols->modules);
}

int symbols_add_answers(struct symbols *symbols, const void *answers, size_t size_bytes)
{
	int err;

	symbols_use_recorded(symbols);
	err = answer_book_add(symbols->book, answers, size_bytes);
	notes_open(symbols->notes, true);
	add_notes(symbols);
	notes_open(symbols->notes, false);
	return err;
}

const char *symbols_recorded_jit_name(struct symbols *symbols, const struct space_hit *hit, uint64_t address,
				      uint64_t *start)
{
	const char *name, *module;

	name = answer_book_find_function(symbols->book, BOOK_JIT, hit->space, address, start, &module);
	return name ? names_get(symbols->names, name) : NULL;
}

const struct answer *symbols_recorded_methods(struct symbols *symbols, const struct space_hit *hit, uint64_t address)
{
	size_t size_bytes;
	const struct answer *answer = answer_book_find(symbols->book, BOOK_METHODS, hit->space, address, &size_bytes);

	return answer && answer_is_valid(answer, size_bytes) ? answer : NULL;
}

void symbols_resolve_recorded_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame)
{
	const char *name, *module;
	uint64_t start;

	name = answer_book_find_function(symbols->book, BOOK_KERNEL, 0, address, &start, &module);
	if (!name)
		return;
	frame->function = names_get(symbols->names, name);
	frame->module = names_get(symbols->names, module);
	frame->offset = address - start;
}
