/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events in few bytes: what a chunk of a trace holds (doc/pinch-trace.5). An event is recorded by what makes
 * it different from the one of its kind and thread before; where that was the same, which is often, a
 * bit says so. Each chunk begins again and can be read alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

/* How a kind of event looked to who wrote the trace, perhaps another version of this program. */
struct event_form {
	uint32_t size_bytes; /* up to the flexible array, a multiple of 8; 0: there was none */
	bool is_flexible;
};

enum { EVENT_IDS = 1 << 9 }; /* of 16 subsystems with 32 events each */

struct event_forms {
	struct event_form of[EVENT_IDS]; /* by subsystem * 32 + event */
};

/* As this version writes them. */
void event_forms_here(struct event_forms *forms);

struct event_encoder;

struct event_encoder *event_encoder_new(void);
void event_encoder_free(struct event_encoder *encoder);

/* Adds a well-formed event. */
void event_encoder_add(struct event_encoder *encoder, const struct ev_header *header);

/* What was added since the last reset; borrowed until the next call. */
const void *event_encoder_bytes(const struct event_encoder *encoder, size_t *size_bytes);

/* The next event is the first of a chunk. */
void event_encoder_reset(struct event_encoder *encoder);

struct event_decoder;

/* forms are copied. */
struct event_decoder *event_decoder_new(const struct event_forms *forms);
void event_decoder_free(struct event_decoder *decoder);

/* The bytes of a chunk, which are borrowed. */
void event_decoder_begin(struct event_decoder *decoder, const void *bytes, size_t size_bytes);

/*
 * The next event, well-formed, as this version knows it: what a later one has added is left out, what an
 * earlier one lacked is 0, and kinds that are not known here are skipped. Valid until the next call, and the
 * caller's to change. 1; 0: there is none; -EBADMSG: the bytes make no sense from here on.
 */
int event_decoder_next(struct event_decoder *decoder, struct ev_header **event);

/*
 * Like event_decoder_next(), and *stored is the event as the trace has it: its fixed part has the size that its form
 * says. *event is NULL for a kind that is not known here.
 */
int event_decoder_next_stored(struct event_decoder *decoder, struct ev_header **event, const struct ev_header **stored,
			      size_t *size_bytes);

/* How many events so far were of kinds that are not known here. */
uint64_t event_decoder_unknown(const struct event_decoder *decoder);
