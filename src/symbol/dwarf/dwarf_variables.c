/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To look at every entry of large debug information takes seconds, and few files have an index of
 * names. But an entry gives its variable's address in ten bytes: a block of nine, DW_OP_addr and
 * the address. Their places are found by examining .debug_info as bytes, which takes hundredths of
 * a second. What else looks like these ten bytes, such as an argument of a call, is no variable's
 * entry. With DWARF 5, clang writes a number in a list of addresses instead.
 */
#include "symbol/dwarf/dwarf_variables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_lists.h"
#include "symbol/dwarf/dwarf_search.h"
#include "symbol/dwarf/dwarf_units.h"
#include "symbol/elf/elf_file.h"

enum {
	WINDOW_BYTES = 4 << 20, /* of the file, before it is released */
	MENTIONS_MAX = 1 << 20, /* 8 MB; a server with 145 MB of entries has 2^16 */
	PLACES_MAX = 1 << 16,   /* of one address */
};

/* The bytes of an address at a place of .debug_info. */
struct mention {
	uint32_t distance; /* from the lowest address of the file */
	uint32_t place;    /* of the block's length: no section of 32-bit DWARF is larger */
};

struct dwarf_variables {
	const struct dwarf_file *file;
	unsigned int address_bytes;
	uint64_t low, high;       /* where the file is loaded */
	struct mention *mentions; /* sorted */
	size_t mention_count, mention_capacity;
	struct dwarf_lists *lists; /* of addresses */
};

/* --- Where addresses are mentioned ---------------------------------------------------------- */

static void find_range(Elf *elf, uint64_t *low, uint64_t *high)
{
	size_t count;

	*low = UINT64_MAX;
	*high = 0;
	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (segment.p_vaddr < *low)
			*low = segment.p_vaddr;
		if (segment.p_vaddr + segment.p_memsz > *high)
			*high = segment.p_vaddr + segment.p_memsz;
	}
}

static void add_mention(struct dwarf_variables *variables, uint64_t address, uint64_t place)
{
	if (address < variables->low || address >= variables->high || address - variables->low > UINT32_MAX ||
	    place > UINT32_MAX || variables->mention_count >= MENTIONS_MAX)
		return;
	if (variables->mention_count == variables->mention_capacity) {
		size_t capacity = variables->mention_capacity ? variables->mention_capacity * 2 : 1024;

		variables->mentions = xrealloc(variables->mentions, capacity, sizeof(*variables->mentions));
		variables->mention_capacity = capacity;
	}
	variables->mentions[variables->mention_count++] = (struct mention){
		address - variables->low,
		place,
	};
}

/* Looks at [from, to) for blocks to begin in. */
static void read_window(struct dwarf_variables *variables, struct byte_cursor info, size_t from, size_t to)
{
	unsigned int address_bytes = variables->address_bytes;
	const uint8_t *at = info.at + from, *end = info.at + to;

	while ((at = memchr(at, 1 + address_bytes, end - at))) {
		struct byte_cursor in = { at + 1, info.end, false };

		if (byte_cursor_u8(&in) == DW_OP_addr) {
			uint64_t address = byte_cursor_number(&in, address_bytes);

			if (!in.is_bad)
				add_mention(variables, address, at - info.at);
		}
		at++;
	}
}

