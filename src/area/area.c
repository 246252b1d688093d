/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/area.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "area/header.h"
#include "area/rings.h"
#include "base/memory.h"

struct area {
	int fd;
	struct pinchtrace_header header; /* as last read */
	struct area_rings *rings;
	struct area_facts facts;
	uint64_t schema_bytes; /* of the schema, that were handed out */
	uint32_t schema_texts;
};

/* By this machine's clock. */
static struct pinchtrace_pair pair_of(const struct area *area, const struct pinchtrace_pair *pair)
{
	struct pinchtrace_pair here = *pair;

	here.monotonic_ns -= (uint64_t)area->header.shift_ns;
	return here;
}

/* The last pair that was not about to be changed while it was read. */
static int read_pair(struct area *area)
{
	struct pinchtrace_header *header = &area->header;
	uint32_t changes;
	int err;

	/* Pairs with the writer's fences around the pair. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	err = area_read(area->fd, &changes, sizeof(changes), offsetof(struct pinchtrace_header, pair_changes));
	if (!err && changes == header->pair_changes && !(changes & 1))
		area->facts.last_pair = pair_of(area, &header->last_pair);
	return err;
}

static int read_facts(struct area *area)
{
	const struct pinchtrace_header *header = &area->header;
	struct area_facts *facts = &area->facts;

	facts->ring_count = header->ring_count;
	facts->ended_count =
		header->ring_ended_count < header->ring_count ? header->ring_ended_count : header->ring_count;
	facts->lost = header->lost + area_rings_lost(area->rings);
	facts->overwritten = header->overwritten;
	facts->has_ended = header->has_ended;
	return read_pair(area);
}

int area_open(int fd, struct area **out)
{
	struct pinchtrace_header header;
	struct area *area;
	int err = area_header_read(fd, &header);

	if (err)
		return err;
	area = xcalloc(1, sizeof(*area));
	area->fd = fd;
	area->header = header;
	area->rings = area_rings_new(fd, &header);
	area->facts.pid = header.pid;
	area->facts.clock = header.clock;
	area->facts.start_ns = header.start_ns;
	area->facts.ring_capacity = header.ring_capacity;
	memcpy(area->facts.program, header.program, sizeof(area->facts.program) - 1);
	area->facts.first_pair = area->facts.last_pair = pair_of(area, &header.first_pair);
	err = read_facts(area);
	if (err) {
		area->fd = -1;
		area_close(area);
		return err;
	}
	*out = area;
	return 0;
}

void area_close(struct area *area)
{
	if (!area)
		return;
	if (area->fd >= 0)
		close(area->fd);
	area_rings_free(area->rings);
	free(area);
}

int area_fd(const struct area *area)
{
	return area->fd;
}

int area_refresh(struct area *area)
{
	struct pinchtrace_header header;
	int err = area_header_read(area->fd, &header);

	if (err)
		return err;
	if (!area_header_is_same(&header, &area->header))
		return -EBADMSG;
	area->header = header;
	return read_facts(area);
}

const struct area_facts *area_facts(const struct area *area)
{
	return &area->facts;
}

/* --- The schema -------------------------------------------------------------------------- */

/* Hands out the texts in size_bytes; how many bytes those have that are whole. */
static size_t hand_out_texts(struct area *area, const char *bytes, size_t size_bytes,
			     void (*on_text)(void *data, const char *text, size_t length), void *data)
{
	const char *nul;
	size_t at = 0;

	while (at < size_bytes && area->schema_texts < AREA_SCHEMA_TEXTS_MAX) {
		nul = memchr(bytes + at, '\0', size_bytes - at);
		if (!nul)
			break;
		area->schema_texts++;
		on_text(data, bytes + at, nul - (bytes + at));
		at = nul + 1 - bytes;
	}
	return at;
}

int area_schemas(struct area *area, void (*on_text)(void *data, const char *text, size_t length), void *data)
{
	uint64_t size_bytes;
	char *bytes;
	int err = area_refresh(area);

	if (err)
		return err;
	size_bytes =
		area->header.schema_bytes < AREA_SCHEMA_BYTES_MAX ? area->header.schema_bytes : AREA_SCHEMA_BYTES_MAX;
	if (size_bytes <= area->schema_bytes || area->schema_texts == AREA_SCHEMA_TEXTS_MAX)
		return 0;
	size_bytes -= area->schema_bytes;
	bytes = xcalloc(size_bytes, 1);
	err = area_read(area->fd, bytes, size_bytes, area->header.schema_offset + area->schema_bytes);
	if (!err)
		area->schema_bytes += hand_out_texts(area, bytes, size_bytes, on_text, data);
	free(bytes);
	return err;
}

/* --- Events ------------------------------------------------------------------------------ */

int area_take(struct area *area, const struct area_listener *listener, uint64_t *until_ticks)
{
	int err = area_refresh(area);

	if (!err)
		err = area_rings_take(area->rings, area->facts.ring_count, listener, until_ticks);
	area->facts.lost = area->header.lost + area_rings_lost(area->rings);
	return err;
}

bool area_has_more(const struct area *area)
{
	return area_rings_have_more(area->rings);
}

void area_skip(struct area *area, uint64_t before_ticks)
{
	/* What it cannot read, area_take() cannot either. */
	if (!area_refresh(area))
		area_rings_skip(area->rings, area->facts.ring_count, before_ticks);
}

double area_fill(const struct area *area)
{
	return area_rings_fill(area->rings);
}
