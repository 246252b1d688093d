/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/answer/answer_book.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { BYTES_MAX = 512 << 20, TAKEN_BYTES = 4 << 20 };

struct answer_book {
	char *entries;
	size_t size_bytes, capacity_bytes;
	size_t taken_bytes;
	struct table *by_key; /* where an entry begins, + 1 */
};

struct answer_book *answer_book_new(void)
{
	struct answer_book *book = xcalloc(1, sizeof(*book));

	book->by_key = table_new();
	return book;
}

void answer_book_free(struct answer_book *book)
{
	if (!book)
		return;
	free(book->entries);
	table_free(book->by_key);
	free(book);
}

static uint64_t key_of(const struct book_entry *entry)
{
	return hash_u64(entry->place ^ hash_u64(entry->owner ^ hash_u64(entry->kind)));
}

static bool is_same(const struct book_entry *x, const struct book_entry *y)
{
	return x->kind == y->kind && x->owner == y->owner && x->place == y->place;
}

static size_t padded(size_t size_bytes)
{
	return (size_bytes + 7) & ~(size_t)7;
}

static const struct book_entry *find(const struct answer_book *book, const struct book_entry *wanted)
{
	uintptr_t at = (uintptr_t)table_find(book->by_key, key_of(wanted));
	const struct book_entry *entry = at ? (const void *)(book->entries + at - 1) : NULL;

	return entry && is_same(entry, wanted) ? entry : NULL;
}

static void make_space(struct answer_book *book, size_t size_bytes)
{
	if (book->size_bytes + size_bytes <= book->capacity_bytes)
		return;
	book->capacity_bytes = (book->size_bytes + size_bytes) * 2;
	book->entries = xrealloc(book->entries, book->capacity_bytes, 1);
}

static void add(struct answer_book *book, const struct book_entry *entry, const void *content)
{
	size_t content_bytes = padded(entry->size_bytes), all_bytes = sizeof(*entry) + content_bytes;
	char *at;

	if (find(book, entry) || book->size_bytes + all_bytes > BYTES_MAX)
		return;
	make_space(book, all_bytes);
	at = book->entries + book->size_bytes;
	memcpy(at, entry, sizeof(*entry));
	memset(at + all_bytes - content_bytes, 0, content_bytes);
	memcpy(at + sizeof(*entry), content, entry->size_bytes);
	table_put(book->by_key, key_of(entry), (void *)(uintptr_t)(book->size_bytes + 1));
	book->size_bytes += all_bytes;
}

void answer_book_put(struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t place, const void *content,
		     size_t size_bytes)
{
	add(book, &(struct book_entry){ kind, size_bytes, owner, place }, content);
}

const void *answer_book_find(const struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t place,
			     size_t *size_bytes)
{
	const struct book_entry *entry = find(book, &(struct book_entry){
							    .kind = kind,
							    .owner = owner,
							    .place = place,
						    });

	if (!entry)
		return NULL;
	*size_bytes = entry->size_bytes;
	return entry + 1;
}

const void *answer_book_take(struct answer_book *book, size_t *size_bytes)
{
	const char *first = book->entries;
	size_t taken = 0;

	*size_bytes = 0;
	if (!first)
		return NULL;
	first += book->taken_bytes;
	while (taken < TAKEN_BYTES && book->taken_bytes + taken < book->size_bytes) {
		const struct book_entry *entry = (const void *)(first + taken);

		taken += sizeof(*entry) + padded(entry->size_bytes);
	}
	*size_bytes = taken;
	book->taken_bytes += taken;
	return first;
}

int answer_book_add(struct answer_book *book, const void *entries, size_t size_bytes)
{
	const char *at = entries;
	struct book_entry entry;

	while (size_bytes) {
		if (size_bytes < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, at, sizeof(entry));
		at += sizeof(entry);
		size_bytes -= sizeof(entry);
		if (padded(entry.size_bytes) > size_bytes)
			return -EBADMSG;
		add(book, &entry, at);
		at += padded(entry.size_bytes);
		size_bytes -= padded(entry.size_bytes);
	}
	return 0;
}

void answer_book_put_function(struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t address,
			      uint64_t start, const char *name, const char *module)
{
	size_t name_bytes = strlen(name) + 1, module_bytes = module ? strlen(module) + 1 : 1;
	size_t size_bytes = sizeof(struct book_function) + name_bytes + module_bytes;
	struct book_function *function = xcalloc(1, size_bytes);

	function->start = start;
	memcpy(function->text, name, name_bytes);
	memcpy(function->text + name_bytes, module ? module : "", module_bytes);
	answer_book_put(book, kind, owner, address, function, size_bytes);
	free(function);
}

const char *answer_book_find_function(const struct answer_book *book, enum book_kind kind, uint64_t owner,
				      uint64_t address, uint64_t *start, const char **module)
{
	size_t size_bytes, name_bytes;
	const struct book_function *function = answer_book_find(book, kind, owner, address, &size_bytes);

	if (!function || size_bytes < sizeof(*function))
		return NULL;
	size_bytes -= sizeof(*function);
	name_bytes = strnlen(function->text, size_bytes) + 1;
	if (name_bytes >= size_bytes || function->text[size_bytes - 1])
		return NULL;
	*start = function->start;
	*module = function->text + name_bytes;
	return function->text;
}
