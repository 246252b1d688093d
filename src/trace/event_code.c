/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event is: a varint, its kind (subsystem * 32 + event); a varint, the time since the event before,
 * ns, as 2n, or -2n - 1 when it goes back; a varint, its thread; a varint, the mask of the words of its
 * fixed part, header aside, that are not as expected; these words; and, if its kind is flexible, a
 * varint, the bytes of the rest, and these. Expected are the first eight words of the event before it in
 * the same slot, which its kind and thread choose, and zeros behind them. A word is the place in which it
 * was seen last, or, if another one was seen there since, PLACES and the word itself.
 */
#include "trace/event_code.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/event_kinds.h"

enum {
	SLOTS = 1024,
	SLOT_WORDS = 8,
	PLACE_BITS = 12,
	PLACES = 1 << PLACE_BITS,
	WORDS_MAX = 64, /* of the fixed part of an event */
	VARINT_BYTES_MAX = 10,
	WORD_BYTES_MAX = sizeof(uint16_t) + sizeof(uint64_t),
	/* All but the words and the flexible part. */
	FRAME_BYTES_MAX = 5 * VARINT_BYTES_MAX,
	HEAD_BYTES_MAX = FRAME_BYTES_MAX + WORDS_MAX * WORD_BYTES_MAX,
	TAIL_BYTES_MAX = 1 << 20,
	CAPACITY_FIRST = 64 << 10,
};

/* What both sides know of the events before. */
struct past {
	uint64_t slots[SLOTS][SLOT_WORDS];
	uint64_t words[PLACES];
};

/* Both sides choose alike; that two kinds or threads may share one costs bytes, nothing else. */
static uint64_t *slot_of(struct past *past, unsigned int id, uint32_t thread)
{
	return past->slots[(id * 2654435761u ^ thread * 40503u) % SLOTS];
}

static uint16_t place_of(uint64_t word)
{
	return word * 0x9e3779b97f4a7c15ull >> (64 - PLACE_BITS);
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
	size_t size_bytes, capacity;
	uint64_t time_ns;
	struct past past;
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
	encoder->past = (struct past){ 0 };
}

const void *event_encoder_bytes(const struct event_encoder *encoder, size_t *size_bytes)
{
	*size_bytes = encoder->size_bytes;
	return encoder->bytes;
}

static void reserve(struct event_encoder *encoder, size_t size_bytes)
{
	if (encoder->capacity - encoder->size_bytes >= size_bytes)
		return;
	while (encoder->capacity - encoder->size_bytes < size_bytes)
		encoder->capacity = encoder->capacity ? 2 * encoder->capacity : CAPACITY_FIRST;
	encoder->bytes = xrealloc(encoder->bytes, encoder->capacity, 1);
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	return at;
}

static uint8_t *put_word(uint8_t *at, struct past *past, uint64_t word)
{
	uint16_t place = place_of(word);

	if (past->words[place] == word) {
		memcpy(at, &place, sizeof(place));
		return at + sizeof(place);
	}
	past->words[place] = word;
	place = PLACES;
	memcpy(at, &place, sizeof(place));
	memcpy(at + sizeof(place), &word, sizeof(word));
	return at + WORD_BYTES_MAX;
}

