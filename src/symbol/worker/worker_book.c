/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_book.h"

#include <string.h>

#include "base/table.h"
#include "symbol/answer/answer_book.h"
#include "symbol/worker/worker_internal.h"

/* Where a book has the answer; 0: not at all. */
static enum book_kind book_kind_of(const struct question *question)
{
	switch (question->kind) {
	case QUESTION_PLACE:
		return question->wants_debug ? BOOK_PLACE : BOOK_PLACE_BY_SYMBOLS;
	case QUESTION_VARIABLE:
		return BOOK_VARIABLE;
	case QUESTION_SEGMENTS:
		return BOOK_SEGMENTS;
	case QUESTION_CODE:
		return BOOK_CODE;
	case QUESTION_MISSING:
		return BOOK_MISSING;
	case QUESTION_FUNCTION:
		return BOOK_EXPORTED;
	}
	return 0;
}

uint64_t worker_book_place(const struct question *question)
{
	switch (question->kind) {
	case QUESTION_MISSING:
		return hash_string(hash_u64(question->file_offset ^ hash_u64(question->callee_offset)) +
					   question->is_entry,
				   question->function);
	case QUESTION_FUNCTION:
		return hash_string(1, question->function);
	}
	return question->file_offset | (uint64_t)question->size_bytes << BOOK_CODE_SIZE_SHIFT;
}

static struct answer_book *known_answers(const struct worker *worker)
{
	return worker->book ? worker->book : worker->ahead;
}

/* What was asked ahead is for this process alone, in which modules have numbers. */
static uint64_t owner_of(const struct worker *worker, const struct module *module)
{
	return worker->book ? module_owner(module) : module->number;
}

static const void *find_entry(const struct worker *worker, const struct module *module, enum book_kind kind,
			      uint64_t place, size_t *size_bytes)
{
	const void *content =
		answer_book_find(known_answers(worker), kind, owner_of(worker, module), place, size_bytes);

	/* In traces of before. */
	if (!content && worker->is_book_alone)
		content = answer_book_find(worker->book, kind, module_old_owner(module), place, size_bytes);
	return content;
}

bool worker_find_in_book(struct worker *worker, const struct module *module, const struct question *question)
{
	enum book_kind kind = known_answers(worker) ? book_kind_of(question) : 0;
	const void *content = NULL;
	size_t size_bytes;

	if (kind)
		content = find_entry(worker, module, kind, worker_book_place(question), &size_bytes);
	if (!content || size_bytes > sizeof(worker->content))
		return false;
	memcpy(&worker->content, content, size_bytes);
	worker->content_bytes = size_bytes;
	return worker_content_is_valid(question->kind, &worker->content, size_bytes);
}

void worker_put_in_book(struct worker *worker, const struct module *module, const struct question *question)
{
	enum book_kind kind = book_kind_of(question);

	if (kind)
		answer_book_put(known_answers(worker), kind, owner_of(worker, module), worker_book_place(question),
				&worker->content, worker->content_bytes);
}
