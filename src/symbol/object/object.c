/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/object/object_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_variables.h"
#include "symbol/elf/go_table.h"
#include "symbol/elf/mini_debug.h"
#include "symbol/elf/vdso.h"
#include "symbol/object/debug_file.h"

struct object *object_new(int fd, const struct file_source *source, const char *path)
{
	struct object *object = xcalloc(1, sizeof(*object));

	object->path = xstrdup(path);
	object->source = source;
	if (elf_file_open(fd, &object->program))
		object->flags |= ANSWER_NOT_ELF;
	else
		object->program.path = xstrdup(path);
	return object;
}

struct object *object_new_vdso(void)
{
	struct object *object = xcalloc(1, sizeof(*object));

	object->path = xstrdup("[vdso]");
	object->has_tried_debug = true;
	if (vdso_open(&object->program, &object->program_bytes))
		object->flags |= ANSWER_NOT_ELF;
	return object;
}

void object_free(struct object *object)
{
	if (!object)
		return;
	dwarf_variables_free(object->dwarf_variables);
	dwarf_file_close(object->dwarf);
	dwarf_end(object->shared_dwarf);
	go_table_free(object->go);
	free(object->functions);
	elf_symbols_free(object->variables);
	elf_symbols_free(object->symbols);
	elf_file_close(&object->mini);
	elf_file_close(&object->shared);
	elf_file_close(&object->debug);
	elf_file_close(&object->program);
	free(object->mini_bytes);
	free(object->program_bytes);
	free(object->path);
	free(object);
}

void object_release(const struct object *object)
{
	elf_file_release(&object->program);
	elf_file_release(&object->debug);
	elf_file_release(&object->shared);
}

void object_shrink(struct object *object)
{
	if (!object->dwarf || !dwarf_file_shrink(object->dwarf))
		return;
	dwarf_variables_free(object->dwarf_variables);
	object->dwarf_variables = NULL;
	dwarf_file_close(object->dwarf);
	object->dwarf = NULL;
	object->flags |= ANSWER_BAD_LINES;
}

void object_open_debug(struct object *object)
{
	if (object->has_tried_debug)
		return;
	object->has_tried_debug = true;
	if (debug_file_open(&object->program, object->source, object->path, &object->debug) == -ESTALE)
		object->flags |= ANSWER_STALE_DEBUG;
}

const struct go_table *object_go_table(struct object *object)
{
	if (!object->has_tried_go)
		object->go = go_table_open(object->program.elf);
	object->has_tried_go = true;
	return object->go;
}

struct elf_symbols *object_symbols_new(struct object *object, enum elf_symbol_kind kind)
{
	Elf *files[ELF_SYMBOL_FILES_MAX] = { object->program.elf };

	if (!elf_has_symtab(object->program.elf)) {
		object_open_debug(object);
		files[1] = object->debug.elf;
		if (!files[1] && !object->mini.elf)
			mini_debug_open(object->program.elf, &object->mini, &object->mini_bytes);
		files[2] = object->mini.elf;
	}
	return elf_symbols_new(files, ELF_SYMBOL_FILES_MAX, kind);
}

void object_open_symbols(struct object *object)
{
	if (object->symbols)
		return;
	object->symbols = object_symbols_new(object, ELF_FUNCTIONS);
	if (!elf_symbols_count(object->symbols) && !object_go_table(object))
		object->flags |= ANSWER_NO_SYMBOLS;
}

/* Without the file that a debug file shares entries with, libdw would open any path it names. */
static int open_shared(struct object *object, const struct elf_file *debug)
{
	if (!debug_file_has_shared(debug))
		return 0;
	if (debug_file_open_shared(debug, object->source, &object->shared))
		return -ENOENT;
	object->shared_dwarf = dwarf_begin_elf(object->shared.elf, DWARF_C_READ, NULL);
	return object->shared_dwarf ? 0 : -ENOENT;
}

void object_open_dwarf(struct object *object)
{
	const struct elf_file *debug = &object->program;
	int err;

	if (object->has_tried_dwarf)
		return;
	object->has_tried_dwarf = true;
	if (!elf_has_lines(debug->elf)) {
		object_open_debug(object);
		debug = &object->debug;
	}
	if (!debug->elf || !elf_has_lines(debug->elf)) {
		if (!object_go_table(object))
			object->flags |= ANSWER_NO_LINES;
		return;
	}
	if (open_shared(object, debug)) {
		object->flags |= ANSWER_NO_SHARED;
		return;
	}
	err = dwarf_file_open(debug, object->shared_dwarf, &object->dwarf);
	if (err)
		object->flags |= err == -ENOENT ? ANSWER_NO_LINES : ANSWER_BAD_LINES;
}
