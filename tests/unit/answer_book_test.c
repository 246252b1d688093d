/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is put into a book is found, and comes out of another one that was given its entries. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/answer/answer_book.h"

enum { ENTRIES = 20000, OWNERS = 7 };

static struct answer_book *book;

static uint64_t content_of(uint64_t i, char *content)
{
	size_t size_bytes = i * 7919 % 1500;

	memset(content, (int)i, size_bytes);
	return size_bytes;
}

static void put_all(void)
{
	char content[1500];

	for (uint64_t i = 0; i < ENTRIES; i++)
		answer_book_put(book, BOOK_PLACE + i % 3, i % OWNERS, i, content, content_of(i, content));
}

static void check_all(const struct answer_book *other)
{
	size_t size_bytes, expected_bytes;
	const void *found;
	char content[1500];

	for (uint64_t i = 0; i < ENTRIES; i++) {
		expected_bytes = content_of(i, content);
		found = answer_book_find(other, BOOK_PLACE + i % 3, i % OWNERS, i, &size_bytes);
		CHECK(found);
		CHECK_EQUAL(size_bytes, expected_bytes);
		CHECK_EQUAL((uintptr_t)found % 8, 0);
		CHECK(!memcmp(found, content, size_bytes));
	}
}

TEST(entries_are_found_by_kind_owner_and_place)
{
	size_t size_bytes;

	book = answer_book_new();
	CHECK(!answer_book_find(book, BOOK_PLACE, 0, 0, &size_bytes));
	put_all();
	check_all(book);
	CHECK(!answer_book_find(book, BOOK_CODE, 0, 0, &size_bytes));
	CHECK(!answer_book_find(book, BOOK_PLACE, 1, 0, &size_bytes));
	CHECK(!answer_book_find(book, BOOK_PLACE, 0, ENTRIES * 3, &size_bytes));
	answer_book_free(book);
}

TEST(the_first_entry_of_a_place_stays)
{
	size_t size_bytes;
	const char *found;

	book = answer_book_new();
	answer_book_put(book, BOOK_NOTE, 0, 1, "first", 6);
	answer_book_put(book, BOOK_NOTE, 0, 1, "second", 7);
	found = answer_book_find(book, BOOK_NOTE, 0, 1, &size_bytes);
	CHECK(found);
	CHECK_EQUAL(size_bytes, 6);
	CHECK_STRING(found, "first");
	answer_book_free(book);
}

TEST(what_is_taken_part_by_part_makes_the_same_book)
{
	struct answer_book *other = answer_book_new();
	const void *entries;
	size_t size_bytes, parts = 0;

	book = answer_book_new();
	put_all();
	while ((entries = answer_book_take(book, &size_bytes)) && size_bytes) {
		CHECK_EQUAL(size_bytes % 8, 0);
		CHECK_THAT(size_bytes, <, 5 << 20);
		CHECK(!answer_book_add(other, entries, size_bytes));
		parts++;
	}
	CHECK_THAT(parts, >, 2);
	check_all(other);
	answer_book_put(book, BOOK_NOTE, 9, 9, "more", 5);
	entries = answer_book_take(book, &size_bytes);
	CHECK_EQUAL(size_bytes, sizeof(struct book_entry) + 8);
	CHECK(entries);
	answer_book_take(book, &size_bytes);
	CHECK(!size_bytes);
	answer_book_free(book);
	answer_book_free(other);
}

TEST(entries_that_are_cut_off_are_refused_from_there_on)
{
	struct answer_book *other;
	const char *entries;
	char *part;
	size_t size_bytes, found_bytes;

	book = answer_book_new();
	answer_book_put(book, BOOK_NOTE, 0, 0, "one", 4);
	answer_book_put(book, BOOK_NOTE, 0, 1, "another", 8);
	entries = answer_book_take(book, &size_bytes);
	for (size_t length = 0; length < size_bytes; length++) {
		size_t whole = sizeof(struct book_entry) + 8;

		part = malloc(length + 1);
		memcpy(part, entries, length);
		other = answer_book_new();
		CHECK_EQUAL(answer_book_add(other, part, length), (length % whole ? -EBADMSG : 0));
		CHECK_EQUAL(!answer_book_find(other, BOOK_NOTE, 0, 0, &found_bytes), length < whole);
		CHECK(!answer_book_find(other, BOOK_NOTE, 0, 1, &found_bytes));
		answer_book_free(other);
		free(part);
	}
	answer_book_free(book);
}

TEST(functions_come_back_with_their_module)
{
	const char *name, *module;
	uint64_t start = 0;

	book = answer_book_new();
	answer_book_put_function(book, BOOK_KERNEL, 0, 0x1010, 0x1000, "do_work", "[kernel]");
	answer_book_put_function(book, BOOK_JIT, 5, 0x1010, 0x1008, "jitted", NULL);
	name = answer_book_find_function(book, BOOK_KERNEL, 0, 0x1010, &start, &module);
	CHECK(name);
	CHECK_STRING(name, "do_work");
	CHECK_STRING(module, "[kernel]");
	CHECK_EQUAL(start, 0x1000);
	name = answer_book_find_function(book, BOOK_JIT, 5, 0x1010, &start, &module);
	CHECK(name);
	CHECK_STRING(name, "jitted");
	CHECK(!*module);
	CHECK_EQUAL(start, 0x1008);
	CHECK(!answer_book_find_function(book, BOOK_JIT, 4, 0x1010, &start, &module));
	answer_book_free(book);
}

TEST(functions_of_a_damaged_book_are_none)
{
	static const struct {
		const char *content;
		size_t size_bytes;
	} cases[] = {
		{ "", 0 },
		{ "1234567", 7 },
		{ "12345678", 8 },
		{ "12345678name", 12 },
		{ "12345678name\0module", 19 },
		{ "12345678name", 13 },
	};
	const char *module;
	uint64_t start;

	book = answer_book_new();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answer_book_put(book, BOOK_KERNEL, 0, i, cases[i].content, cases[i].size_bytes);
		CHECK(!answer_book_find_function(book, BOOK_KERNEL, 0, i, &start, &module));
	}
	answer_book_put(book, BOOK_KERNEL, 0, 99, "12345678name\0module", 20);
	CHECK(answer_book_find_function(book, BOOK_KERNEL, 0, 99, &start, &module));
	answer_book_free(book);
}
