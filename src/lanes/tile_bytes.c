/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/tile_bytes.h"

#include <string.h>

#include "base/text.h"

bool tile_add_slice(struct slices *slices, const struct tile *tile, struct slice slice)
{
	if (slices->count == SLICES_MAX)
		return false;
	slice.begins_before = slice.begin_ns < tile->begin_ns;
	slice.ends_after = slice.end_ns > tile->end_ns;
	if (slice.begins_before)
		slice.begin_ns = tile->begin_ns;
	if (slice.ends_after)
		slice.end_ns = tile->end_ns;
	if (slice.begin_ns < slice.end_ns)
		slices->list[slices->count++] = slice;
	return true;
}

void tile_put_slices(const struct tile *tile, const struct slices *slices, bool is_cpu, struct text *out)
{
	uint64_t at_ns = tile->begin_ns;

	text_put_varint(out, TILE_SLICES);
	text_put_varint(out, slices->count);
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];

		text_put_varint(out, slice->begin_ns - at_ns);
		text_put_varint(out, slice->end_ns - slice->begin_ns);
		text_put_varint(out, slice->share);
		text_put_varint(out, (slice->begins_before ? SLICE_BEGINS_BEFORE : 0) |
					     (slice->ends_after ? SLICE_ENDS_AFTER : 0));
		if (is_cpu ? slice->share != CPU_SHARE_IDLE : slice->share == SHARE_RUNNABLE)
			text_put_varint(out, slice->who);
		at_ns = slice->end_ns;
	}
}

void tile_add_stretch(const struct tile *tile, struct column *columns, uint64_t begin_ns, uint64_t end_ns,
		      uint32_t share)
{
	if (begin_ns < tile->begin_ns)
		begin_ns = tile->begin_ns;
	if (end_ns > tile->end_ns)
		end_ns = tile->end_ns;
	while (begin_ns < end_ns) {
		uint64_t column = (begin_ns - tile->begin_ns) >> tile->shift;
		uint64_t until_ns = tile->begin_ns + ((column + 1) << tile->shift);

		if (until_ns > end_ns)
			until_ns = end_ns;
		columns[column].ns[share] += until_ns - begin_ns;
		begin_ns = until_ns;
	}
}

static void put_column(const struct column *column, struct text *out)
{
	unsigned int count = 0;

	for (unsigned int share = 0; share < SHARES; share++)
		count += column->ns[share] != 0;
	text_put_varint(out, count);
	for (unsigned int share = 0; share < SHARES; share++)
		if (column->ns[share]) {
			text_put_varint(out, share);
			text_put_varint(out, column->ns[share]);
		}
}

void tile_put_columns(const struct column *columns, struct text *out)
{
	unsigned int end;

	text_put_varint(out, TILE_SHARES);
	for (unsigned int i = 0; i < TILE_COLUMNS; i = end) {
		for (end = i + 1; end < TILE_COLUMNS && !memcmp(&columns[end], &columns[i], sizeof(*columns));)
			end++;
		text_put_varint(out, end - i);
		put_column(&columns[i], out);
	}
}

bool tile_has_any(const struct column *columns)
{
	static const struct column nothing;

	for (unsigned int i = 0; i < TILE_COLUMNS; i++)
		if (memcmp(&columns[i], &nothing, sizeof(nothing)))
			return true;
	return false;
}
