/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings of an answer: functions as people write them, and paths of their files. */
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/elf/demangle.h"
#include "symbol/object/object_internal.h"

/* Adds a string to the answer; its place there, 0 when there is none. */
static uint32_t put_text(struct answer *answer, const char *string)
{
	size_t size_bytes = string ? strlen(string) + 1 : 0;
	uint32_t place = answer->text_bytes;

	if (size_bytes <= 1 || size_bytes > sizeof(answer->text) - answer->text_bytes)
		return 0;
	memcpy(answer->text + place, string, size_bytes);
	answer->text_bytes += size_bytes;
	return place;
}

uint32_t object_put_name(struct answer *answer, const char *string)
{
	char name[ANSWER_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", string ? string : "");
	return put_text(answer, name);
}

/* From '@' on a linker's name has the version of its library. */
uint32_t object_put_function(struct answer *answer, const char *linked, const char *suffix)
{
	char symbol[ANSWER_NAME_BYTES * 4], name[ANSWER_NAME_BYTES];
	size_t length;

	if (!linked)
		return 0;
	/* '@' cannot begin a version at the start of a name. */
	length = linked[0] ? 1 + strcspn(linked + 1, "@") : 0;
	snprintf(symbol, sizeof(symbol), "%.*s", (int)(length < sizeof(symbol) ? length : sizeof(symbol) - 1), linked);
	demangle(symbol, name, sizeof(name) - strlen(suffix));
	strcat(name, suffix);
	return put_text(answer, name);
}

/*
 * Puts a path before the one that begins at path[at], and returns where the longer one begins:
 * at itself when there is nothing to put, or no space. Too long a path is more use with its end.
 */
static size_t prepend(char *path, size_t at, const char *folder)
{
	const char *rest = path + at;
	size_t length = folder ? strlen(folder) : 0;

	if (!length || rest[0] == '/')
		return at;
	/* Debian gives both from the top of its build: "./sql/lock.cc" in "./builddir/sql". */
	if (folder[0] != '/' && !strncmp(rest, "./", 2))
		return at;
	while (!strncmp(path + at, "./", 2))
		at += 2;
	if (length >= at)
		return at;
	path[--at] = '/';
	at -= length;
	memcpy(path + at, folder, length);
	return at;
}

uint32_t object_put_file(struct answer *answer, const struct source_frame *frame)
{
	char path[ANSWER_NAME_BYTES];
	size_t length = frame->file ? strlen(frame->file) : 0, at;

	if (!length)
		return 0;
	if (length >= sizeof(path))
		return put_text(answer, frame->file + length - sizeof(path) + 1);
	at = sizeof(path) - 1 - length;
	memcpy(path + at, frame->file, length + 1);
	at = prepend(path, at, frame->folder);
	at = prepend(path, at, frame->root);
	return put_text(answer, path + at);
}
