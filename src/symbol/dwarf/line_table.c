/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/dwarf/line_table.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "symbol/elf/elf_file.h"

enum {
	ROWS_MAX = 1 << 20, /* 16 MB: of a larger unit only the row asked for is kept */
	FORMATS_MAX = 16,   /* DWARF 5 defines five kinds of things to know of a file */
};

/* The header of a unit's program; the cursors are at the beginning of what they are for. */
struct program {
	unsigned int version, offset_bytes;
	uint8_t instruction_bytes_min, operations_max, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operand_counts;
	struct byte_cursor folders, code;
};

/* Rows without a gap between them; addresses ascend. */
struct sequence {
	uint64_t start, end;
	size_t row, row_count;
};

struct line_table {
	struct byte_cursor lines, line_strings, strings; /* the sections */
	uint64_t unit;                                   /* whose rows these are */
	bool has_unit;
	bool has_single; /* of that address only */
	uint64_t single;
	struct line_row *rows;
	struct sequence *sequences;
	size_t row_count, row_capacity, sequence_count, sequence_capacity;
};

struct line_table *line_table_new(Elf *elf)
{
	struct line_table *table = xcalloc(1, sizeof(*table));

	table->lines = elf_debug_section(elf, ".debug_line");
	table->line_strings = elf_debug_section(elf, ".debug_line_str");
	table->strings = elf_debug_section(elf, ".debug_str");
	return table;
}

void line_table_free(struct line_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->sequences);
	free(table);
}

static bool read_program(const struct line_table *table, uint64_t unit, struct program *program)
{
	struct byte_cursor in = table->lines;
	uint64_t size_bytes;

	byte_cursor_skip(&in, unit);
	program->offset_bytes = 4;
	size_bytes = byte_cursor_number(&in, 4);
	if (size_bytes == 0xffffffff) {
		program->offset_bytes = 8;
		size_bytes = byte_cursor_number(&in, 8);
	}
	if (in.is_bad || size_bytes > byte_cursor_left(&in))
		return false;
	in.end = in.at + size_bytes;
	program->version = byte_cursor_number(&in, 2);
	if (program->version < 2 || program->version > 5)
		return false;
	if (program->version >= 5)
		byte_cursor_skip(&in, 2); /* sizes of addresses and segment selectors */
	size_bytes = byte_cursor_number(&in, program->offset_bytes);
	program->code = in;
	byte_cursor_skip(&program->code, size_bytes);
	program->instruction_bytes_min = byte_cursor_u8(&in);
	program->operations_max = program->version >= 4 ? byte_cursor_u8(&in) : 1;
	byte_cursor_skip(&in, 1); /* whether rows begin statements at first */
	program->line_base = (int8_t)byte_cursor_u8(&in);
	program->line_range = byte_cursor_u8(&in);
	program->opcode_base = byte_cursor_u8(&in);
	program->operand_counts = in.at;
	byte_cursor_skip(&in, program->opcode_base ? program->opcode_base - 1 : 0);
	program->folders = in;
	program->folders.end = program->code.at;
	return !in.is_bad && !program->code.is_bad && in.at <= program->code.at && program->line_range &&
	       program->operations_max && program->opcode_base;
}

static const char *string_at(struct byte_cursor strings, uint64_t place)
{
	byte_cursor_skip(&strings, place);
	return byte_cursor_string(&strings);
}

/* Reads one value of DWARF 5's lists. *text stays as it is when the value is a number. */
static uint64_t read_form(const struct line_table *table, const struct program *program, uint64_t form,
			  struct byte_cursor *in, const char **text)
{
	switch (form) {
	case DW_FORM_string:
		*text = byte_cursor_string(in);
		return 0;
	case DW_FORM_line_strp:
		*text = string_at(table->line_strings, byte_cursor_number(in, program->offset_bytes));
		return 0;
	case DW_FORM_strp:
		*text = string_at(table->strings, byte_cursor_number(in, program->offset_bytes));
		return 0;
	case DW_FORM_udata:
		return byte_cursor_uleb(in);
	case DW_FORM_data1:
		return byte_cursor_number(in, 1);
	case DW_FORM_data2:
		return byte_cursor_number(in, 2);
	case DW_FORM_data4:
		return byte_cursor_number(in, 4);
	case DW_FORM_data8:
		return byte_cursor_number(in, 8);
	case DW_FORM_data16:
		byte_cursor_skip(in, 16);
		return 0;
	case DW_FORM_block:
		byte_cursor_skip(in, byte_cursor_uleb(in));
		return 0;
	}
	byte_cursor_fail(in);
	return 0;
}

