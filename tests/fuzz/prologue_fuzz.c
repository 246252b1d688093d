/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary events, well-formed as those of a trace are, before and behind the beginning of a part. What is
 * repeated is well-formed, and so is what is repeated of that.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/prologue/prologue.h"

enum { RECORDED_MAX = 100000 };

struct part {
	struct prologue *next; /* follows the events; NULL: nobody does */
	size_t count;
};

static void emit(void *data, const struct ev_header *header)
{
	struct part *part = data;

	if (!event_is_well_formed(header, event_bytes(header)))
		abort();
	if (part->next && part->count++ < RECORDED_MAX)
		prologue_follow(part->next, header, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes, size };
	uint64_t every = 1 + take_number(&input, 1);
	struct part part = { .next = prologue_new() }, last = { 0 };
	const struct prologue_out out = { emit, &part, NULL }, last_out = { emit, &last, NULL };
	struct prologue *prologue = prologue_new();
	struct ev_header *header;
	struct event_decoder *decoder;
	struct event_forms forms;
	bool has_begun = false;

	event_forms_here(&forms);
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, input.bytes, input.size);
	for (uint64_t i = 0; event_decoder_next(decoder, &header) == 1; i++) {
		if (i % every == every - 1) {
			prologue_begin(prologue, header->time_ns, &out);
			has_begun = true;
		}
		if (has_begun)
			prologue_refer(prologue, header, &out);
		prologue_is_wanted(prologue, header);
		prologue_follow(prologue, header, has_begun);
	}
	prologue_begin(part.next, UINT64_MAX, &last_out);
	event_decoder_free(decoder);
	prologue_free(prologue);
	prologue_free(part.next);
	return 0;
}
