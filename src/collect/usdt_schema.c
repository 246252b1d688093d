/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/usdt_schema.h"

#include "base/text.h"
#include "events.h"
#include "symbol/symbol.h"

void usdt_schema_put(struct text *text, const struct usdt_place *place)
{
	const size_t first = sizeof(struct ev_header), each = sizeof(__u64);
	const char *comma = "";

	text_printf(text,
		    "{\"0\": {\"name\": \"%s\", \"events\": {\"0\": {\"name\": \"%s\", \"text\": \"USDT probe\", "
		    "\"size\": %zu, \"fields\": [",
		    place->provider, place->name, first + place->argument_count * each);
	for (uint32_t i = 0; i < place->argument_count; i++) {
		if (place->arguments[i].kind == USDT_UNREADABLE)
			continue;
		text_printf(text, "%s{\"name\": \"arg%u\", \"type\": \"%s\", \"offset\": %zu}", comma, i + 1,
			    place->arguments[i].is_signed ? "s64" : "u64", first + i * each);
		comma = ", ";
	}
	text_put(text, "]}}}}");
}
