/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/event_kinds.h"

#include <assert.h>
#include <string.h>

const struct event_kind event_kinds[TRACE_NUM_SUBSYSTEMS][EVENTS_MAX] = {
#include "event_kinds.inc"
};

/* Of constant sizes, which compilers make loads of. */
static uint64_t load(const void *at, uint32_t width_bytes)
{
	uint64_t value = 0;

	switch (width_bytes) {
	case 4:
		memcpy(&value, at, 4);
		break;
	case 8:
		memcpy(&value, at, 8);
		break;
	default:
		memcpy(&value, at, width_bytes);
	}
	return value;
}

uint64_t event_field_number(const struct event_field *field, const void *element)
{
	unsigned int unused = 8 * (sizeof(uint64_t) - field->width_bytes);
	uint64_t value = load(element, field->width_bytes);

	if (field->kind == FIELD_SIGNED)
		value = (int64_t)(value << unused) >> unused;
	return value;
}

/* --- Flexible arrays ------------------------------------------------------------------------- */

enum { UNBOUNDED = UINT32_MAX / 2 }; /* more than any event has */

/* What a field of the fixed part says. */
static uint64_t number_of(const struct event_kind *kind, uint32_t field, const char *event)
{
	return event_field_number(&kind->fields[field], event + kind->fields[field].offset_bytes);
}

/* How many bytes so many strings take. False: there are not so many in left_bytes. */
static bool strings_bytes(const char *at, size_t left_bytes, uint64_t count, size_t *bytes)
{
	const char *nul;

	for (*bytes = 0; count; count--) {
		nul = memchr(at + *bytes, '\0', left_bytes - *bytes);
		if (!nul)
			return false;
		*bytes = nul + 1 - at;
	}
	return true;
}

/* How many elements the event says there are, each of at least one byte. */
static uint64_t length_of(const struct event_kind *kind, const struct event_field *field, const char *event)
{
	uint64_t length = 0, part;

	for (uint32_t i = 0; i < field->length_field_count; i++) {
		part = number_of(kind, field->length_fields[i], event);
		length += part < UNBOUNDED ? part : UNBOUNDED;
	}
	return length;
}

static uint64_t string_count(const struct event_kind *kind, const struct event_field *field, const char *event)
{
	return field->strings == STRINGS_BY_FIELD ? number_of(kind, field->string_count, event)
	       : field->strings == STRINGS_COUNT  ? field->string_count
						  : 0;
}

static bool ends_itself(const struct event_field *field)
{
	return field->strings == STRINGS_COUNT || field->strings == STRINGS_BY_FIELD;
}

/* Of an array that begins at `at`, with left_bytes of the event from there on. False: it is not whole. */
static bool flexible_bytes(const struct event_kind *kind, const struct event_field *field, const char *event, size_t at,
			   size_t left_bytes, size_t *bytes)
{
	uint64_t elements;

	if (field->length_field_count) {
		elements = length_of(kind, field, event);
		*bytes = elements * field->width_bytes;
		return *bytes <= left_bytes;
	}
	if (ends_itself(field))
		return strings_bytes(event + at, left_bytes, string_count(kind, field, event), bytes);
	*bytes = left_bytes / field->width_bytes * field->width_bytes;
	return true;
}

/* Whether as many strings are in an array as it says, the last one with its end. */
static bool has_strings(const struct event_kind *kind, const struct event_field *field, const char *event, size_t at,
			size_t bytes)
{
	size_t taken;

	if (!field->strings)
		return true;
	return strings_bytes(event + at, bytes, string_count(kind, field, event), &taken) &&
	       (!bytes || !event[at + bytes - 1]);
}

struct event_fields event_fields_of(const struct event_kind *kind, const void *event, size_t size_bytes)
{
	return (struct event_fields){ .kind = kind, .event = event, .size_bytes = size_bytes, .at = kind->size_bytes };
}

bool event_fields_next(struct event_fields *fields, const struct event_field **out, const void **bytes,
		       size_t *size_bytes)
{
	size_t left_bytes = fields->size_bytes == SIZE_MAX ? UNBOUNDED : fields->size_bytes - fields->at;
	const struct event_field *field;

	if (fields->next == fields->kind->field_count)
		return false;
	field = &fields->kind->fields[fields->next++];
	*out = field;
	if (!field->is_flexible) {
		*bytes = fields->event + field->offset_bytes;
		*size_bytes = field->width_bytes * (field->count ? field->count : 1);
		return true;
	}
	*bytes = fields->event + fields->at;
	if (!flexible_bytes(fields->kind, field, fields->event, fields->at, left_bytes, size_bytes))
		*size_bytes = left_bytes / field->width_bytes * field->width_bytes;
	fields->at += *size_bytes;
	return true;
}

/* --- Whole events ----------------------------------------------------------------------------- */

static const struct event_field *first_flexible(const struct event_kind *kind)
{
	const struct event_field *field = kind->fields + kind->field_count;

	while (field != kind->fields && field[-1].is_flexible)
		field--;
	return field;
}

/* Whether what follows the fixed part is what the fixed part says. */
static bool is_tail_whole(const struct event_kind *kind, const char *event, size_t size_bytes)
{
	const struct event_field *field = first_flexible(kind), *end = kind->fields + kind->field_count;
	size_t at = kind->size_bytes, bytes;

	for (; field != end; field++) {
		if (!flexible_bytes(kind, field, event, at, size_bytes - at, &bytes) ||
		    !has_strings(kind, field, event, at, bytes))
			return false;
		at += bytes;
	}
	/* What ends itself may have space behind it. */
	return at == size_bytes || (!end[-1].length_field_count && ends_itself(&end[-1]));
}

bool event_is_well_formed(const void *event, size_t size_bytes)
{
	const struct event_kind *kind;
	struct ev_header header;

	if (size_bytes < sizeof(header) || size_bytes > UNBOUNDED)
		return false;
	memcpy(&header, event, sizeof(header));
	kind = event_kind_find(header.subsys, header.event);
	if (!kind)
		return false;
	if (!kind->is_flexible)
		return size_bytes == kind->size_bytes;
	return size_bytes >= kind->size_bytes && is_tail_whole(kind, event, size_bytes);
}

size_t event_bytes(const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	size_t at, bytes;

	assert(kind); /* the caller has checked the event */
	at = kind->size_bytes;
	if (!kind->is_flexible)
		return at;
	for (const struct event_field *field = first_flexible(kind); field != kind->fields + kind->field_count;
	     field++) {
		flexible_bytes(kind, field, (const char *)header, at, UNBOUNDED, &bytes);
		at += bytes;
	}
	return at;
}

/* --- What fields mean ------------------------------------------------------------------------- */

const struct event_field *event_field_meaning(const struct event_kind *kind, enum field_meaning meaning,
					      enum field_role role)
{
	assert(kind);
	if (!(kind->meanings & 1u << meaning))
		return NULL;
	for (uint32_t i = 0; i < kind->field_count; i++)
		if (kind->fields[i].meaning == meaning && kind->fields[i].role == role)
			return &kind->fields[i];
	return NULL;
}

uint32_t event_other_thread(const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	uint32_t thread = header->thread;

	if (kind->about_thread_offset)
		memcpy(&thread, (const char *)header + kind->about_thread_offset, sizeof(thread));
	return thread;
}

uint32_t event_process(const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	const struct event_field *field = event_field_meaning(kind, MEANS_PROCESS, ROLE_REFERS);

	return field ? event_field_number(field, (const char *)header + field->offset_bytes) : 0;
}
