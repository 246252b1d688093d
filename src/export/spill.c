/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out/out_temporary.h"
#include "base/text.h"

/* A chunk begins with the number of the next one of its string. */
enum { LINK_BYTES = sizeof(uint64_t) };

struct part {
	uint8_t *bytes;       /* the last chunk, which is not in the file yet; NULL: the string is empty */
	size_t length;        /* of it, with its link */
	uint64_t first, last; /* chunks, plus 1; 0: none is in the file, and none has been given away */
};

struct spill {
	int fd;
	int err;
	uint64_t chunk_count;
	struct part *parts;
	size_t count, capacity;
};

struct spill *spill_new(void)
{
	struct spill *spill = xcalloc(1, sizeof(*spill));

	spill->fd = out_temporary_open_large();
	spill->err = spill->fd < 0 ? spill->fd : 0;
	return spill;
}

void spill_free(struct spill *spill)
{
	if (!spill)
		return;
	for (size_t i = 0; i < spill->count; i++)
		free(spill->parts[i].bytes);
	free(spill->parts);
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill);
}

uint32_t spill_add(struct spill *spill)
{
	ARRAY_GROW(spill->parts, spill->count, spill->capacity, 64);
	spill->parts[spill->count] = (struct part){ 0 };
	return spill->count++;
}

int spill_error(const struct spill *spill)
{
	return spill->err;
}

/* The last chunk is full: it goes to its place in the file, and the place of the next one is known. */
static void write_last(struct spill *spill, struct part *part)
{
	uint64_t at, next;
	ssize_t written;

	if (!part->last)
		part->first = part->last = ++spill->chunk_count;
	at = part->last - 1;
	part->last = next = ++spill->chunk_count;
	memcpy(part->bytes, &next, LINK_BYTES);
	part->length = LINK_BYTES;
	if (spill->err)
		return;
	written = pwrite(spill->fd, part->bytes, SPILL_CHUNK_BYTES, at * SPILL_CHUNK_BYTES);
	if (written != SPILL_CHUNK_BYTES)
		spill->err = written < 0 ? -errno : -ENOSPC;
}

void spill_put(struct spill *spill, uint32_t number, const struct text *bytes)
{
	struct part *part = &spill->parts[number];

	if (!part->bytes && bytes->length) {
		part->bytes = xcalloc(1, SPILL_CHUNK_BYTES);
		part->length = LINK_BYTES;
	}
	for (size_t done = 0; done < bytes->length;) {
		size_t count = bytes->length - done;

		if (part->length == SPILL_CHUNK_BYTES)
			write_last(spill, part);
		if (count > SPILL_CHUNK_BYTES - part->length)
			count = SPILL_CHUNK_BYTES - part->length;
		memcpy(part->bytes + part->length, bytes->bytes + done, count);
		part->length += count;
		done += count;
	}
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void load(struct spill_reader *reader)
{
	struct spill *spill = reader->spill;
	const struct part *part = &spill->parts[reader->number];
	uint64_t chunk = reader->next;
	ssize_t got;

	reader->at = LINK_BYTES;
	if (chunk == part->last) { /* it is in memory; 0: there is only that */
		reader->end = part->bytes ? part->length : LINK_BYTES;
		if (part->bytes)
			memcpy(reader->bytes, part->bytes, part->length);
		reader->next = UINT64_MAX;
		return;
	}
	got = pread(spill->fd, reader->bytes, SPILL_CHUNK_BYTES, (chunk - 1) * SPILL_CHUNK_BYTES);
	reader->end = SPILL_CHUNK_BYTES;
	memcpy(&reader->next, reader->bytes, LINK_BYTES);
	if (got == SPILL_CHUNK_BYTES)
		return;
	spill->err = got < 0 ? -errno : -EIO;
	reader->end = LINK_BYTES;
	reader->next = UINT64_MAX;
}

void spill_read(struct spill *spill, uint32_t number, struct spill_reader *reader)
{
	reader->spill = spill;
	reader->number = number;
	reader->next = spill->parts[number].first;
	load(reader);
}

bool spill_has_more(struct spill_reader *reader)
{
	while (reader->at == reader->end && reader->next != UINT64_MAX)
		load(reader);
	return reader->at < reader->end;
}

uint8_t spill_next_byte(struct spill_reader *reader)
{
	return spill_has_more(reader) ? reader->bytes[reader->at++] : 0;
}

uint64_t spill_next_varint(struct spill_reader *reader)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		byte = spill_next_byte(reader);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}
