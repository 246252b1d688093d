/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of a program about the sites of its USDT probes. */
#include "test.h"

#include "symbol/elf/usdt_notes.h"

enum { SECTION_BYTES = 1024, NOTES_MAX = 8, BASE = 0x2000 };

static uint8_t section[SECTION_BYTES];
static size_t section_bytes;
static struct usdt_note notes[NOTES_MAX];
static size_t note_count;

static void put(const void *bytes, size_t size_bytes)
{
	memcpy(section + section_bytes, bytes, size_bytes);
	section_bytes += size_bytes;
}

static void fill_up(void)
{
	while (section_bytes % 4)
		section[section_bytes++] = 0;
}

static void put_note(const char *owner, uint32_t type, const uint64_t addresses[3], const char *strings,
		     size_t string_bytes)
{
	uint32_t head[3] = { strlen(owner) + 1, 3 * sizeof(uint64_t) + string_bytes, type };

	put(head, sizeof(head));
	put(owner, strlen(owner) + 1);
	fill_up();
	put(addresses, 3 * sizeof(uint64_t));
	put(strings, string_bytes);
	fill_up();
}

static void begin(void)
{
	memset(section, 0, sizeof(section));
	section_bytes = 0;
}

static void on_note(void *data, const struct usdt_note *note)
{
	CHECK(data == section);
	CHECK(note_count < NOTES_MAX);
	notes[note_count++] = *note;
}

static size_t read_notes(size_t size_bytes, uint64_t base_address)
{
	note_count = 0;
	usdt_notes_read(byte_cursor_new(section, size_bytes), base_address, on_note, section);
	return note_count;
}

static const uint64_t plain[3] = { 0x1000, BASE, 0x4010 }, without[3] = { 0x1004, BASE, 0 };
static const char first[] = "app\0begin\0"
			    "4@%eax",
		  second[] = "app\0end\0";

static void put_two(void)
{
	begin();
	put_note("stapsdt", 3, plain, first, sizeof(first));
	put_note("stapsdt", 3, without, second, sizeof(second));
}

TEST(a_note_has_its_place_names_and_arguments)
{
	put_two();
	CHECK_EQUAL(read_notes(section_bytes, BASE), 2);
	CHECK_EQUAL(notes[0].address, 0x1000);
	CHECK_EQUAL(notes[0].semaphore, 0x4010);
	CHECK_STRING(notes[0].provider, "app");
	CHECK_STRING(notes[0].name, "begin");
	CHECK_STRING(notes[0].arguments, "4@%eax");
	CHECK_EQUAL(notes[1].semaphore, 0);
	CHECK_STRING(notes[1].name, "end");
	CHECK_STRING(notes[1].arguments, "");
}

TEST(addresses_move_with_the_file_and_no_semaphore_stays_none)
{
	put_two();
	CHECK_EQUAL(read_notes(section_bytes, BASE + 0x500000), 2);
	CHECK_EQUAL(notes[0].address, 0x501000);
	CHECK_EQUAL(notes[0].semaphore, 0x504010);
	CHECK_EQUAL(notes[1].semaphore, 0);
	CHECK_EQUAL(read_notes(section_bytes, BASE - 0x800), 2);
	CHECK_EQUAL(notes[0].address, 0x800);
	CHECK_EQUAL(read_notes(section_bytes, 0), 2);
	CHECK_EQUAL(notes[0].address, 0x1000);
}

TEST(other_notes_are_left_out)
{
	begin();
	put_note("stapsdu", 3, plain, first, sizeof(first));
	put_note("stapsdt", 4, plain, first, sizeof(first));
	put_note("stapsd", 3, plain, first, sizeof(first));
	put_note("stapsdt", 3, without, second, sizeof(second));
	CHECK_EQUAL(read_notes(section_bytes, BASE), 1);
	CHECK_STRING(notes[0].name, "end");
}

TEST(a_note_without_all_of_its_strings_is_none)
{
	begin();
	put_note("stapsdt", 3, plain, "app\0begin", sizeof("app\0begin"));
	CHECK_EQUAL(read_notes(section_bytes, BASE), 0);
}

TEST(a_section_that_ends_anywhere_has_the_notes_before_its_end)
{
	size_t first_bytes = 12 + 8 + 24 + sizeof(first), second_bytes = 12 + 8 + 24 + sizeof(second);

	put_two();
	for (size_t size_bytes = 0; size_bytes < section_bytes; size_bytes++) {
		size_t filled_up = (first_bytes + 3) / 4 * 4;

		CHECK_EQUAL(read_notes(size_bytes, BASE),
			    (size_bytes >= first_bytes) + (size_bytes >= filled_up + second_bytes));
	}
}

TEST(a_size_beyond_the_end_ends_it)
{
	put_two();
	memset(section + 4, 0xff, 4);
	CHECK_EQUAL(read_notes(section_bytes, BASE), 0);
	memset(section, 0xff, 4);
	CHECK_EQUAL(read_notes(section_bytes, BASE), 0);
}
