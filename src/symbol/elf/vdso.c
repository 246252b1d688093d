/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/vdso.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/memory.h"

enum { VDSO_BYTES_MAX = 64 * 1024 };

int vdso_open(struct elf_file *file, void **bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size_bytes;
	void *copy;
	Elf *elf;

	if (!header || header->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	/* Its section headers are the last thing in it. */
	size_bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (size_bytes > VDSO_BYTES_MAX)
		return -EINVAL;
	copy = xcalloc(1, size_bytes);
	memcpy(copy, header, size_bytes);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size_bytes);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		free(copy);
		return -EINVAL;
	}
	*file = (struct elf_file){ .elf = elf, .fd = -1 };
	*bytes = copy;
	return 0;
}
