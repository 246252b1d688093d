/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a .note.stapsdt: what it says lies in it, and arguments are valid. */
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/usdt_argument.h"
#include "symbol/elf/usdt_notes.h"

struct section {
	const char *begin;
	size_t size_bytes;
};

static void check_string(const struct section *section, const char *string)
{
	if (string < section->begin || string + strlen(string) >= section->begin + section->size_bytes)
		abort();
}

static void on_note(void *data, const struct usdt_note *note)
{
	struct usdt_argument arguments[USDT_ARGUMENTS_MAX];
	size_t count = usdt_arguments_parse(note->arguments, arguments);

	check_string(data, note->provider);
	check_string(data, note->name);
	check_string(data, note->arguments);
	if (count > USDT_ARGUMENTS_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		if (!usdt_argument_is_valid(&arguments[i]))
			abort();
	if (usdt_name_is_valid(note->name, 8) && strlen(note->name) >= 8)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	/* Of the very size: the sanitizer sees a read behind it. */
	char *copy = malloc(size_bytes);
	struct section section = { copy, size_bytes };

	if (size_bytes)
		memcpy(copy, bytes, size_bytes);
	usdt_notes_read(byte_cursor_new(copy, size_bytes), 0x4000, on_note, &section);
	free(copy);
	return 0;
}
