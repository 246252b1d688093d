/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/carried_names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "session/event_kinds.h"
#include "symbol/answer/answer_book.h"
#include "symbol/mapped_files.h"
#include "symbol/space/space.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum { NOTES_MAX = 1024, NUMBERS_MAX = 1 << 22 };

struct space_numbers {
	struct spaces *spaces;
};

struct carried_names {
	struct space_numbers *read;
	bool has_read; /* it is its own */
	const struct space_numbers *written;
	struct table *numbers; /* by that of the source: that of the trace, + 1 */
	uint64_t kernel_shift;
};

struct space_numbers *space_numbers_new(void)
{
	struct space_numbers *numbers = xcalloc(1, sizeof(*numbers));

	numbers->spaces = spaces_new(MAPPINGS_MAX);
	return numbers;
}

void space_numbers_free(struct space_numbers *numbers)
{
	if (!numbers)
		return;
	spaces_free(numbers->spaces);
	free(numbers);
}

static void on_mapping(struct spaces *spaces, const struct ev_space_map *e)
{
	struct mapping mapping = {
		.start = e->start,
		.end = e->start + e->size,
		.file_offset = e->file_offset,
	};

	if (e->header.event == TRACE_EVENT_SPACE_MAP)
		spaces_map(spaces, e->pid, e->header.time_ns, &mapping);
	else
		spaces_found(spaces, e->pid, e->header.time_ns, &mapping);
}

/* As symbol/mapped_files.c does. */
void space_numbers_follow(struct space_numbers *numbers, const struct ev_header *header)
{
	const struct ev_space_fork *fork = (const void *)header;

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SPACE_MAP:
	case EV_SPACE_FOUND:
		on_mapping(numbers->spaces, (const void *)header);
		break;
	case EV_SPACE_EXEC:
		spaces_exec(numbers->spaces, fork->pid, header->time_ns);
		break;
	case EV_SPACE_FORK:
		spaces_fork(numbers->spaces, fork->pid, fork->parent_pid, header->time_ns);
		break;
	case EV_SPACE_EXIT:
		spaces_exit(numbers->spaces, ((const struct ev_space_exit *)header)->pid);
		break;
	}
}

/* 0: there is none. */
static uint32_t number_of(const struct space_numbers *numbers, uint32_t pid)
{
	struct space_hit hit;

	return spaces_find(numbers->spaces, pid, UINT64_MAX, 0, &hit) ? hit.space : 0;
}

struct carried_names *carried_names_new(const struct space_numbers *written)
{
	struct carried_names *names = carried_names_new_of(space_numbers_new(), written);

	names->has_read = true;
	return names;
}

struct carried_names *carried_names_new_of(struct space_numbers *read, const struct space_numbers *written)
{
	struct carried_names *names = xcalloc(1, sizeof(*names));

	names->read = read;
	names->written = written;
	names->numbers = table_new();
	return names;
}

void carried_names_free(struct carried_names *names)
{
	if (!names)
		return;
	if (names->has_read)
		space_numbers_free(names->read);
	table_free(names->numbers);
	free(names);
}

void carried_names_shift_kernel(struct carried_names *names, uint64_t shift)
{
	names->kernel_shift = shift;
}

void carried_names_pair(struct carried_names *names, uint32_t pid)
{
	uintptr_t read = number_of(names->read, pid), written = number_of(names->written, pid);

	if (read && written && table_count(names->numbers) < NUMBERS_MAX)
		table_put(names->numbers, read, (void *)(written + 1));
}

void carried_names_follow(struct carried_names *names, const struct ev_header *header)
{
	if (header->subsys != TRACE_SUBSYS_SPACE)
		return;
	space_numbers_follow(names->read, header);
	carried_names_pair(names, event_process(header));
}

/* Whether the sentence is a new one: it gets the next number then. */
static bool number_note(struct book_entry *entry, struct table *notes)
{
	static char is_there;
	uint64_t hash = XXH64(entry + 1, entry->size_bytes, 0);

	if (table_find(notes, hash) || table_count(notes) >= NOTES_MAX)
		return false;
	entry->place = table_count(notes);
	table_put(notes, hash, &is_there);
	return true;
}

static void shift_function(const struct carried_names *names, struct book_entry *entry)
{
	struct book_function *function = (void *)(entry + 1);

	if (entry->size_bytes < sizeof(*function))
		return;
	entry->place -= names->kernel_shift;
	function->start -= names->kernel_shift;
}

/* Whether the entry goes along; it may be changed. */
static bool goes_along(const struct carried_names *names, struct book_entry *entry, struct table *notes)
{
	uintptr_t number;

	if (entry->kind == BOOK_NOTE)
		return number_note(entry, notes);
	if (entry->kind == BOOK_KERNEL)
		shift_function(names, entry);
	if (entry->kind != BOOK_JIT && entry->kind != BOOK_METHODS)
		return true;
	number = (uintptr_t)table_find(names->numbers, entry->owner);
	entry->owner = number - 1;
	return number;
}

/* In place; returns how many bytes are left of the entries, in *kept; false: they are damaged. */
static bool change(const struct carried_names *names, char *content, size_t size_bytes, struct table *notes,
		   size_t *kept)
{
	size_t at = 0;

	*kept = 0;
	while (size_bytes - at >= sizeof(struct book_entry)) {
		struct book_entry *entry = (struct book_entry *)(content + at);
		size_t bytes = sizeof(*entry) + (((size_t)entry->size_bytes + 7) & ~(size_t)7);

		if (bytes > size_bytes - at)
			return false;
		if (goes_along(names, entry, notes)) {
			memmove(content + *kept, entry, bytes);
			*kept += bytes;
		}
		at += bytes;
	}
	return at == size_bytes;
}

bool carried_names_change(const struct carried_names *names, const void *content, size_t size_bytes,
			  struct table *notes, struct text *out)
{
	size_t begin = out->length, kept;
	bool is_whole;

	text_put_bytes(out, content, size_bytes);
	is_whole = change(names, out->bytes + begin, size_bytes, notes, &kept);
	out->length = begin + (is_whole ? kept : 0);
	return is_whole;
}

bool carried_names_put(const struct carried_names *names, const void *content, size_t size_bytes,
		       struct trace_writer *writer, struct table *notes)
{
	struct text changed = { 0 };
	bool is_whole = carried_names_change(names, content, size_bytes, notes, &changed);

	if (is_whole)
		trace_writer_chunk(writer, TRACE_CHUNK_NAMES, changed.bytes, changed.length, NULL);
	text_fini(&changed);
	return is_whole;
}

size_t carried_names_copy(const struct carried_names *names, struct trace_reader *reader, struct trace_writer *writer,
			  struct table *notes)
{
	size_t count, size_bytes, damaged_count = 0;
	const struct trace_place *places = trace_reader_places(reader, &count);
	const void *content;

	for (size_t i = 0; i < count; i++)
		if (places[i].kind == TRACE_CHUNK_NAMES &&
		    (trace_reader_content(reader, i, &content, &size_bytes) ||
		     !carried_names_put(names, content, size_bytes, writer, notes)))
			damaged_count++;
	return damaged_count;
}
