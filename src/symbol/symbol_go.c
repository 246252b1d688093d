/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines of Go programs, for who wants to know what they do. */
#include "symbol/symbol_internal.h"

#include <errno.h>

#include "symbol/answer/answer.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

bool symbols_is_go(const struct symbols *symbols, uint32_t number)
{
	const struct module *module = modules_at(symbols->modules, number);

	return module && module->is_go;
}

int symbols_read_goroutines(struct symbols *symbols, uint32_t pid, const struct symbol_mapping *mapping,
			    uint32_t random, symbols_on_goroutines *on_read, void *data)
{
	const struct module *module = modules_at(symbols->modules, mapping->module);
	const struct go_process process = { pid, mapping->start, mapping->file_offset, random };

	if (!module || module->kind != MODULE_FILE || module_has_failed(module))
		return -ENOENT;
	return worker_ask_goroutines(symbols->worker, module, &process, on_read, data);
}

void symbols_note_goroutines(struct symbols *symbols, uint32_t pid, int err, const struct go_answer *answer)
{
	static const char *const sentences[] = {
		[GO_NO_SYMBOLS] = "what the goroutines of process %u wait for cannot be read: its symbol table was "
				  "removed; link it without -s, or install its debug symbols",
		[GO_NO_LAYOUT] = "what the goroutines of process %u wait for cannot be read: its debug information was "
				 "removed, and its version of Go is not known; link it without -s and -w, or install "
				 "its debug symbols",
		[GO_UNREADABLE] =
			"what the goroutines of process %u wait for cannot be read: its memory makes no sense",
	};

	if (err == -EDQUOT)
		notes_add(
			symbols->notes,
			"reading the memory of process %u took too long: what its goroutines wait for is sampled no more",
			pid);
	else if (err && err != -EACCES) /* of what is all a user's, a note tells already */
		notes_add(symbols->notes,
			  "the memory of process %u cannot be read: what its goroutines wait for is unknown", pid);
	else if (!err && sentences[answer->result])
		notes_add(symbols->notes, sentences[answer->result], pid);
}
