/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/java/jvm_exports.h"

#include <string.h>

enum { SYMBOLS_MAX = 1 << 16 };

static const struct {
	const char *name; /* behind gHotSpotVM */
	size_t member;
} exported[] = {
	{ "Structs", offsetof(struct jvm_exports, structs) },
	{ "Types", offsetof(struct jvm_exports, types) },
	{ "StructEntryArrayStride", offsetof(struct jvm_exports, field_bytes) },
	{ "StructEntryTypeNameOffset", offsetof(struct jvm_exports, field_type) },
	{ "StructEntryFieldNameOffset", offsetof(struct jvm_exports, field_name) },
	{ "StructEntryTypeStringOffset", offsetof(struct jvm_exports, field_kind) },
	{ "StructEntryIsStaticOffset", offsetof(struct jvm_exports, field_is_static) },
	{ "StructEntryOffsetOffset", offsetof(struct jvm_exports, field_offset) },
	{ "StructEntryAddressOffset", offsetof(struct jvm_exports, field_address) },
	{ "TypeEntryArrayStride", offsetof(struct jvm_exports, type_bytes) },
	{ "TypeEntryTypeNameOffset", offsetof(struct jvm_exports, type_name) },
	{ "TypeEntrySizeOffset", offsetof(struct jvm_exports, type_size) },
};

enum { EXPORTED = sizeof(exported) / sizeof(*exported) };

static uint64_t *member_at(struct jvm_exports *exports, size_t i)
{
	return (uint64_t *)((char *)exports + exported[i].member);
}

static void note_symbol(struct jvm_exports *exports, const char *name, uint64_t address)
{
	static const char prefix[] = "gHotSpotVM";

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return;
	for (size_t i = 0; i < EXPORTED; i++)
		if (!strcmp(name + sizeof(prefix) - 1, exported[i].name))
			*member_at(exports, i) = address;
}

static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, struct jvm_exports *exports)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && symbol_bytes ? data->d_size / symbol_bytes : 0;

	for (size_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name)
			note_symbol(exports, name, symbol.st_value);
	}
}

bool jvm_exports_find(Elf *elf, struct jvm_exports *exports)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	memset(exports, 0, sizeof(*exports));
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_DYNSYM)
			read_symbols(elf, scn, &header, exports);
	for (size_t i = 0; i < EXPORTED; i++)
		if (!*member_at(exports, i))
			return false;
	return true;
}
