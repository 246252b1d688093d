/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/close_file.h"

enum { PAGE_BYTES = 4096 };

/*
 * libelf reads a file into memory of malloc() when it cannot map it, and does not say so. Only a mapping may
 * be released: of memory, the contents would be lost. Only a mapping begins where a page does.
 */
static void find_mapping(struct elf_file *file)
{
	Elf_Data *start = elf_getdata_rawchunk(file->elf, 0, 1, ELF_T_BYTE);
	struct stat status;

	if (!start || !start->d_buf || (uintptr_t)start->d_buf % PAGE_BYTES || fstat(file->fd, &status) ||
	    status.st_size <= 0)
		return;
	file->mapping = start->d_buf;
	file->mapping_bytes = ((size_t)status.st_size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

int elf_file_open(int fd, struct elf_file *file)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		file_close(fd);
		return -EINVAL;
	}
	*file = (struct elf_file){ .elf = elf, .fd = fd };
	find_mapping(file);
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (!file->elf)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		file_close(file->fd);
	free(file->path);
	*file = (struct elf_file){ 0 };
}

void elf_file_release(const struct elf_file *file)
{
	if (file->mapping)
		madvise(file->mapping, file->mapping_bytes, MADV_DONTNEED);
}

Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	GElf_Shdr own;
	Elf_Scn *scn = NULL;
	size_t names;

	if (!header)
		header = &own;
	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *found;

		/* A debug file keeps the headers of sections that it left out. */
		if (!gelf_getshdr(scn, header) || header->sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, header->sh_name);
		if (found && !strcmp(found, name))
			return scn;
	}
	return NULL;
}

static bool has_our_byte_order(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);

	return ident && ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

/* Also by the name that it had where compilers packed it in a way of their own. */
static Elf_Scn *find_debug_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = elf_find_section(elf, name, header);
	char packed_name[64];

	if (scn)
		return scn;
	snprintf(packed_name, sizeof(packed_name), ".z%s", name + 1);
	return elf_find_section(elf, packed_name, header);
}

bool elf_is_section_packed(Elf *elf, const char *name)
{
	static const char magic[] = "ZLIB";
	GElf_Shdr header;
	Elf_Scn *scn = find_debug_section(elf, name, &header);
	Elf_Data *data;

	if (!scn)
		return false;
	if (header.sh_flags & SHF_COMPRESSED)
		return true;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size >= sizeof(magic) - 1 &&
	       !memcmp(data->d_buf, magic, sizeof(magic) - 1);
}

struct byte_cursor elf_debug_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = find_debug_section(elf, name, NULL);
	Elf_Data *data;

	data = scn && has_our_byte_order(elf) ? elf_getdata(scn, NULL) : NULL;
	return data && data->d_buf ? byte_cursor_new(data->d_buf, data->d_size) : byte_cursor_new("", 0);
}

bool elf_has_symtab(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

bool elf_has_lines(Elf *elf)
{
	return elf_find_section(elf, ".debug_info", NULL) || elf_find_section(elf, ".zdebug_info", NULL);
}

/* Calls for each loaded segment, those with code first, which are the ones that are asked for. */
static bool find_segment(Elf *elf, bool (*is_it)(const GElf_Phdr *, uint64_t), uint64_t place, GElf_Phdr *found)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (int wants_code = 1; wants_code >= 0; wants_code--)
		for (size_t i = 0; i < count; i++)
			if (gelf_getphdr(elf, i, found) && found->p_type == PT_LOAD &&
			    !(found->p_flags & PF_X) == !wants_code && is_it(found, place))
				return true;
	return false;
}

static bool holds_offset(const GElf_Phdr *segment, uint64_t offset)
{
	return offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz;
}

/* What lies in the same page is mapped along with the segment. */
static bool nearly_holds_offset(const GElf_Phdr *segment, uint64_t offset)
{
	uint64_t start = segment->p_offset & ~(uint64_t)(PAGE_BYTES - 1);

	return offset >= start && offset - start < segment->p_filesz + PAGE_BYTES;
}

static bool holds_address(const GElf_Phdr *segment, uint64_t address)
{
	return address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_memsz;
}

bool elf_address_at(Elf *elf, uint64_t file_offset, uint64_t *address)
{
	GElf_Phdr segment;

	if (!find_segment(elf, holds_offset, file_offset, &segment) &&
	    !find_segment(elf, nearly_holds_offset, file_offset, &segment))
		return false;
	*address = file_offset - segment.p_offset + segment.p_vaddr;
	return true;
}

bool elf_offset_at(Elf *elf, uint64_t address, uint64_t *file_offset)
{
	GElf_Phdr segment;

	if (!find_segment(elf, holds_address, address, &segment))
		return false;
	*file_offset = address - segment.p_vaddr + segment.p_offset;
	return true;
}

bool elf_read_at(Elf *elf, uint64_t address, void *bytes, size_t size_bytes)
{
	uint64_t offset;
	Elf_Data *data;

	if (!elf_offset_at(elf, address, &offset))
		return false;
	data = elf_getdata_rawchunk(elf, offset, size_bytes, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size < size_bytes)
		return false;
	memcpy(bytes, data->d_buf, size_bytes);
	return true;
}