static int by_mention(const void *a, const void *b)
{
	const struct mention *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

struct dwarf_variables *dwarf_variables_new(const struct dwarf_file *file)
{
	struct dwarf_variables *variables = xcalloc(1, sizeof(*variables));
	Elf *elf = file->file->elf;
	struct byte_cursor info = elf_debug_section(elf, ".debug_info");
	size_t size_bytes = byte_cursor_left(&info);

	variables->file = file;
	variables->address_bytes = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
	variables->lists =
		dwarf_lists_new(file->units, file->file, ".debug_addr", DW_AT_addr_base, variables->address_bytes);
	find_range(elf, &variables->low, &variables->high);
	for (size_t at = 0; at < size_bytes; at += WINDOW_BYTES) {
		read_window(variables, info, at, size_bytes - at < WINDOW_BYTES ? size_bytes : at + WINDOW_BYTES);
		elf_file_release(file->file);
	}
	if (variables->mention_count)
		qsort(variables->mentions, variables->mention_count, sizeof(*variables->mentions), by_mention);
	return variables;
}

void dwarf_variables_free(struct dwarf_variables *variables)
{
	if (!variables)
		return;
	dwarf_lists_free(variables->lists);
	free(variables->mentions);
	free(variables);
}

/* --- Addresses as they are ------------------------------------------------------------------ */

/* What a variable's entry says of its address, byte by byte. */
struct location {
	uint8_t bytes[16];
	size_t size_bytes;
};

static struct location location_of(uint64_t address, unsigned int address_bytes)
{
	struct location location = { .bytes[0] = DW_OP_addr, .size_bytes = 1 + address_bytes };

	for (unsigned int i = 0; i < address_bytes; i++)
		location.bytes[1 + i] = address >> 8 * i;
	return location;
}

/* libdw does not take Go's compiler's blocks for an expression. */
static bool is_variable(void *data, Dwarf_Die *entry)
{
	const struct location *wanted = data;
	Dwarf_Attribute attribute;
	Dwarf_Block block;

	return dwarf_tag(entry) == DW_TAG_variable && dwarf_attr(entry, DW_AT_location, &attribute) &&
	       !dwarf_formblock(&attribute, &block) && block.length == wanted->size_bytes &&
	       !memcmp(block.data, wanted->bytes, block.length);
}

/*
 * What a call passes on in a register: its number, as a block of one byte, comes before. Locks are
 * passed all over a program, so these are tried last.
 */
static bool is_argument(struct byte_cursor info, uint64_t place)
{
	return place >= 2 && info.at[place - 2] == 1 && info.at[place - 1] >= DW_OP_reg0 &&
	       info.at[place - 1] <= DW_OP_reg31;
}

static bool find_mentioned(struct dwarf_variables *variables, const struct mention *mentions, size_t count,
			   struct dwarf_search *search)
{
	struct byte_cursor info = elf_debug_section(variables->file->file->elf, ".debug_info");
	uint64_t *places = xcalloc(count, sizeof(*places));
	bool is_found = false;

	for (int wants_arguments = 0; wants_arguments <= 1 && !is_found; wants_arguments++) {
		search->places = places;
		search->count = 0;
		for (size_t i = 0; i < count; i++)
			if (is_argument(info, mentions[i].place) == wants_arguments)
				places[search->count++] = mentions[i].place;
		is_found = dwarf_search_places(search, variables->file->units);
	}
	free(places);
	return is_found;
}

static size_t lower_bound(const struct dwarf_variables *variables, uint64_t distance)
{
	return BOUND(0, variables->mention_count, i, variables->mentions[i].distance < distance);
}

/* --- Addresses in a list -------------------------------------------------------------------- */

static struct location location_in_list(uint64_t number)
{
	struct location location = { .bytes[0] = DW_OP_addrx, .size_bytes = 1 };

	do {
		location.bytes[location.size_bytes++] = (number & 0x7f) | (number >> 7 ? 0x80 : 0);
		number >>= 7;
	} while (number);
	return location;
}

/* The places in a unit where a block says that. */
static size_t find_places(struct byte_cursor info, uint64_t start, uint64_t end, const struct location *location,
			  uint64_t *places)
{
	uint8_t block[1 + sizeof(location->bytes)] = { location->size_bytes };
	const uint8_t *at = info.at + start;
	size_t count = 0;

	memcpy(block + 1, location->bytes, location->size_bytes);
	if (end > byte_cursor_left(&info))
		end = byte_cursor_left(&info);
	while (start < end && count < PLACES_MAX) {
		at = memmem(at, info.at + end - at, block, 1 + location->size_bytes);
		if (!at)
			break;
		places[count++] = at++ - info.at;
	}
	return count;
}

struct list_search {
	struct dwarf_variables *variables;
	struct dwarf_search *search;
	struct location *location;
};

static bool find_numbered(void *data, size_t number, uint64_t address_number)
{
	struct list_search *lists = data;
	const struct dwarf_file *file = lists->variables->file;
	struct byte_cursor info = elf_debug_section(file->file->elf, ".debug_info");
	uint64_t *places, start, end;
	Dwarf_Die unit;
	bool is_found;

	if (!dwarf_units_nth(file->units, number, &unit, &start, &end))
		return false;
	places = xcalloc(PLACES_MAX, sizeof(*places));
	lists->search->places = places;
	*lists->location = location_in_list(address_number);
	lists->search->count = find_places(info, start, end, lists->location, places);
	is_found = dwarf_search_places(lists->search, file->units);
	free(places);
	return is_found;
}

bool dwarf_variables_find(struct dwarf_variables *variables, uint64_t address, struct dwarf_variable *variable)
{
	uint64_t distance = address - variables->low;
	struct location location = location_of(address, variables->address_bytes);
	struct dwarf_search search = { .is_wanted = is_variable, .data = &location };
	struct list_search lists = { variables, &search, &location };
	size_t from, count;

	if (address < variables->low || distance > UINT32_MAX)
		return false;
	from = lower_bound(variables, distance);
	count = lower_bound(variables, distance + 1) - from;
	if (count > PLACES_MAX)
		count = PLACES_MAX;
	if ((!count || !find_mentioned(variables, &variables->mentions[from], count, &search)) &&
	    !dwarf_lists_find(variables->lists, address, find_numbered, &lists))
		return false;
	*variable = (struct dwarf_variable){
		.entry = search.entry,
		.has_function = search.has_function,
		.function = search.function,
	};
	return true;
}
