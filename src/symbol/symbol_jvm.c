/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Java virtual machines, for who wants to know where their code is. */
#include "symbol/symbol_internal.h"

#include <errno.h>
#include <string.h>

#include "symbol/answer/answer.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

bool symbols_is_jvm(const struct symbols *symbols, uint32_t number)
{
	const struct module *module = modules_at(symbols->modules, number);

	return module && module->kind == MODULE_FILE && !strncmp(module->name, "libjvm.so", strlen("libjvm.so"));
}

int symbols_read_jvm(struct symbols *symbols, uint32_t pid, const struct symbol_mapping *mapping,
		     symbols_on_jvm *on_read, void *data)
{
	const struct module *module = modules_at(symbols->modules, mapping->module);
	const struct jvm_place place = { pid, mapping->start, mapping->file_offset };

	if (!module || module->kind != MODULE_FILE || module_has_failed(module))
		return -ENOENT;
	return worker_ask_jvm(symbols->worker, module, &place, on_read, data);
}

void symbols_note_jvm(struct symbols *symbols, uint32_t pid, int err)
{
	if (err != -EACCES) /* of what is all a user's, a note tells already */
		notes_add(symbols->notes,
			  "how the JVM of process %u keeps its code cannot be read: stacks may break off in Java code; "
			  "start java with -XX:+PreserveFramePointer",
			  pid);
}
