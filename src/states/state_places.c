/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_places.h"

void state_places_add(struct state_places *places, uint32_t block)
{
	text_put_varint(&places->bytes, block - places->last);
	places->last = block;
	places->count++;
}

void state_places_put(const struct state_places *places, uint32_t thread, struct text *out)
{
	if (!places->count)
		return;
	text_put_varint(out, thread);
	text_put_varint(out, places->count);
	text_put_bytes(out, places->bytes.bytes, places->bytes.length);
}

void state_places_fini(struct state_places *places)
{
	text_fini(&places->bytes);
	*places = (struct state_places){ 0 };
}
