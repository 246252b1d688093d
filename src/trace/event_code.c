/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event is: a varint, its kind (subsystem * 32 + event); a varint, the time since the event before,
 * ns, as 2n, or -2n - 1 when it goes back; a varint, its thread; a varint, the mask of the words of its
 * fixed part, header aside, that are not as expected; these words; and, if its kind is flexible, a
 * varint, the bytes of the rest, and these. Expected are the first eight words of the event before it in
 * the same slot, which its kind and thread choose, and zeros behind them.
 */
#include "trace/event_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_cursor.h"
#include "base/memory.h"
#include "session/event_kinds.h"

enum {
	SLOTS = 1024,
	SLOT_WORDS = 8,
	WORDS_MAX = 64,			/* of the fixed part of an event */
	VARINT_BYTES_MAX = 10,
	/* All but the words and the flexible part. */
	FRAME_BYTES_MAX = 5 * VARINT_BYTES_MAX,
	TAIL_BYTES_MAX = 1 << 20,
	ROOM_FIRST = 64 << 10,
};

struct slots {
	uint64_t words[SLOTS][SLOT_WORDS];
};

/* Both sides choose alike; that two kinds or threads may share one costs bytes, nothing else. */
static uint64_t *slot_of(struct slots *slots, unsigned int id, uint32_t thread)
{
	return slots->words[(id * 2654435761u ^ thread * 40503u) % SLOTS];
}

static unsigned int id_of(const struct ev_header *header)
{
	return header->subsys * EVENTS_MAX + header->event;
}

static unsigned int words_of(uint32_t size_bytes)
{
	return (size_bytes - sizeof(struct ev_header)) / sizeof(uint64_t);
}

void event_forms_here(struct event_forms *forms)
{
	*forms = (struct event_forms){ 0 };
	for (unsigned int id = 0; id < EVENT_IDS; id++) {
		const struct event_kind *kind = event_kind_find(id / EVENTS_MAX, id % EVENTS_MAX);

		if (kind)
			forms->of[id] = (struct event_form){ kind->size_bytes, kind->is_flexible };
	}
}

/* --- To bytes ------------------------------------------------------------------------------- */

struct event_encoder {
	uint8_t *bytes;
	size_t size_bytes, room;
	uint64_t time_ns;
	struct slots slots;
};

struct event_encoder *event_encoder_new(void)
{
	return xcalloc(1, sizeof(struct event_encoder));
}

void event_encoder_free(struct event_encoder *encoder)
{
	if (!encoder)
		return;
	free(encoder->bytes);
	free(encoder);
}

void event_encoder_reset(struct event_encoder *encoder)
{
	encoder->size_bytes = 0;
	encoder->time_ns = 0;
	encoder->slots = (struct slots){ 0 };
}

const void *event_encoder_bytes(const struct event_encoder *encoder, size_t *size_bytes)
{
	*size_bytes = encoder->size_bytes;
	return encoder->bytes;
}

static void reserve(struct event_encoder *encoder, size_t size_bytes)
{
	if (encoder->room - encoder->size_bytes >= size_bytes)
		return;
	while (encoder->room - encoder->size_bytes < size_bytes)
		encoder->room = encoder->room ? 2 * encoder->room : ROOM_FIRST;
	encoder->bytes = xrealloc(encoder->bytes, encoder->room, 1);
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	return at;
}

static uint8_t *put_words(uint8_t *at, uint64_t *slot, const uint64_t *words, unsigned int count)
{
	uint64_t differs = 0;

	for (unsigned int i = 0; i < count; i++)
		differs |= (uint64_t)(words[i] != (i < SLOT_WORDS ? slot[i] : 0)) << i;
	at = put_varint(at, differs);
	for (; differs; differs &= differs - 1) {
		unsigned int i = __builtin_ctzll(differs);

		memcpy(at, &words[i], sizeof(words[i]));
		at += sizeof(words[i]);
		if (i < SLOT_WORDS)
			slot[i] = words[i];
	}
	return at;
}

void event_encoder_add(struct event_encoder *encoder, const struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	uint64_t delta = header->time_ns - encoder->time_ns;
	unsigned int id = id_of(header);
	size_t tail_bytes = kind->is_flexible ? event_bytes(header) - kind->size_bytes : 0;
	uint8_t *at;

	reserve(encoder, FRAME_BYTES_MAX + kind->size_bytes + tail_bytes);
	at = put_varint(encoder->bytes + encoder->size_bytes, id);
	at = put_varint(at, delta << 1 ^ -(delta >> 63));
	at = put_varint(at, header->thread);
	at = put_words(at, slot_of(&encoder->slots, id, header->thread),
		       (const uint64_t *)(header + 1), words_of(kind->size_bytes));
	if (kind->is_flexible) {
		at = put_varint(at, tail_bytes);
		memcpy(at, (const char *)header + kind->size_bytes, tail_bytes);
		at += tail_bytes;
	}
	encoder->size_bytes = at - encoder->bytes;
	encoder->time_ns = header->time_ns;
}