static uint8_t *put_words(uint8_t *at, struct past *past, uint64_t *slot, const uint64_t *words, unsigned int count)
{
	uint64_t differs = 0;

	for (unsigned int i = 0; i < count; i++)
		differs |= (uint64_t)(words[i] != (i < SLOT_WORDS ? slot[i] : 0)) << i;
	at = put_varint(at, differs);
	for (; differs; differs &= differs - 1) {
		unsigned int i = __builtin_ctzll(differs);

		at = put_word(at, past, words[i]);
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

	reserve(encoder, HEAD_BYTES_MAX + tail_bytes);
	at = put_varint(encoder->bytes + encoder->size_bytes, id);
	at = put_varint(at, delta << 1 ^ -(delta >> 63));
	at = put_varint(at, header->thread);
	at = put_words(at, &encoder->past, slot_of(&encoder->past, id, header->thread), (const uint64_t *)(header + 1),
		       words_of(kind->size_bytes));
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
	const uint8_t *at, *end;
	/* The last bytes of a chunk, and zeros: whatever they say, what is read lies in here. */
	uint8_t last[2 * HEAD_BYTES_MAX];
	bool is_in_last;
	uint64_t time_ns;
	struct past past;
	struct ev_header *event; /* with space for any fixed part */
	size_t capacity;
	struct ev_header *stored; /* an event that is not as this version knows it */
	size_t stored_capacity;
	uint64_t unknown_count;
};

struct event_decoder *event_decoder_new(const struct event_forms *forms)
{
	struct event_decoder *decoder = xcalloc(1, sizeof(*decoder));

	decoder->forms = *forms;
	decoder->capacity = sizeof(*decoder->event) + WORDS_MAX * sizeof(uint64_t);
	decoder->event = xcalloc(1, decoder->capacity);
	return decoder;
}

void event_decoder_free(struct event_decoder *decoder)
{
	if (!decoder)
		return;
	free(decoder->event);
	free(decoder->stored);
	free(decoder);
}

void event_decoder_begin(struct event_decoder *decoder, const void *bytes, size_t size_bytes)
{
	decoder->at = bytes;
	decoder->end = bytes ? decoder->at + size_bytes : decoder->at;
	decoder->is_in_last = false;
	decoder->time_ns = 0;
	decoder->past = (struct past){ 0 };
}

/* Everything of an event but what is flexible can be read without looking for the end of the bytes. */
static void make_readable(struct event_decoder *decoder)
{
	size_t left_bytes = decoder->end - decoder->at;

	if (decoder->is_in_last || left_bytes >= HEAD_BYTES_MAX)
		return;
	memcpy(decoder->last, decoder->at, left_bytes);
	memset(decoder->last + left_bytes, 0, sizeof(decoder->last) - left_bytes);
	decoder->at = decoder->last;
	decoder->end = decoder->last + left_bytes;
	decoder->is_in_last = true;
}

static uint64_t get_varint(const uint8_t **at)
{
	uint64_t value = *(*at)++;

	if (value < 0x80)
		return value;
	value &= 0x7f;
	for (unsigned int shift = 7; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

static uint64_t get_word(const uint8_t **at, struct past *past)
{
	uint16_t place;
	uint64_t word;

	memcpy(&place, *at, sizeof(place));
	*at += sizeof(place);
	if (place < PLACES)
		return past->words[place];
	memcpy(&word, *at, sizeof(word));
	*at += sizeof(word);
	past->words[place_of(word)] = word;
	return word;
}

/* words: [WORDS_MAX], of which count are meant. */
static void get_words(const uint8_t **at, struct past *past, uint64_t *slot, uint64_t *words, unsigned int count)
{
	uint64_t differs = get_varint(at);

	memcpy(words, slot, SLOT_WORDS * sizeof(*words));
	if (count > SLOT_WORDS)
		memset(words + SLOT_WORDS, 0, (count - SLOT_WORDS) * sizeof(*words));
	if (count < 64)
		differs &= (1ull << count) - 1;
	for (; differs; differs &= differs - 1) {
		unsigned int i = __builtin_ctzll(differs);

		words[i] = get_word(at, past);
		if (i < SLOT_WORDS)
			slot[i] = words[i];
	}
}

/* What follows the words. */
static void take_tail(struct event_decoder *decoder, size_t fixed_bytes, const void *tail, size_t tail_bytes)
{
	if (fixed_bytes + tail_bytes > decoder->capacity) {
		decoder->capacity = 2 * (fixed_bytes + tail_bytes);
		decoder->event = xrealloc(decoder->event, decoder->capacity, 1);
	}
	memcpy((char *)decoder->event + fixed_bytes, tail, tail_bytes);
}

/* What was read of an event besides its header and its words, which are where they belong. */
struct rest {
	const struct event_kind *kind; /* as this version knows it; NULL: it does not */
	uint32_t fixed_bytes;          /* with the header */
	bool is_flexible;
	const void *tail;
	size_t tail_bytes;
};

/* As this version knows it. 1; 0: it does not; -EBADMSG. For each event that is read: a call less is 3 % of reading. */
__attribute__((always_inline)) static inline int finish(struct event_decoder *decoder, const struct rest *rest)
{
	const struct event_kind *kind = rest->kind;
	unsigned int words = words_of(rest->fixed_bytes), words_here;

	if (!kind) {
		decoder->unknown_count++;
		return 0;
	}
	words_here = words_of(kind->size_bytes);
	assert(words_here <= WORDS_MAX);
	if (words < words_here)
		memset((uint64_t *)(decoder->event + 1) + words, 0, (words_here - words) * sizeof(uint64_t));
	/* What has no such part cannot be wrong. */
	if (!kind->is_flexible && !rest->tail_bytes)
		return 1;
	take_tail(decoder, kind->size_bytes, rest->tail, rest->tail_bytes);
	return event_is_well_formed(decoder->event, kind->size_bytes + rest->tail_bytes) ? 1 : -EBADMSG;
}

/* 0 or -EBADMSG. */
static int decode(struct event_decoder *decoder, struct rest *rest)
{
	struct ev_header *event = decoder->event;
	uint64_t id, delta, tail_bytes = 0;
	struct event_form form = { 0 };
	const uint8_t *at;

	make_readable(decoder);
	at = decoder->at;
	id = get_varint(&at);
	if (id < EVENT_IDS)
		form = decoder->forms.of[id];
	if (form.size_bytes < sizeof(*event) || words_of(form.size_bytes) > WORDS_MAX)
		return -EBADMSG;
	delta = get_varint(&at);
	decoder->time_ns += delta >> 1 ^ -(delta & 1);
	*event = (struct ev_header){
		.time_ns = decoder->time_ns,
		.thread = get_varint(&at),
		.subsys = id / EVENTS_MAX,
		.event = id % EVENTS_MAX,
	};
	get_words(&at, &decoder->past, slot_of(&decoder->past, id, event->thread), (uint64_t *)(event + 1),
		  words_of(form.size_bytes));
	if (form.is_flexible)
		tail_bytes = get_varint(&at);
	if (at > decoder->end || tail_bytes > TAIL_BYTES_MAX || tail_bytes > (size_t)(decoder->end - at))
		return -EBADMSG;
	*rest = (struct rest){ event_kind_find(id / EVENTS_MAX, id % EVENTS_MAX), form.size_bytes, form.is_flexible, at,
			       tail_bytes };
	decoder->at = at + tail_bytes;
	return 0;
}

int event_decoder_next(struct event_decoder *decoder, struct ev_header **event)
{
	struct rest rest;
	int result = 0;

	while (!result && decoder->at != decoder->end) {
		result = decode(decoder, &rest);
		if (!result)
			result = finish(decoder, &rest);
	}
	if (result < 0)
		decoder->at = decoder->end;
	*event = decoder->event;
	return result;
}

static bool is_as_here(const struct rest *rest)
{
	const struct event_kind *kind = rest->kind;

	return kind && kind->size_bytes == rest->fixed_bytes && kind->is_flexible == rest->is_flexible;
}

/* As it is in the trace. */
static void store(struct event_decoder *decoder, const struct rest *rest)
{
	size_t size_bytes = rest->fixed_bytes + rest->tail_bytes;

	if (size_bytes > decoder->stored_capacity) {
		decoder->stored_capacity = 2 * size_bytes;
		decoder->stored = xrealloc(decoder->stored, decoder->stored_capacity, 1);
	}
	memcpy(decoder->stored, decoder->event, rest->fixed_bytes);
	if (rest->tail_bytes)
		memcpy((char *)decoder->stored + rest->fixed_bytes, rest->tail, rest->tail_bytes);
}

int event_decoder_next_stored(struct event_decoder *decoder, struct ev_header **event, const struct ev_header **stored,
			      size_t *size_bytes)
{
	struct rest rest;
	int result;

	if (decoder->at == decoder->end)
		return 0;
	result = decode(decoder, &rest);
	if (!result) {
		if (!is_as_here(&rest))
			store(decoder, &rest);
		result = rest.kind ? finish(decoder, &rest) : 0;
		*event = rest.kind ? decoder->event : NULL;
		*stored = is_as_here(&rest) ? decoder->event : decoder->stored;
		*size_bytes = rest.fixed_bytes + rest.tail_bytes;
	}
	if (result < 0)
		decoder->at = decoder->end;
	return result < 0 ? result : 1;
}

uint64_t event_decoder_unknown(const struct event_decoder *decoder)
{
	return decoder->unknown_count;
}
