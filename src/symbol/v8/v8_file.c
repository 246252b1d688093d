/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * V8 exports numbers that say how it lays out its heap and its frames, for debuggers: v8dbg_class_X__field__type is
 * the offset of a field, v8dbg_type_X__X_TYPE what the map of an X has as its type. What a field's type is called
 * differs from version to version, and does not matter here.
 */
#include "symbol/v8/v8_file.h"

#include <stddef.h>
#include <string.h>

#include "symbol/elf/elf_file.h"
#include "v8_format.h"

enum {
	SYMBOLS_MAX = 1 << 20,
	VERSION_FIRST = 0x0a02,
	VERSION_LAST = 0x0d06,
	OFFSET_MAX = 1024, /* of a field */
	FRAME_OFFSET_MAX = 64,
	LINE_OFFSET_BEHIND_NAME = 8, /* in a Script that has three more fields before the ends of its lines */
	LINE_ENDS_BEHIND_NAME = 40,
};

/* What the file exports, by the order of names below. */
enum number {
	MAJOR,
	MINOR,
	TAGGED_BYTES,
	OBJECT_TAG,
	OBJECT_TAG_MASK,
	INTEGER_SHIFT,
	FRAME_CONTEXT,
	FRAME_FUNCTION,
	FUNCTION_SHARED,
	SCOPE_LOCAL_COUNT,
	SCOPE_LOCALS,
	NUMBERS_OF_HEAP,
};

/* One that ends with a star goes on in any way. */
struct name {
	const char *name;
	size_t heap_offset; /* of what it says, in struct v8_heap */
};

#define HEAP(field) offsetof(struct v8_heap, field)

static const struct name names[] = {
	[MAJOR] = { "_ZN2v88internal7Version6major_E", 0 },
	[MINOR] = { "_ZN2v88internal7Version6minor_E", 0 },
	[TAGGED_BYTES] = { "v8dbg_TaggedSize", 0 },
	[OBJECT_TAG] = { "v8dbg_HeapObjectTag", 0 },
	[OBJECT_TAG_MASK] = { "v8dbg_HeapObjectTagMask", 0 },
	[INTEGER_SHIFT] = { "v8dbg_SmiShiftSize", 0 },
	[FRAME_CONTEXT] = { "v8dbg_off_fp_context", 0 },
	[FRAME_FUNCTION] = { "v8dbg_off_fp_function", 0 },
	[FUNCTION_SHARED] = { "v8dbg_class_JSFunction__shared__*", 0 },
	[SCOPE_LOCAL_COUNT] = { "v8dbg_scopeinfo_idx_ncontextlocals", 0 },
	[SCOPE_LOCALS] = { "v8dbg_scopeinfo_idx_first_vars", 0 },
	[NUMBERS_OF_HEAP] = { "v8dbg_class_HeapObject__map__*", HEAP(object_map) },
	{ "v8dbg_class_Map__instance_type__*", HEAP(map_type) },
	{ "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", HEAP(shared_type) },
	{ "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", HEAP(scope_type) },
	{ "v8dbg_type_Script__SCRIPT_TYPE", HEAP(script_type) },
	{ "v8dbg_type_FixedArray__FIXED_ARRAY_TYPE", HEAP(array_type) },
	{ "v8dbg_FirstNonstringType", HEAP(string_type_end) },
	{ "v8dbg_StringRepresentationMask", HEAP(string_form_mask) },
	{ "v8dbg_OneByteStringTag", HEAP(string_is_one_byte) },
	{ "v8dbg_SeqStringTag", HEAP(form_sequential) },
	{ "v8dbg_ConsStringTag", HEAP(form_cons) },
	{ "v8dbg_ExternalStringTag", HEAP(form_external) },
	{ "v8dbg_SlicedStringTag", HEAP(form_sliced) },
	{ "v8dbg_ThinStringTag", HEAP(form_thin) },
	{ "v8dbg_class_SharedFunctionInfo__name_or_scope_info__*", HEAP(shared_name) },
	{ "v8dbg_class_SharedFunctionInfo__script*", HEAP(shared_script) },
	{ "v8dbg_class_SharedFunctionInfo__raw_function_token_offset__*", HEAP(shared_token) },
	{ "v8dbg_class_Script__name__*", HEAP(script_name) },
	{ "v8dbg_class_Script__source__*", HEAP(script_source) },
	{ "v8dbg_class_Script__line_ends__*", HEAP(script_line_ends) },
	{ "v8dbg_class_String__length__*", HEAP(string_length) },
	{ "v8dbg_class_SeqOneByteString__chars__*", HEAP(string_characters) },
	{ "v8dbg_class_ConsString__first__*", HEAP(cons_first) },
	{ "v8dbg_class_ConsString__second__*", HEAP(cons_second) },
	{ "v8dbg_class_SlicedString__parent__*", HEAP(sliced_parent) },
	{ "v8dbg_class_SlicedString__offset__*", HEAP(sliced_offset) },
	{ "v8dbg_class_ThinString__actual__*", HEAP(thin_actual) },
	{ "v8dbg_class_ExternalString__resource__*", HEAP(external_resource) },
	{ "v8dbg_class_FixedArrayBase__length__*", HEAP(array_length) },
	{ "v8dbg_class_FixedArray__data__*", HEAP(array_items) },
};