/* --- From bytes ----------------------------------------------------------------------------- */

struct event_decoder {
	struct event_forms forms;
	struct byte_cursor cursor;
	uint64_t time_ns;
	struct slots slots;
	uint64_t *event;		/* as this version knows it */
	size_t room;
};

struct event_decoder *event_decoder_new(const struct event_forms *forms)
{
	struct event_decoder *decoder = xcalloc(1, sizeof(*decoder));

	decoder->forms = *forms;
	return decoder;
}

void event_decoder_free(struct event_decoder *decoder)
{
	if (!decoder)
		return;
	free(decoder->event);
	free(decoder);
}

void event_decoder_begin(struct event_decoder *decoder, const void *bytes, size_t size_bytes)
{
	decoder->cursor = byte_cursor_new(bytes, size_bytes);
	decoder->time_ns = 0;
	decoder->slots = (struct slots){ 0 };
}

static void get_words(struct byte_cursor *cursor, uint64_t *slot, uint64_t *words, unsigned int count)
{
	uint64_t differs = byte_cursor_uleb(cursor);

	for (unsigned int i = 0; i < count; i++) {
		uint64_t word = i < SLOT_WORDS ? slot[i] : 0;

		if (differs >> i & 1) {
			word = byte_cursor_number(cursor, sizeof(word));
			if (i < SLOT_WORDS)
				slot[i] = word;
		}
		words[i] = word;
	}
}

/* Where an event of so many bytes goes. */
static struct ev_header *room_for(struct event_decoder *decoder, size_t size_bytes)
{
	if (size_bytes > decoder->room) {
		decoder->room = 2 * size_bytes;
		free(decoder->event);
		decoder->event = xcalloc(1, decoder->room);
	}
	return (struct ev_header *)decoder->event;
}

/* The rest of an event: its words, and what follows them. */
static int finish(struct event_decoder *decoder, const struct ev_header *header,
		  const uint64_t *words, unsigned int word_count, uint64_t tail_bytes)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	const void *tail = decoder->cursor.at;
	unsigned int words_here, given;
	struct ev_header *event;

	byte_cursor_skip(&decoder->cursor, tail_bytes);
	if (decoder->cursor.is_bad)
		return -EBADMSG;
	if (!kind)
		return 0;
	words_here = words_of(kind->size_bytes);
	given = word_count < words_here ? word_count : words_here;
	event = room_for(decoder, kind->size_bytes + tail_bytes);
	*event = *header;
	memcpy(event + 1, words, given * sizeof(*words));
	memset((uint64_t *)(event + 1) + given, 0, (words_here - given) * sizeof(*words));
	memcpy((char *)event + kind->size_bytes, tail, tail_bytes);
	return event_is_well_formed(event, kind->size_bytes + tail_bytes) ? 1 : -EBADMSG;
}

/* 1, 0 for one that is not known here, -EBADMSG. */
static int decode(struct event_decoder *decoder)
{
	struct byte_cursor *cursor = &decoder->cursor;
	uint64_t words[WORDS_MAX], id, delta, tail_bytes = 0;
	struct event_form form = { 0 };
	struct ev_header header;
	unsigned int word_count;

	id = byte_cursor_uleb(cursor);
	if (id < EVENT_IDS)
		form = decoder->forms.of[id];
	if (form.size_bytes < sizeof(header) || words_of(form.size_bytes) > WORDS_MAX)
		return -EBADMSG;
	delta = byte_cursor_uleb(cursor);
	decoder->time_ns += delta >> 1 ^ -(delta & 1);
	header = (struct ev_header){
		.time_ns = decoder->time_ns, .thread = byte_cursor_uleb(cursor),
		.subsys = id / EVENTS_MAX, .event = id % EVENTS_MAX,
	};
	word_count = words_of(form.size_bytes);
	get_words(cursor, slot_of(&decoder->slots, id, header.thread), words, word_count);
	if (form.is_flexible)
		tail_bytes = byte_cursor_uleb(cursor);
	if (cursor->is_bad || tail_bytes > TAIL_BYTES_MAX)
		return -EBADMSG;
	return finish(decoder, &header, words, word_count, tail_bytes);
}

int event_decoder_next(struct event_decoder *decoder, const struct ev_header **header)
{
	int result = 0;

	while (!result && byte_cursor_left(&decoder->cursor))
		result = decode(decoder);
	*header = (const struct ev_header *)decoder->event;
	return result;
}
