/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What call frame information says about a file's code: how to unwind it, and where functions begin and
 * end that have lost their names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "symbol/elf/go_table.h"
#include "symbol/object/object_internal.h"
#include "symbol/python/python_file.h"
#include "symbol/ruby/ruby_file.h"
#include "symbol/v8/v8_file.h"

/* Call frame information in a section, unpacked. */
static bool find_cfi(Elf *elf, const char *name, struct cfi_section *section)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf ? elf_find_section(elf, name, &header) : NULL;
	Elf_Data *data;

	if (scn && header.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		return false;
	data = scn ? elf_getdata(scn, NULL) : NULL;
	if (!data || !data->d_buf)
		return false;
	*section = (struct cfi_section){
		.bytes = data->d_buf,
		.size_bytes = data->d_size,
		.address = header.sh_addr,
		.is_eh = !strcmp(name, ".eh_frame"),
	};
	return true;
}

/* By begin; looked for once. */
static void find_functions(struct object *object)
{
	struct cfi_section section;

	if (!object->has_tried_functions && find_cfi(object->program.elf, ".eh_frame", &section))
		object->functions = cfi_functions(&section, &object->function_count);
	object->has_tried_functions = true;
}

bool object_cfi_function(struct object *object, uint64_t address, struct cfi_function *function)
{
	size_t low;

	find_functions(object);
	/* The last one that begins at or before it. */
	low = BOUND(0, object->function_count, i, object->functions[i].begin <= address);
	if (!low || address >= object->functions[low - 1].end)
		return false;
	*function = object->functions[low - 1];
	return true;
}

/* In the program, or, where it has nothing else, in its debug file. */
static bool find_debug_frame(struct object *object, bool has_rows, struct cfi_section *section)
{
	if (find_cfi(object->program.elf, ".debug_frame", section))
		return true;
	if (has_rows)
		return false;
	object_open_debug(object);
	return find_cfi(object->debug.elf, ".debug_frame", section);
}

static void put_segments(Elf *elf, struct unwind_file *file)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && file->segment_count < UNWIND_SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, i, &header) && header.p_type == PT_LOAD && header.p_flags & PF_X)
			file->segments[file->segment_count++] = (struct unwind_segment){
				header.p_offset,
				header.p_vaddr,
				header.p_filesz,
			};
	}
}

int object_unwind_file(struct object *object, struct unwind_file *file)
{
	struct unwind_table more;
	struct cfi_section section;
	struct cfi_counts counts;
	Elf *elf = object->program.elf;
	GElf_Ehdr header;

	*file = (struct unwind_file){ 0 };
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	if (find_cfi(elf, ".eh_frame", &section))
		unwind_table_build(&section, &file->table, &counts);
	file->is_go = object_go_table(object) != NULL;
	if (file->is_go) {
		go_table_unwind(object->go, &more);
		unwind_table_merge(&file->table, &more);
		unwind_table_fini(&more);
	}
	/* Go's linker writes of C's code in the one and of Go's in the other. */
	if (find_debug_frame(object, file->table.row_count, &section)) {
		unwind_table_build(&section, &more, &counts);
		unwind_table_merge(&file->table, &more);
		unwind_table_fini(&more);
	}
	/* The dynamic loader's says nothing of it. */
	if (header.e_entry)
		unwind_table_mark_end(&file->table, header.e_entry);
	put_segments(elf, file);
	python_file_find(elf, file);
	ruby_file_find(elf, file);
	v8_file_find(elf, file);
	return file->table.row_count ? 0 : -ENOENT;
}
