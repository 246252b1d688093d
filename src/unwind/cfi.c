/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_cursor.h"
#include "base/memory.h"
#include "unwind/rule.h"

enum {
	ADDRESS_BYTES = 8,
	REMEMBERED_MAX = 16, /* compilers nest one deep */
	FUNCTIONS_MAX = 4 << 20,
	PADDING_BYTES_MAX = 64, /* between functions: no gap, since nothing runs there */
};

/* Pointer encodings of .eh_frame: the low half says the format, the high one the origin. */
enum { ENCODING_FORMAT = 0x0f, ENCODING_ORIGIN = 0x70 };

/* Common information entry: what functions have in common. */
struct cie {
	struct byte_cursor program; /* its instructions */
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding;
	bool has_augmentation; /* functions carry a block of data */
};

struct function {
	uint64_t begin, size;
	const uint8_t *program, *program_end;
	uint64_t cie; /* its place in the section */
};

struct reader {
	const struct cfi_section *section;
	cfi_row_fn on_row;
	void *data;
	struct cfi_counts *counts;
	struct function *functions;
	size_t function_count, function_capacity;
	struct cie cie;     /* the last that was needed */
	uint64_t cie_place; /* UINT64_MAX: none */
	uint64_t end;       /* of the functions so far */
};

/* An entry's contents; false at the end of the section. */
struct entry {
	uint64_t place; /* of its length */
	uint64_t id_place;
	uint64_t id;
	bool is_64bit;
	struct byte_cursor rest; /* after the id */
};

static uint64_t place_of(const struct reader *reader, const uint8_t *at)
{
	return at - (const uint8_t *)reader->section->bytes;
}

static bool entry_next(const struct reader *reader, struct byte_cursor *cursor, struct entry *entry)
{
	uint64_t length;

	entry->place = place_of(reader, cursor->at);
	length = byte_cursor_number(cursor, 4);
	entry->is_64bit = length == 0xffffffff;
	if (entry->is_64bit)
		length = byte_cursor_number(cursor, 8);
	/* In .eh_frame a length of 0 is the end. */
	if (cursor->is_bad || !length || length > byte_cursor_left(cursor))
		return false;
	entry->rest = byte_cursor_new(cursor->at, length);
	byte_cursor_skip(cursor, length);
	entry->id_place = place_of(reader, entry->rest.at);
	entry->id = byte_cursor_number(&entry->rest, entry->is_64bit && !reader->section->is_eh ? 8 : 4);
	return true;
}

static bool is_cie(const struct reader *reader, const struct entry *entry)
{
	if (reader->section->is_eh)
		return !entry->id;
	return entry->id == (entry->is_64bit ? UINT64_MAX : 0xffffffff);
}

/* The place in the section of the entry's CIE. */
static uint64_t cie_place(const struct reader *reader, const struct entry *entry)
{
	return reader->section->is_eh ? entry->id_place - entry->id : entry->id;
}

/* A pointer; what relates to something that the file does not say makes the cursor bad. */
static uint64_t encoded_pointer(const struct reader *reader, struct byte_cursor *cursor, uint8_t encoding)
{
	uint64_t origin = 0, value;

	if ((encoding & ENCODING_ORIGIN) == DW_EH_PE_pcrel)
		origin = reader->section->address + place_of(reader, cursor->at);
	else if (encoding & ENCODING_ORIGIN)
		byte_cursor_fail(cursor);
	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = byte_cursor_number(cursor, 8);
		break;
	case DW_EH_PE_uleb128:
		value = byte_cursor_uleb(cursor);
		break;
	case DW_EH_PE_sleb128:
		value = byte_cursor_sleb(cursor);
		break;
	case DW_EH_PE_udata2:
		value = byte_cursor_number(cursor, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (int16_t)byte_cursor_number(cursor, 2);
		break;
	case DW_EH_PE_udata4:
		value = byte_cursor_number(cursor, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (int32_t)byte_cursor_number(cursor, 4);
		break;
	default:
		byte_cursor_fail(cursor);
		value = 0;
	}
	return origin + value;
}

/* The block of data that the augmentation string describes. */
static bool read_augmentation(const struct reader *reader, const char *letters, struct byte_cursor *cursor,
			      struct cie *cie)
{
	uint64_t size_bytes = byte_cursor_uleb(cursor);
	struct byte_cursor block = byte_cursor_new(cursor->at, 0);

	if (size_bytes > byte_cursor_left(cursor))
		return false;
	block.end += size_bytes;
	byte_cursor_skip(cursor, size_bytes);
	cie->has_augmentation = true;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = byte_cursor_u8(&block);
			break;
		case 'P':
			/* The personality's address is not wanted: read as plain, to skip it. */
			encoded_pointer(reader, &block, byte_cursor_u8(&block) & ENCODING_FORMAT);
			break;
		case 'L':
			byte_cursor_u8(&block);
			break;
		case 'S': /* a signal's frame, which its rules show */
		case 'B':
			break;
		default: /* more of the block cannot be distinguished; it was skipped */
			return !block.is_bad;
		}
	}
	return !block.is_bad;
}

