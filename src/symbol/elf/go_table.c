/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/go_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "symbol/elf/elf_file.h"
#include "unwind/rule.h"

enum {
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
	POINTER_BYTES = 8,
	ENTRY_BYTES = 8, /* of the table of functions: where the code is, where the rest */
	FUNCTIONS_MAX = 1 << 22,

	/* A function's record. */
	NAME_AT = 4,
	STACK_AT = 16,
	FILE_AT = 20,
	LINE_AT = 24,
	UNIT_AT = 32,
	FLAGS_AT_1_18 = 37,
	FLAGS_AT_1_20 = 41,

	FLAG_TOP_FRAME = 1, /* nobody called it */
	FLAG_WRITES_SP = 2, /* goes to another stack */
	NO_FILE = 0xffffffff,
};

struct go_table {
	const uint8_t *bytes;
	uint64_t size_bytes;
	uint64_t text;                                   /* address that code is counted from */
	uint64_t names, units, files, values, functions; /* where these begin */
	uint32_t count;
	uint32_t code_step; /* bytes that distances in the code are multiples of */
	uint32_t flags_at;
	bool has_g; /* where unwind_step.h looks for it */
};

/* Go's functions, and where their records are. */
struct entry {
	uint64_t begin, end, record;
};

static struct byte_cursor cursor_at(const struct go_table *table, uint64_t offset)
{
	struct byte_cursor cursor = byte_cursor_new(table->bytes, table->size_bytes);

	byte_cursor_skip(&cursor, offset);
	return cursor;
}

static uint32_t number_at(const struct go_table *table, uint64_t offset)
{
	struct byte_cursor cursor = cursor_at(table, offset);

	return byte_cursor_number(&cursor, sizeof(uint32_t));
}

/* What the dynamic loader puts at an address, where the file has 0. */
static uint64_t relocated(Elf *elf, uint64_t address)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == address)
				return rela.r_addend;
	}
	return 0;
}

static bool read_header(struct go_table *table, uint64_t text)
{
	struct byte_cursor cursor = cursor_at(table, 0);
	uint32_t magic = byte_cursor_number(&cursor, sizeof(uint32_t));

	if (magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	table->flags_at = magic == MAGIC_1_18 ? FLAGS_AT_1_18 : FLAGS_AT_1_20;
	byte_cursor_skip(&cursor, 2);
	table->code_step = byte_cursor_u8(&cursor);
	if (byte_cursor_u8(&cursor) != POINTER_BYTES)
		return false;
	table->count = byte_cursor_number(&cursor, POINTER_BYTES);
	byte_cursor_skip(&cursor, POINTER_BYTES); /* number of files */
	table->text = byte_cursor_number(&cursor, POINTER_BYTES);
	if (!table->text)
		table->text = text;
	table->names = byte_cursor_number(&cursor, POINTER_BYTES);
	table->units = byte_cursor_number(&cursor, POINTER_BYTES);
	table->files = byte_cursor_number(&cursor, POINTER_BYTES);
	table->values = byte_cursor_number(&cursor, POINTER_BYTES);
	table->functions = byte_cursor_number(&cursor, POINTER_BYTES);
	return !cursor.is_bad && table->text && table->count && table->count < FUNCTIONS_MAX &&
	       table->functions < table->size_bytes &&
	       (table->count + 1) * ENTRY_BYTES <= table->size_bytes - table->functions;
}

struct go_table *go_table_new(const void *bytes, uint64_t size_bytes, uint64_t text)
{
	struct go_table *table = xcalloc(1, sizeof(*table));

	table->bytes = bytes;
	table->size_bytes = size_bytes;
	if (read_header(table, text))
		return table;
	free(table);
	return NULL;
}

/* Where nothing else is the program's thread-local memory, g lies right below the thread pointer. */
static bool has_g_alone(Elf *elf)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_TLS)
			return segment.p_memsz == POINTER_BYTES;
	return true;
}

struct go_table *go_table_open(Elf *elf)
{
	struct go_table *table;
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr header;