/*
 * Walks one of DWARF 5's lists as far as entry number wanted, or to the list's end: *in is
 * after it then. True when the entry was there.
 */
static bool read_list(const struct line_table *table, const struct program *program, struct byte_cursor *in,
		      uint64_t wanted, const char **path, uint64_t *folder)
{
	uint64_t kinds[FORMATS_MAX], forms[FORMATS_MAX], count;
	unsigned int format_count = byte_cursor_u8(in);

	if (format_count > FORMATS_MAX)
		byte_cursor_fail(in);
	for (unsigned int i = 0; i < format_count && !in->is_bad; i++) {
		kinds[i] = byte_cursor_uleb(in);
		forms[i] = byte_cursor_uleb(in);
	}
	count = byte_cursor_uleb(in);
	/* Every form takes at least a byte, so that this ends with the section. */
	for (uint64_t entry = 0; format_count && entry < count && !in->is_bad; entry++) {
		*path = NULL;
		*folder = 0;
		for (unsigned int i = 0; i < format_count; i++) {
			const char *text = NULL;
			uint64_t number = read_form(table, program, forms[i], in, &text);

			if (kinds[i] == DW_LNCT_path)
				*path = text;
			else if (kinds[i] == DW_LNCT_directory_index)
				*folder = number;
		}
		if (entry == wanted)
			return !in->is_bad && *path && (*path)[0];
	}
	return false;
}

static bool find_file_5(const struct line_table *table, const struct program *program, uint64_t number,
			const char **folder, const char **name)
{
	struct byte_cursor in = program->folders;
	uint64_t folder_number, none;

	read_list(table, program, &in, UINT64_MAX, name, &none);
	if (!read_list(table, program, &in, number, name, &folder_number))
		return false;
	in = program->folders;
	if (!read_list(table, program, &in, folder_number, folder, &none))
		*folder = NULL;
	return true;
}

/* Up to DWARF 4: both count from 1 on, folder 0 is where the compiler ran. */
static bool find_file_4(const struct program *program, uint64_t number, const char **folder, const char **name)
{
	struct byte_cursor in = program->folders;
	uint64_t folder_number = 0;

	while (byte_cursor_string(&in)[0])
		;
	do {
		*name = byte_cursor_string(&in);
		if (!(*name)[0])
			return false;
		folder_number = byte_cursor_uleb(&in);
		byte_cursor_uleb(&in); /* time */
		byte_cursor_uleb(&in); /* size */
	} while (--number);
	*folder = NULL;
	in = program->folders;
	while (folder_number--) {
		*folder = byte_cursor_string(&in);
		if (!(*folder)[0]) {
			*folder = NULL;
			break;
		}
	}
	return true;
}

bool line_table_file(struct line_table *table, uint64_t unit, uint64_t number, const char **folder, const char **name)
{
	struct program program;

	if (!read_program(table, unit, &program))
		return false;
	if (program.version >= 5)
		return find_file_5(table, &program, number, folder, name);
	return number && find_file_4(&program, number, folder, name);
}

/* The registers of the machine that a program is for. */
struct machine {
	struct line_row row;
	unsigned int operation; /* of an instruction word that has several */
	size_t first;           /* row of the sequence */
	uint64_t start;
	bool is_open; /* a sequence has begun */
};

static bool add_row(struct line_table *table, struct machine *machine)
{
	size_t count = table->row_count - machine->first;
	struct line_row *last = count ? &table->rows[table->row_count - 1] : NULL;

	if (!machine->is_open)
		machine->start = machine->row.address;
	machine->is_open = true;
	if (last && (machine->row.address < last->address ||
		     (machine->row.line == last->line && machine->row.file == last->file)))
		return true;
	if (table->has_single && machine->row.address > table->single)
		return true;
	/* Of rows for one address the last one counts. */
	if (last && (machine->row.address == last->address || table->has_single)) {
		*last = machine->row;
		return true;
	}
	if (table->row_count == ROWS_MAX)
		return false;
	ARRAY_GROW(table->rows, table->row_count, table->row_capacity, 4096);
	table->rows[table->row_count++] = machine->row;
	return true;
}

