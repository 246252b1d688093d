/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/stream_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "engine/ring_names.h"
#include "symbol/symbol.h"

struct part {
	void *bytes;
	size_t size_bytes;
};

struct stream_names {
	struct part *parts;
	size_t count, capacity;
};

struct stream_names *stream_names_new(void)
{
	return xcalloc(1, sizeof(struct stream_names));
}

void stream_names_free(struct stream_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->parts[i].bytes);
	free(names->parts);
	free(names);
}

void stream_names_take(struct stream_names *names, struct symbols *symbols)
{
	const void *answers;
	size_t size_bytes;

	while ((answers = symbols_take_answers(symbols, &size_bytes)) && size_bytes) {
		ARRAY_GROW(names->parts, names->count, names->capacity, 4);
		names->parts[names->count++] = (struct part){
			.bytes = memcpy(xcalloc(1, size_bytes), answers, size_bytes),
			.size_bytes = size_bytes,
		};
	}
}

void stream_names_put(const struct stream_names *names, const struct ring_names *epochs, uint64_t begin_ns,
		      void (*put)(void *data, const void *names, size_t size_bytes), void *data)
{
	struct table *notes = table_new();

	for (size_t i = 0; i < names->count; i++) {
		struct text changed = { 0 };

		if (!epochs)
			put(data, names->parts[i].bytes, names->parts[i].size_bytes);
		else if (ring_names_change(epochs, begin_ns, names->parts[i].bytes, names->parts[i].size_bytes, notes,
					   &changed))
			put(data, changed.bytes, changed.length);
		text_fini(&changed);
	}
	table_free(notes);
}
