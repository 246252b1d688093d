/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables of modules, for who asks for them. */
#include "symbol/symbol_internal.h"

#include <errno.h>

#include "base/memory.h"
#include "symbol/answer/answer_book.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

/* Who asked for an unwind table. */
struct table_request {
	struct symbols *symbols;
	symbols_on_unwind_file *on_file;
	void *data;
};

/* A file that is hostile to one way of reading it may still have names. */
static void note_no_table(struct symbols *symbols, const struct module *module, int err)
{
	if (err == -EDQUOT)
		notes_add(symbols->notes,
			  "the time limit for files of the owner of %s is used up: its call frame information is not "
			  "used",
			  module->path);
	else if (err == -EFBIG)
		notes_add(symbols->notes,
			  "the unwind tables of %s exceed %d MB: its call frame information is not "
			  "used",
			  module->path, UNWIND_FILE_BYTES_MAX >> 20);
	else if (err == -ECHILD || err == -ETIMEDOUT)
		notes_add(symbols->notes, "%s takes too long to read: its call frame information is not used",
			  module->path);
}

static void on_table(void *data, const struct module *asked, int err, struct unwind_file *file)
{
	struct table_request *request = data;
	struct symbols *symbols = request->symbols;
	struct module *module = modules_at(symbols->modules, asked->number);
	uint64_t versions;

	if (!err) {
		module->python_version = file->python_version;
		module->ruby_version = file->ruby_version;
		module->v8_version = file->v8_version;
		module->v8_heap = file->v8_heap;
	}
	module->is_go = !err && file->is_go;
	versions = module->python_version | (uint64_t)module->ruby_version << 16;
	if (!err && symbols->book && versions)
		answer_book_put(symbols->book, BOOK_FILE, module_owner(module), 0, &(struct book_file){ versions },
				sizeof(struct book_file));
	note_no_table(symbols, module, err);
	request->on_file(request->data, module->number, err ? -ENOENT : 0, file);
}

int symbols_ask_unwind_file(struct symbols *symbols, uint32_t number, symbols_on_unwind_file *on_file, void *data)
{
	struct module *module = modules_at(symbols->modules, number);
	struct table_request *request;

	if (!module || (module->kind != MODULE_FILE && module->kind != MODULE_VDSO) || module_has_failed(module))
		return -ENOENT;
	request = arena_alloc(symbols->requests, sizeof(*request));
	*request = (struct table_request){ symbols, on_file, data };
	return worker_ask_table(symbols->worker, module, on_table, request) ? -ENOENT : 0;
}