static bool read_cie(const struct reader *reader, uint64_t place, struct cie *cie)
{
	const struct cfi_section *section = reader->section;
	struct byte_cursor cursor;
	struct entry entry;
	const char *letters;
	uint8_t version;
	uint64_t return_register;

	if (place >= section->size_bytes)
		return false;
	cursor = byte_cursor_new((const uint8_t *)section->bytes + place, section->size_bytes - place);
	if (!entry_next(reader, &cursor, &entry) || !is_cie(reader, &entry))
		return false;
	*cie = (struct cie){ .pointer_encoding = DW_EH_PE_absptr };
	version = byte_cursor_u8(&entry.rest);
	letters = byte_cursor_string(&entry.rest);
	if (version >= 4) {
		uint8_t address_bytes = byte_cursor_u8(&entry.rest);

		if (byte_cursor_u8(&entry.rest) || address_bytes != ADDRESS_BYTES)
			return false;
	}
	cie->code_factor = byte_cursor_uleb(&entry.rest);
	cie->data_factor = byte_cursor_sleb(&entry.rest);
	return_register = version == 1 ? byte_cursor_u8(&entry.rest) : byte_cursor_uleb(&entry.rest);
	if (return_register != RULE_REGISTER_RA || (letters[0] && letters[0] != 'z'))
		return false;
	if (letters[0] && !read_augmentation(reader, letters, &entry.rest, cie))
		return false;
	cie->program = entry.rest;
	return !entry.rest.is_bad;
}

static const struct cie *cie_get(struct reader *reader, uint64_t place)
{
	if (reader->cie_place != place) {
		reader->cie_place = UINT64_MAX;
		if (!read_cie(reader, place, &reader->cie))
			return NULL;
		reader->cie_place = place;
	}
	return &reader->cie;
}

static bool read_function(struct reader *reader, struct entry *entry, struct function *function)
{
	const struct cie *cie;

	function->cie = cie_place(reader, entry);
	cie = cie_get(reader, function->cie);
	if (!cie)
		return false;
	function->begin = encoded_pointer(reader, &entry->rest, cie->pointer_encoding);
	function->size = encoded_pointer(reader, &entry->rest, cie->pointer_encoding & ENCODING_FORMAT);
	if (cie->has_augmentation)
		byte_cursor_skip(&entry->rest, byte_cursor_uleb(&entry->rest));
	function->program = entry->rest.at;
	function->program_end = entry->rest.end;
	return !entry->rest.is_bad && function->size && function->begin + function->size > function->begin;
}