	for (size_t i = 0; elf && !scn && i < sizeof(names) / sizeof(*names); i++)
		scn = elf_find_section(elf, names[i], &header);
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf)
		return NULL;
	table = go_table_new(data->d_buf, data->d_size, relocated(elf, header.sh_addr + 3 * POINTER_BYTES));
	if (table)
		table->has_g = has_g_alone(elf);
	return table;
}

void go_table_free(struct go_table *table)
{
	free(table);
}

static struct entry entry_at(const struct go_table *table, uint32_t index)
{
	uint64_t at = table->functions + (uint64_t)index * ENTRY_BYTES;

	return (struct entry){
		.begin = table->text + number_at(table, at),
		.end = table->text + number_at(table, at + ENTRY_BYTES),
		.record = table->functions + number_at(table, at + sizeof(uint32_t)),
	};
}

/* The last one that begins at or before address; they are sorted, or what is found is not it. */
static bool find_entry(const struct go_table *table, uint64_t address, struct entry *entry)
{
	uint32_t low = BOUND(0, table->count, i, entry_at(table, i).begin <= address);

	if (!low)
		return false;
	*entry = entry_at(table, low - 1);
	return address >= entry->begin && address < entry->end;
}

/* A list of values, and how far in the code each one holds. */
struct values {
	struct byte_cursor cursor;
	uint32_t code_step;
	bool has_begun;
	uint32_t value; /* -1 before the first; sums that are too large are damage */
	uint64_t end;   /* from the beginning of the function */
};

static struct values values_at(const struct go_table *table, const struct entry *entry, uint32_t field)
{
	return (struct values){
		.cursor = cursor_at(table, table->values + number_at(table, entry->record + field)),
		.code_step = table->code_step,
		.value = -1,
	};
}

/* Goes to the next value; false when there is none. */
static bool values_next(struct values *values)
{
	uint64_t change = byte_cursor_uleb(&values->cursor);

	/* The first value may be that of the beginning. */
	if (!change && values->has_begun)
		return false;
	values->has_begun = true;
	values->value += (uint32_t)(change & 1 ? ~(change >> 1) : change >> 1);
	values->end += byte_cursor_uleb(&values->cursor) * values->code_step;
	return !values->cursor.is_bad;
}

/* The value at a distance from the function's beginning; false: it has none. */
static bool find_value(const struct go_table *table, const struct entry *entry, uint32_t field, uint64_t distance,
		       int32_t *value)
{
	struct values values = values_at(table, entry, field);

	while (values_next(&values)) {
		*value = (int32_t)values.value;
		if (distance < values.end)
			return true;
	}
	return false;
}

static const char *string_at(const struct go_table *table, uint64_t offset)
{
	struct byte_cursor cursor = cursor_at(table, offset);
	const char *string = byte_cursor_string(&cursor);

	return string[0] ? string : NULL;
}

static const char *name_of(const struct go_table *table, const struct entry *entry)
{
	const char *name = string_at(table, table->names + number_at(table, entry->record + NAME_AT));

	return name ? name : "";
}

bool go_table_find(const struct go_table *table, uint64_t address, struct go_place *place)
{
	struct entry entry;
	uint32_t unit, file;
	int32_t value;

	if (!find_entry(table, address, &entry))
		return false;
	*place = (struct go_place){ .function = name_of(table, &entry), .start = entry.begin };
	if (find_value(table, &entry, LINE_AT, address - entry.begin, &value))
		place->line = value > 0 ? value : 0;
	if (find_value(table, &entry, FILE_AT, address - entry.begin, &value) && value >= 0) {
		unit = number_at(table, entry.record + UNIT_AT);
		file = number_at(table, table->units + ((uint64_t)unit + value) * sizeof(uint32_t));
		if (file != NO_FILE)
			place->file = string_at(table, table->files + file);
	}
	return place->function[0];
}

/*
 * The stack pointer has moved by so much since the call. Once it has, rbp lies below the return
 * address (it is the first that is pushed; before Go 1.21 the second instruction puts it there).
 */
static uint32_t rule_at(int32_t moved)
{
	if (moved < 0 || moved % POINTER_BYTES)
		return UNWIND_NONE;
	return rule_make(UNWIND_RSP, moved / POINTER_BYTES + 1, moved ? UNWIND_RBP_AT_CFA : UNWIND_RBP_SAME,
			 moved ? -2 : 0);
}

