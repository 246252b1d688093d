/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_total.h"

#include "base/byte_cursor.h"
#include "base/text.h"

void state_total_add(struct state_total *total, uint64_t now_ns, unsigned int share)
{
	if (!total->has_begun)
		total->begin_ns = now_ns;
	else
		total->ns[share] += now_ns - total->until_ns;
	total->has_begun = true;
	total->until_ns = now_ns;
}

/* The thread, when it begins, how many shares, and each with its ns. */
void state_total_put(const struct state_total *total, uint32_t thread, struct text *out)
{
	unsigned int count = 0;

	for (unsigned int share = 0; share < SHARES; share++)
		count += total->ns[share] != 0;
	text_put_varint(out, thread);
	text_put_varint(out, total->begin_ns);
	text_put_varint(out, count);
	for (unsigned int share = 0; share < SHARES; share++)
		if (total->ns[share]) {
			text_put_varint(out, share);
			text_put_varint(out, total->ns[share]);
		}
}

bool state_total_read(struct byte_cursor *cursor, uint32_t *thread, struct state_total *out)
{
	uint64_t number = byte_cursor_uleb(cursor), count;

	*out = (struct state_total){ .begin_ns = byte_cursor_uleb(cursor), .has_begun = true };
	out->until_ns = out->begin_ns;
	count = byte_cursor_uleb(cursor);
	while (count-- && !cursor->is_bad) {
		uint64_t share = byte_cursor_uleb(cursor), ns = byte_cursor_uleb(cursor);

		if (share >= SHARES || ns > UINT64_MAX - out->until_ns)
			return false;
		out->ns[share] += ns;
		out->until_ns += ns;
	}
	*thread = number;
	return !cursor->is_bad && number <= UINT32_MAX;
}
