/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and types of the kernel to names. */
#include "symbol/symbol_internal.h"

#include "base/table.h"
#include "symbol/answer/answer_book.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"

void symbols_set_kernel_names(struct symbols *symbols, kernel_address_fn *ask, void *data)
{
	kernel_functions_free(symbols->kernel);
	symbols->kernel = kernel_functions_new(ask, data, symbols->names);
}

/* Once: what is true of one address is true of all. */
static void note_missing(struct symbols *symbols)
{
	if (!symbols->has_noted_kernel)
		notes_add(symbols->notes, "a recording does not contain the kernel's functions");
	symbols->has_noted_kernel = true;
}

void symbols_resolve_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame)
{
	const struct kernel_function *function;

	*frame = (struct symbol_frame){
		.module = "[kernel]",
		.offset = address,
		.is_kernel = true,
	};
	if (symbols->is_offline && symbols->book) {
		symbols_resolve_recorded_kernel(symbols, address, frame);
		return;
	}
	if (!symbols->kernel) {
		note_missing(symbols);
		return;
	}
	function = kernel_functions_find(symbols->kernel, address);
	if (!function->name)
		return;
	frame->function = function->name;
	frame->module = function->module;
	frame->offset = address - function->start;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_KERNEL, 0, address, function->start, function->name,
					 function->module);
}

void symbols_set_kernel_types(struct symbols *symbols, symbol_member_fn *member, void *data)
{
	symbols->kernel_member = member;
	symbols->kernel_member_data = data;
}

/* In what is recorded a member is a function without a module, which begins at its offset. */
const char *symbols_kernel_member(struct symbols *symbols, const char *type, uint32_t offset)
{
	uint64_t owner = hash_string(0, type), start;
	const char *module, *known;
	char name[128];

	if (symbols->book) {
		known = answer_book_find_function(symbols->book, BOOK_KERNEL_MEMBER, owner, offset, &start, &module);
		if (known || symbols->is_offline)
			return known ? names_get(symbols->names, known) : NULL;
	}
	if (!symbols->kernel_member ||
	    symbols->kernel_member(symbols->kernel_member_data, type, offset, name, sizeof(name)))
		return NULL;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_KERNEL_MEMBER, owner, offset, offset, name, NULL);
	return names_get(symbols->names, name);
}
