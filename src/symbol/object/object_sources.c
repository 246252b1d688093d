/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files what is said of an object comes from. */
#include <string.h>

#include "symbol/object/debug_file.h"
#include "symbol/object/file_hash.h"
#include "symbol/object/object_internal.h"

static void add(struct sources_answer *answer, const struct elf_file *file)
{
	struct source *source = &answer->sources[answer->count];

	if (file->fd < 0 || file_stamp_read(file->fd, &source->stamp) ||
	    file_hash(file->fd, source->stamp.size_bytes, source->hash))
		memset(source, 0, sizeof(*source)); /* of no file */
	answer->count++;
}

void object_sources(struct object *object, struct sources_answer *answer)
{
	const struct elf_file *with_lines = &object->program;
	struct elf_file shared = { 0 };

	memset(answer, 0, sizeof(*answer));
	add(answer, &object->program);
	if (!object->program.elf)
		return;
	if (!elf_has_symtab(object->program.elf) || !elf_has_lines(object->program.elf)) {
		object_open_debug(object);
		if (object->debug.elf)
			add(answer, &object->debug);
	}
	if (!elf_has_lines(with_lines->elf))
		with_lines = &object->debug;
	if (!with_lines->elf || !debug_file_has_shared(with_lines) ||
	    debug_file_open_shared(with_lines, object->source, &shared))
		return;
	add(answer, &shared);
	elf_file_close(&shared);
}

void object_build_id(const struct object *object, struct build_id *build_id)
{
	*build_id = (struct build_id){ 0 };
	if (object->program.fd >= 0)
		build_id_read(object->program.fd, build_id);
}