/* All functions of the section, in its order. */
static void find_functions(struct reader *reader)
{
	struct byte_cursor cursor = byte_cursor_new(reader->section->bytes, reader->section->size_bytes);
	struct entry entry;

	while (entry_next(reader, &cursor, &entry)) {
		struct function function = { 0 };

		if (is_cie(reader, &entry))
			continue;
		/* A linker that drops a function may leave its description, at address 0. */
		if (!read_function(reader, &entry, &function) || !function.begin ||
		    reader->function_count == FUNCTIONS_MAX) {
			reader->counts->skipped++;
			continue;
		}
		ARRAY_GROW(reader->functions, reader->function_count, reader->function_capacity, 1024);
		reader->functions[reader->function_count++] = function;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void sort_functions(struct reader *reader)
{
	find_functions(reader);
	if (reader->function_count)
		qsort(reader->functions, reader->function_count, sizeof(*reader->functions), by_begin);
}

/* The machine that executes call frame instructions. */
struct machine {
	struct rule_state now, first; /* first: after the CIE's own program */
	struct rule_state remembered[REMEMBERED_MAX];
	unsigned int remembered_count;
	uint64_t pc;
	bool is_bad;
};

/* A number of data units in bytes. */
static int64_t scaled(uint64_t units, const struct cie *cie)
{
	return (int64_t)(units * (uint64_t)cie->data_factor);
}

static void set_offset(struct machine *machine, uint64_t reg, int64_t offset)
{
	rule_set(&machine->now, reg, (struct rule_place){ .kind = RULE_AT_CFA, .offset = offset });
}

static void set_kind(struct machine *machine, uint64_t reg, enum rule_kind kind)
{
	rule_set(&machine->now, reg, (struct rule_place){ .kind = kind });
}

/* The bytes of an expression; its length comes first. */
static struct rule_place expression(struct byte_cursor *cursor, enum rule_kind kind)
{
	uint64_t size_bytes = byte_cursor_uleb(cursor);
	struct rule_place place = { .kind = kind, .expression = cursor->at };

	byte_cursor_skip(cursor, size_bytes);
	place.expression_bytes = cursor->is_bad ? 0 : size_bytes;
	return place;
}

static void remember(struct machine *machine)
{
	if (machine->remembered_count == REMEMBERED_MAX)
		machine->is_bad = true;
	else
		machine->remembered[machine->remembered_count++] = machine->now;
}

static void recall(struct machine *machine)
{
	if (!machine->remembered_count)
		machine->is_bad = true;
	else
		machine->now = machine->remembered[--machine->remembered_count];
}

/* Where the frame is from now on. False: the instruction is about something else. */
static bool execute_cfa(struct rule_place *cfa, const struct cie *cie, struct byte_cursor *cursor, uint8_t code)
{
	switch (code) {
	case DW_CFA_def_cfa:
		*cfa = (struct rule_place){ .kind = RULE_REGISTER };
		cfa->reg = byte_cursor_uleb(cursor);
		cfa->offset = byte_cursor_uleb(cursor);
		break;
	case DW_CFA_def_cfa_sf:
		*cfa = (struct rule_place){ .kind = RULE_REGISTER };
		cfa->reg = byte_cursor_uleb(cursor);
		cfa->offset = scaled(byte_cursor_sleb(cursor), cie);
		break;
	case DW_CFA_def_cfa_register:
		cfa->reg = byte_cursor_uleb(cursor);
		break;
	case DW_CFA_def_cfa_offset:
		cfa->offset = byte_cursor_uleb(cursor);
		break;
	case DW_CFA_def_cfa_offset_sf:
		cfa->offset = scaled(byte_cursor_sleb(cursor), cie);
		break;
	case DW_CFA_def_cfa_expression:
		*cfa = expression(cursor, RULE_EXPRESSION);
		break;
	default:
		return false;
	}
	return true;
}

/* Where a register's value is from now on. False: the same. */
static bool execute_register(struct machine *machine, const struct cie *cie, struct byte_cursor *cursor, uint8_t code)
{
	struct rule_state *now = &machine->now;
	struct byte_cursor rest = *cursor;
	uint64_t reg = byte_cursor_uleb(&rest);

	switch (code) {
	case DW_CFA_offset_extended:
		set_offset(machine, reg, scaled(byte_cursor_uleb(&rest), cie));
		break;
	case DW_CFA_offset_extended_sf:
		set_offset(machine, reg, scaled(byte_cursor_sleb(&rest), cie));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(machine, reg, scaled(-byte_cursor_uleb(&rest), cie));
		break;
	case DW_CFA_restore_extended:
		rule_set(now, reg, rule_get(&machine->first, reg));
		break;
	case DW_CFA_undefined:
		set_kind(machine, reg, RULE_UNDEFINED);
		break;
	case DW_CFA_same_value:
		set_kind(machine, reg, RULE_SAME);
		break;
	case DW_CFA_register:
		byte_cursor_uleb(&rest);
		set_kind(machine, reg, RULE_OTHER);
		break;
	case DW_CFA_expression:
		rule_set(now, reg, expression(&rest, RULE_EXPRESSION));
		break;
	case DW_CFA_val_expression:
		expression(&rest, RULE_OTHER);
		set_kind(machine, reg, RULE_OTHER);
		break;
	case DW_CFA_val_offset:
		byte_cursor_uleb(&rest);
		set_kind(machine, reg, RULE_OTHER);
		break;
	case DW_CFA_val_offset_sf:
		byte_cursor_sleb(&rest);
		set_kind(machine, reg, RULE_OTHER);
		break;
	default:
		return false;
	}
	*cursor = rest;
	return true;
}

/* Those whose number is all that the first byte says. */
static void execute_extended(struct machine *machine, const struct cie *cie, struct byte_cursor *cursor, uint8_t code)
{
	if (execute_cfa(&machine->now.cfa, cie, cursor, code) || execute_register(machine, cie, cursor, code))
		return;
	switch (code) {
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		remember(machine);
		break;
	case DW_CFA_restore_state:
		recall(machine);
		break;
	case DW_CFA_GNU_args_size:
		byte_cursor_uleb(cursor);
		break;
	default:
		machine->is_bad = true;
	}
}

/* How far an instruction moves on in the code; false when it is another one. */
static bool advance(const struct reader *reader, const struct cie *cie, struct byte_cursor *cursor, uint8_t code,
		    struct machine *machine)
{
	uint64_t units;

	if ((code & 0xc0) == DW_CFA_advance_loc) {
		units = code & 0x3f;
	} else if (code == DW_CFA_advance_loc1) {
		units = byte_cursor_number(cursor, 1);
	} else if (code == DW_CFA_advance_loc2) {
		units = byte_cursor_number(cursor, 2);
	} else if (code == DW_CFA_advance_loc4) {
		units = byte_cursor_number(cursor, 4);
	} else if (code == DW_CFA_set_loc) {
		machine->pc = encoded_pointer(reader, cursor, cie->pointer_encoding);
		return true;
	} else {
		return false;
	}
	machine->pc += units * cie->code_factor;
	return true;
}

static void emit(struct reader *reader, uint64_t pc, const struct machine *machine)
{
	uint32_t rule = rule_encode(&machine->now);

	if (!rule)
		reader->counts->inexpressible++;
	reader->on_row(reader->data, pc, rule);
}

/* Executes a program; gives the rows of a function, nothing of a CIE (function is NULL). */
static void execute(struct reader *reader, const struct cie *cie, struct byte_cursor cursor,
		    const struct function *function, struct machine *machine)
{
	uint64_t row_pc = machine->pc;

	while (byte_cursor_left(&cursor) && !machine->is_bad && !cursor.is_bad) {
		uint8_t code = byte_cursor_u8(&cursor);

		if (advance(reader, cie, &cursor, code, machine)) {
			if (!function)
				continue;
			if (machine->pc < row_pc || machine->pc >= function->begin + function->size)
				break;
			/* Now that nothing more changes it: the row before. */
			if (machine->pc > row_pc)
				emit(reader, row_pc, machine);
			row_pc = machine->pc;
		} else if ((code & 0xc0) == DW_CFA_offset) {
			set_offset(machine, code & 0x3f, scaled(byte_cursor_uleb(&cursor), cie));
		} else if ((code & 0xc0) == DW_CFA_restore) {
			rule_set(&machine->now, code & 0x3f, rule_get(&machine->first, code & 0x3f));
		} else {
			execute_extended(machine, cie, &cursor, code);
		}
	}
	if (cursor.is_bad)
		machine->is_bad = true;
	if (function && !machine->is_bad)
		emit(reader, row_pc, machine);
	else if (function)
		reader->on_row(reader->data, row_pc, 0);
}

static void read_rows(struct reader *reader, const struct function *function)
{
	const struct cie *cie = cie_get(reader, function->cie);
	struct machine machine = { .now.cfa.kind = RULE_OTHER };

	if (!cie || function->begin < reader->end) {
		reader->counts->skipped++;
		return;
	}
	if (function->begin - reader->end > PADDING_BYTES_MAX)
		reader->on_row(reader->data, reader->end, 0);
	machine.pc = function->begin;
	execute(reader, cie, cie->program, NULL, &machine);
	machine.first = machine.now;
	machine.remembered_count = 0;
	machine.pc = function->begin;
	execute(reader, cie, byte_cursor_new(function->program, function->program_end - function->program), function,
		&machine);
	if (machine.is_bad)
		reader->counts->skipped++;
	reader->counts->functions++;
	reader->end = function->begin + function->size;
}

void cfi_read(const struct cfi_section *section, cfi_row_fn on_row, void *data, struct cfi_counts *counts)
{
	struct reader reader = {
		.section = section,
		.on_row = on_row,
		.data = data,
		.counts = counts,
		.cie_place = UINT64_MAX,
	};

	*counts = (struct cfi_counts){ 0 };
	sort_functions(&reader);
	if (!reader.function_count)
		return;
	reader.end = reader.functions[0].begin;
	for (size_t i = 0; i < reader.function_count; i++)
		read_rows(&reader, &reader.functions[i]);
	on_row(data, reader.end, 0);
	free(reader.functions);
}

struct cfi_function *cfi_functions(const struct cfi_section *section, size_t *count)
{
	struct cfi_counts counts = { 0 };
	struct reader reader = {
		.section = section,
		.counts = &counts,
		.cie_place = UINT64_MAX,
	};
	struct cfi_function *functions;

	sort_functions(&reader);
	*count = reader.function_count;
	if (!*count)
		return NULL;
	functions = xcalloc(*count, sizeof(*functions));
	for (size_t i = 0; i < *count; i++)
		functions[i] = (struct cfi_function){
			reader.functions[i].begin,
			reader.functions[i].begin + reader.functions[i].size,
		};
	free(reader.functions);
	return functions;
}