enum { NUMBERS = sizeof(names) / sizeof(*names) };

/* Numbers that are known have a bit. */
struct numbers {
	int32_t values[NUMBERS];
	uint64_t known;
};
_Static_assert(NUMBERS < 64, "each has a bit");

static bool is_called(const char *symbol, const char *name)
{
	size_t length = strlen(name) - 1;

	return name[length] == '*' ? !strncmp(symbol, name, length) : !strcmp(symbol, name);
}

/* What a symbol has before anything runs; what is all zeros is not in the file. */
static bool read_value(Elf *elf, const GElf_Sym *symbol, int32_t *value)
{
	Elf_Scn *scn = elf_getscn(elf, symbol->st_shndx);
	GElf_Shdr header;
	uint64_t offset;
	Elf_Data *data;

	*value = 0;
	if (scn && gelf_getshdr(scn, &header) && header.sh_type == SHT_NOBITS)
		return true;
	if (!elf_offset_at(elf, symbol->st_value, &offset))
		return false;
	data = elf_getdata_rawchunk(elf, offset, sizeof(*value), ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size < sizeof(*value))
		return false;
	memcpy(value, data->d_buf, sizeof(*value));
	return true;
}

static void note_symbol(Elf *elf, const char *name, const GElf_Sym *symbol, struct numbers *numbers)
{
	for (size_t i = 0; i < NUMBERS; i++)
		if (is_called(name, names[i].name) && read_value(elf, symbol, &numbers->values[i]))
			numbers->known |= 1ull << i;
}

static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, struct numbers *numbers)
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
		if (name && (!strncmp(name, "v8dbg_", 6) || !strncmp(name, "_ZN2v88internal7Version6", 24)))
			note_symbol(elf, name, &symbol, numbers);
	}
}

static bool is_within(int32_t value, int32_t first, int32_t last)
{
	return value >= first && value <= last;
}

/* What the numbers of a version that is known say; false: not what is known of it. */
static bool put_heap(const struct numbers *numbers, struct v8_heap *heap)
{
	const int32_t *values = numbers->values;

	if (numbers->known != (1ull << NUMBERS) - 1 || values[TAGGED_BYTES] != 8 || values[OBJECT_TAG] != V8_TAG ||
	    values[OBJECT_TAG_MASK] != V8_TAG_MASK || values[INTEGER_SHIFT] != 31 || values[SCOPE_LOCAL_COUNT] != 2 ||
	    (values[SCOPE_LOCALS] != 3 && values[SCOPE_LOCALS] != 5))
		return false;
	for (size_t i = NUMBERS_OF_HEAP; i < NUMBERS; i++) {
		uint16_t value = values[i];

		if (!is_within(values[i], 0, OFFSET_MAX))
			return false;
		memcpy((char *)heap + names[i].heap_offset, &value, sizeof(value));
	}
	heap->scope_local_count = values[SCOPE_LOCAL_COUNT];
	heap->scope_locals = values[SCOPE_LOCALS];
	heap->scope_has_positions = values[SCOPE_LOCALS] == 5;
	if (heap->script_line_ends == heap->script_name + LINE_ENDS_BEHIND_NAME)
		heap->script_line_offset = heap->script_name + LINE_OFFSET_BEHIND_NAME;
	heap->is_known = 1;
	return true;
}

static bool put_frames(const struct numbers *numbers, const struct v8_heap *heap, struct v8_process *frames)
{
	const int32_t *values = numbers->values;

	if (!is_within(values[FRAME_CONTEXT], -FRAME_OFFSET_MAX, -8) || values[FRAME_CONTEXT] % 8 ||
	    !is_within(values[FRAME_FUNCTION], -FRAME_OFFSET_MAX, -8) || values[FRAME_FUNCTION] % 8 ||
	    !is_within(values[FUNCTION_SHARED], 0, OFFSET_MAX) || !heap->shared_type)
		return false;
	*frames = (struct v8_process){
		.frame_context = values[FRAME_CONTEXT],
		.frame_function = values[FRAME_FUNCTION],
		.function_shared = values[FUNCTION_SHARED],
		.object_map = heap->object_map,
		.map_type = heap->map_type,
		.shared_type = heap->shared_type,
	};
	return true;
}

void v8_file_find(Elf *elf, struct unwind_file *file)
{
	struct numbers numbers = { 0 };
	struct v8_process frames;
	struct v8_heap heap = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_DYNSYM)
			read_symbols(elf, scn, &header, &numbers);
	if (!(numbers.known >> OBJECT_TAG & 1))
		return;
	file->v8_version = (uint32_t)(numbers.values[MAJOR] & 0xff) << 8 | (numbers.values[MINOR] & 0xff);
	if (file->v8_version < VERSION_FIRST || file->v8_version > VERSION_LAST || !put_heap(&numbers, &heap) ||
	    !put_frames(&numbers, &heap, &frames))
		return;
	file->v8 = frames;
	file->v8_heap = heap;
}