static void end_sequence(struct line_table *table, struct machine *machine)
{
	struct sequence sequence = {
		.start = machine->start,
		.end = machine->row.address,
		.row = machine->first,
		.row_count = table->row_count - machine->first,
	};
	bool is_wanted = sequence.row_count && sequence.start < sequence.end &&
			 sequence.start; /* linkers leave removed functions at 0 */

	if (table->has_single)
		is_wanted &= table->single >= sequence.start && table->single < sequence.end;
	if (!is_wanted) {
		table->row_count = machine->first;
	} else {
		ARRAY_GROW(table->sequences, table->sequence_count, table->sequence_capacity, 64);
		table->sequences[table->sequence_count++] = sequence;
	}
	*machine = (struct machine){ .row = { .file = 1, .line = 1 }, .first = table->row_count };
}

static void advance(const struct program *program, struct machine *machine, uint64_t operations)
{
	uint64_t total = machine->operation + operations;

	if (program->operations_max == 1) {
		machine->row.address += operations * program->instruction_bytes_min;
		return;
	}
	machine->row.address += total / program->operations_max * program->instruction_bytes_min;
	machine->operation = total % program->operations_max;
}

static void run_extended(struct line_table *table, struct machine *machine, struct byte_cursor *in)
{
	uint64_t size_bytes = byte_cursor_uleb(in);
	struct byte_cursor inner = *in;
	uint8_t opcode;

	byte_cursor_skip(in, size_bytes);
	if (in->is_bad || !size_bytes)
		return;
	inner.end = in->at;
	opcode = byte_cursor_u8(&inner);
	if (opcode == DW_LNE_end_sequence) {
		end_sequence(table, machine);
	} else if (opcode == DW_LNE_set_address) {
		machine->row.address = byte_cursor_number(&inner, byte_cursor_left(&inner));
		machine->operation = 0;
	}
}

/* False when there are more rows than fit. */
static bool run_standard(struct line_table *table, const struct program *program, struct machine *machine,
			 uint8_t opcode, struct byte_cursor *in)
{
	switch (opcode) {
	case 0:
		run_extended(table, machine, in);
		break;
	case DW_LNS_copy:
		return add_row(table, machine);
	case DW_LNS_advance_pc:
		advance(program, machine, byte_cursor_uleb(in));
		break;
	case DW_LNS_advance_line:
		machine->row.line += byte_cursor_sleb(in);
		break;
	case DW_LNS_set_file:
		machine->row.file = byte_cursor_uleb(in);
		break;
	case DW_LNS_const_add_pc:
		advance(program, machine, (255 - program->opcode_base) / program->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		machine->row.address += byte_cursor_number(in, 2);
		machine->operation = 0;
		break;
	default:
		for (unsigned int i = 0; i < program->operand_counts[opcode - 1]; i++)
			byte_cursor_uleb(in);
	}
	return true;
}

/* Fills in the rows; false when there are more than fit. */
static bool run(struct line_table *table, const struct program *program)
{
	struct machine machine = { .row = { .file = 1, .line = 1 } };
	struct byte_cursor in = program->code;
	bool has_space = true;

	table->row_count = 0;
	table->sequence_count = 0;
	while (has_space && in.at < in.end) {
		uint8_t opcode = byte_cursor_u8(&in), special;

		if (opcode < program->opcode_base) {
			has_space = run_standard(table, program, &machine, opcode, &in);
			continue;
		}
		special = opcode - program->opcode_base;
		advance(program, &machine, special / program->line_range);
		machine.row.line += program->line_base + special % program->line_range;
		has_space = add_row(table, &machine);
	}
	return has_space;
}

static void read_unit(struct line_table *table, uint64_t unit, uint64_t address)
{
	struct program program;

	if (table->has_unit && table->unit == unit && (!table->has_single || table->single == address))
		return;
	table->has_unit = true;
	table->unit = unit;
	table->has_single = false;
	table->row_count = 0;
	table->sequence_count = 0;
	if (!read_program(table, unit, &program) || run(table, &program))
		return;
	table->has_single = true;
	table->single = address;
	run(table, &program);
}

static const struct sequence *find_sequence(const struct line_table *table, uint64_t address)
{
	for (size_t i = 0; i < table->sequence_count; i++)
		if (address >= table->sequences[i].start && address < table->sequences[i].end)
			return &table->sequences[i];
	return NULL;
}

bool line_table_find(struct line_table *table, uint64_t unit, uint64_t address, struct line_row *row)
{
	const struct sequence *sequence;
	size_t next;

	read_unit(table, unit, address);
	sequence = find_sequence(table, address);
	if (!sequence)
		return false;
	next = BOUND(sequence->row + 1, sequence->row + sequence->row_count, i, table->rows[i].address <= address);
	*row = table->rows[next - 1];
	return true;
}
