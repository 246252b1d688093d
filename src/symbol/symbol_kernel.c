/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and types of the kernel to names. */
#include "symbol/symbol_internal.h"

#include "base/table.h"
#include "symbol/answer/answer_book.h"
#include "symbol/elf/demangle.h"
#include "symbol/names/kernel_symbols.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"

void symbols_resolve_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame)
{
	struct kernel_function function;
	char name[512];

	*frame = (struct symbol_frame){
		.module = "[kernel]",
		.offset = address,
		.is_kernel = true,
	};
	if (symbols->is_offline && symbols->book) {
		symbols_resolve_recorded_kernel(symbols, address, frame);
		return;
	}
	if (!symbols->kernel)
		symbols->kernel = kernel_symbols_new(symbols->is_offline ? "" : "/proc/kallsyms", "/proc/modules");
	if (!kernel_symbols_count(symbols->kernel) && !symbols->has_noted_kernel) {
		symbols->has_noted_kernel = true;
		notes_add(symbols->notes,
			  symbols->is_offline
				  ? "a recording does not contain the kernel's functions"
				  : "the kernel hides its symbol addresses: run as root or with CAP_SYSLOG, or set "
				    "kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1");
	}
	if (!kernel_symbols_find(symbols->kernel, address, &function))
		return;
	demangle(function.name, name, sizeof(name));
	frame->function = names_get(symbols->names, name);
	frame->module = function.module;
	frame->offset = address - function.start;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_KERNEL, 0, address, function.start, name, function.module);
}

void symbols_step_kernel(struct symbols *symbols, uint64_t limit_ns)
{
	if (symbols->kernel)
		kernel_symbols_step(symbols->kernel, limit_ns);
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