/* What a signal handler returns to: also for the byte before, where a call would have been. */
static bool is_signal_return(const char *name)
{
	return !strncmp(name, "runtime.sigreturn", strlen("runtime.sigreturn"));
}

/* mcall() leaves its goroutine's stack for good: it begins again on that of its thread. */
static bool is_outermost_function(const char *name, uint8_t flags)
{
	return flags & FLAG_TOP_FRAME || !strcmp(name, "runtime.mcall");
}

/* Written in assembler: called on the goroutine's stack, they call others on the runtime's. */
static uint32_t switch_rule(const char *name)
{
	static const struct {
		const char *name;
		enum unwind_go way;
	} switches[] = {
		{ "runtime.systemstack", UNWIND_GO_RETURNS },
		{ "runtime.asmcgocall", UNWIND_GO_RETURNS },
		{ "runtime.morestack", UNWIND_GO_AT_PC },
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		size_t length = strlen(switches[i].name);

		if (!strncmp(name, switches[i].name, length) && (!name[length] || !strcmp(name + length, ".abi0")))
			return rule_make(UNWIND_GO, switches[i].way, UNWIND_RBP_SAME, 0);
	}
	return UNWIND_NONE;
}

bool go_table_function(const struct go_table *table, const char *name, uint64_t *begin, uint64_t *end)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct entry entry = entry_at(table, i);

		if (entry.end <= entry.begin || strcmp(name_of(table, &entry), name) != 0)
			continue;
		*begin = entry.begin;
		*end = entry.end;
		return true;
	}
	return false;
}

bool go_table_moved(const struct go_table *table, uint64_t address, uint32_t *moved_bytes, bool *is_outermost)
{
	struct byte_cursor flags_at;
	struct entry entry;
	uint8_t flags;
	int32_t moved;

	if (!find_entry(table, address, &entry))
		return false;
	flags_at = cursor_at(table, entry.record + table->flags_at);
	flags = byte_cursor_u8(&flags_at);
	*is_outermost = is_outermost_function(name_of(table, &entry), flags);
	if (*is_outermost)
		return true;
	if (flags & FLAG_WRITES_SP || !find_value(table, &entry, STACK_AT, address - entry.begin, &moved) ||
	    moved < 0 || moved % POINTER_BYTES)
		return false;
	*moved_bytes = moved;
	return true;
}

static void unwind_function(const struct go_table *table, const struct entry *entry, struct unwind_table *unwind)
{
	struct byte_cursor flags_at = cursor_at(table, entry->record + table->flags_at);
	uint8_t flags = byte_cursor_u8(&flags_at);
	struct values values = values_at(table, entry, STACK_AT);
	const char *name = name_of(table, entry);
	uint64_t address = entry->begin;

	if (is_signal_return(name) || is_outermost_function(name, flags)) {
		unwind_table_add(unwind, address - is_signal_return(name),
				 is_signal_return(name) ? UNWIND_SIGNAL : UNWIND_END);
		return;
	}
	if (table->has_g && switch_rule(name)) {
		unwind_table_add(unwind, address, switch_rule(name));
		return;
	}
	while (!(flags & FLAG_WRITES_SP) && address < entry->end && values_next(&values)) {
		uint64_t end = entry->begin + values.end;

		if (end <= address)
			break;
		unwind_table_add(unwind, address, rule_at((int32_t)values.value));
		address = end;
	}
	if (address < entry->end)
		unwind_table_add(unwind, address, UNWIND_NONE);
}

void go_table_unwind(const struct go_table *table, struct unwind_table *unwind)
{
	uint64_t end = 0;

	*unwind = (struct unwind_table){ 0 };
	for (uint32_t i = 0; i < table->count; i++) {
		struct entry entry = entry_at(table, i);

		if (entry.begin < end || entry.end < entry.begin)
			break;
		unwind_function(table, &entry, unwind);
		end = entry.end;
	}
	if (end)
		unwind_table_add(unwind, end, UNWIND_NONE);
}
